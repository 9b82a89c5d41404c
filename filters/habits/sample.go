// Package habits measures one agent's day: how far its calls depend on what came
// back, and whether its words and answers came from elsewhere. A file holds
// habits, or proofs, with all that they count.
package habits

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Sample is what the second pass needs to know of one attempt: counts and
// hashes, no text, at most a few kilobytes.
type Sample struct {
	_ struct{} `cbor:",toarray"`
	// Score is the log-odds of the first pass; Evidence whether it decides.
	Score    float64
	Evidence bool
	Axis     arena.Axis
	// Silent reports whether the attempt has a log in which nothing decides.
	Silent bool
	// Tallies and Marks are what the attempt adds to each count, in the order in
	// which the counts are declared.
	Tallies []Tally
	Marks   [][]Mark
	// Taken are hashes of the recommended products that results held, Unseen of
	// those that none did; at most maxTaken of each. Invented counts products that
	// replies named although no result held them.
	Taken    []uint64
	Unseen   []uint64
	Invented int
	// Replies are hashes of the log's replies by id, Begun when the first of them came,
	// in Unix milliseconds. Dialogue is a hash of the thoughts and calls.
	Replies  []uint64
	Begun    int64
	Dialogue uint64
}

// SampleOf is what the second pass needs of an attempt, whose first pass ended so.
func SampleOf(a *evidence.Attempt, score float64, decides bool, axis arena.Axis) Sample {
	s := Sample{
		Score: score, Evidence: decides, Axis: axis, Silent: !decides && !a.ClocksApart && a.Log.Present && a.CallTurns > 0, Invented: a.InventedNamed,
		Tallies: make([]Tally, len(tallies)), Marks: make([][]Mark, len(marks)),
	}
	for i := range tallies {
		s.Tallies[i] = tallies[i].tally(a)
	}
	for i := range marks {
		s.Marks[i] = marks[i].marks(a)
	}
	s.answer(a)
	s.Replies, s.Begun = a.Log.Inferences()
	s.Dialogue = dialogue(a)
	return s
}

// Tally is a counted share with its interval.
type Tally struct {
	_           struct{} `cbor:",toarray"`
	Part, Whole int
}

// Share is NaN where nothing was counted.
func (t Tally) Share() float64 { return evidence.Share(t.Part, t.Whole) }

// Interval is the 95 % interval of the share (Wilson 1927); 0 to 1 where nothing
// was counted.
func (t Tally) Interval() (lo, hi float64) {
	w := stats.Wilson(t.Part, t.Whole)
	return w.Low, w.High
}

func (t *Tally) add(part bool) {
	t.Whole++
	t.Part += int(evidence.Flag(part))
}

// Mark is one way of doing a thing, among those that can be compared with it.
// Without a value it is of no kind.
type Mark struct {
	_            struct{} `cbor:",toarray"`
	Group, Value uint64
}

// Count is one thing that is counted in each attempt and summed over an agent's day.
type Count struct {
	// Name is what explanations call it.
	Name string
	// at is its place among the tallies, or among the marks.
	at    int
	tally func(*evidence.Attempt) Tally
	marks func(*evidence.Attempt) []Mark
}

// tallies and marks are all counts, in the order of their files.
var tallies, marks []*Count

// counted declares a count of cases.
func counted(name string, of func(*evidence.Attempt) Tally) *Count {
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

// In is the count over an agent's day.
func (c *Count) In(a *Agent) Tally {
	if c.marks != nil {
		return a.marks[c.at]
	}
	return a.tallies[c.at]
}

// commonest counts, of the cases in groups of more than one, those that are done in
// the commonest way of their group.
func commonest(s []*Sample, at int) (t Tally) {
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
			t = Tally{Part: t.Part + most, Whole: t.Whole + all}
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
