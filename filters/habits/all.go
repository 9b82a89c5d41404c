package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Count is one thing that is counted in each attempt and summed over an agent's day.
type Count struct {
	// Name is what explanations call it.
	Name string
	// at is its place among the tallies, or among the marks.
	at    int
	tally func(*evidence.Attempt) Ratio
	marks func(*evidence.Attempt) []Mark
}

// tallies and marks are all counts, in the order of their files.
var tallies, marks []*Count

// counted declares a count of cases.
func counted(name string, of func(*evidence.Attempt) Ratio) *Count {
	tallies = append(tallies, &Count{Name: name, at: len(tallies), tally: of})
	return tallies[len(tallies)-1]
}

// marked declares a count of cases that are done in the commonest way of their group.
func marked(name string, of func(*evidence.Attempt) []Mark) *Count {
	marks = append(marks, &Count{Name: name, at: len(marks), marks: of})
	return marks[len(marks)-1]
}

// Counts lists all that is counted.
func Counts() []*Count { return slices.Concat(tallies, marks) }

// Total is the count over an agent's day.
func (c *Count) Total(a *Agent) Ratio {
	if c.marks != nil {
		return a.marks[c.at]
	}
	return a.tallies[c.at]
}

// commonest counts, of the cases in groups of more than one, those that are done in
// the commonest way of their group.
func commonest(s []*Sample, at int) (t Ratio) {
	groups := map[uint64]map[uint64]int{}
	for i := range s {
		for _, m := range s[i].Marks[at] {
			if groups[m.Group] == nil {
				groups[m.Group] = map[uint64]int{}
			}
			groups[m.Group][m.Value]++
		}
	}
	for _, values := range groups {
		most, all := 0, 0
		for value, n := range values {
			all += n
			if value != 0 {
				most = max(most, n)
			}
		}
		if all > 1 {
			t = Ratio{Part: t.Part + most, Whole: t.Whole + all}
		}
	}
	return t
}

// claimsOf calls see with each claim of the given tools and with its place.
func claimsOf(a *evidence.Attempt, see func(i int, c *evidence.Claim), tools ...evidence.Tool) {
	for i := range a.Claims {
		if slices.Contains(tools, a.Claims[i].Act.Tool) {
			see(i, &a.Claims[i])
		}
	}
}

// Habit is one way in which the calls of an agent's day do not depend on results.
// It is no evidence of a program, since a model that keeps to its prompt has
// habits, too: an agentic attempt becomes unknown by it, nothing scripted.
type Habit struct {
	// Check is the versioned name, Reason the stable word that it gives.
	Check, Reason string
	// Doc says in one sentence what it finds.
	Doc string

	fixed func(*Agent) Estimate
}

// All are the habits, in the order of their files. The lists stand in a file before
// theirs, so that Go fills them in this order.
var All []Habit

// Proof is one thing of an agent's day that no model can have done: the words, the
// answer or the calls are from elsewhere. One without odds is a doubt: it makes an
// agentic attempt unknown.
type Proof struct {
	// Check is the versioned name, Reason the stable word that it gives.
	Check, Reason string
	// Doc says in one sentence what it finds, Why what it adds to the log-odds.
	Doc, Why string
	Odds     float64

	// Holds reports whether the proof speaks against an attempt.
	Holds func(s *Sample, a *Agent) bool
}

// Proofs are all of them, in the order of their files.
var Proofs []Proof

func listed[T any](list *[]T, one T) bool {
	*list = append(*list, one)
	return true
}

// Odds are what both passes say for and against an attempt.
type Odds struct {
	// Score is the log-odds of the first pass; Evidence whether it decides.
	Score    float64 `json:"s,omitempty"`
	Evidence bool    `json:"e,omitempty"`
	// Mask has a bit for each of Proofs that holds, the lowest for the first.
	Mask uint64 `json:"h,omitempty"`
}

// Holds reports whether the proof at that place of Proofs speaks against the attempt.
func (o Odds) Holds(at int) bool { return o.Mask>>at&1 == 1 }

// Odds are those of an attempt of the agent.
func (a *Agent) Odds(s *Sample) Odds {
	o := Odds{Score: s.Score, Evidence: s.Evidence}
	for i := range Proofs {
		if Proofs[i].Holds(s, a) {
			o.Mask |= 1 << i
		}
	}
	return o
}

// grounds is the least number of cases that a grounding speaks from.
const grounds = 20

// speaks reports whether a day is long enough, and the attempt can be told at all.
func speaks(s *Sample, a *Agent) bool { return s.Evidence && a.Known }
