package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Habit is a way in which the calls of an agent do not depend on results. A habit does not prove
// that a program made the calls, since a model that follows its prompt has habits too. It
// changes agentic attempts to unknown, but never to scripted.
type Habit struct {
	// Check is the name of the check with its version. Reason is the code of a rejection.
	Check  string
	Reason string
	// Doc describes in one sentence what the check finds.
	Doc string

	// estimate returns the certainty, from 0 to 1, that the agent has the habit.
	estimate func(*Agent) Estimate
}

// Proof is a property of an agent's attempts that no model can cause: the text, the answers or
// the calls are from another source. A proof without odds only casts doubt and changes agentic
// attempts to unknown.
type Proof struct {
	// Check is the name of the check with its version. Reason is the code of a rejection.
	Check  string
	Reason string
	// Doc describes in one sentence what the check finds. Why explains the size of the odds.
	Doc string
	Why string
	// Odds is added to the log-odds that the model made the calls.
	Odds float64

	// Holds reports whether the proof applies to an attempt.
	Holds func(s *Sample, a *Agent) bool
}

// Odds is the evidence of both passes on who made the calls of an attempt.
type Odds struct {
	// Score is the log-odds of the first pass. Evidence reports whether the score can decide the
	// axis.
	Score    float64 `json:"s,omitempty"`
	Open     Open    `json:"o,omitzero"`
	Evidence bool    `json:"e,omitempty"`
	// Mask has one bit for each of Proofs, the lowest bit for the first. A bit is set if the
	// proof applies.
	Mask uint64 `json:"h,omitempty"`
}

// Holds reports whether Proofs[proof] applies to the attempt.
func (o Odds) Holds(proof int) bool { return o.Mask>>proof&1 == 1 }

// Odds returns the evidence of both passes on an attempt of this agent.
func (a *Agent) Odds(s *Sample) Odds {
	o := Odds{Score: s.Score, Open: s.Open, Evidence: s.Evidence}
	for i := range Proofs {
		if Proofs[i].Holds(s, a) {
			o.Mask |= 1 << i
		}
	}
	return o
}

// minGroundingCases is the minimum number of cases, such as searches or numbers in thoughts, that
// must be counted before the share of those that are in no earlier text can be a proof.
const minGroundingCases = 20

// canDecide reports whether a proof (property that no model can cause) may apply to an attempt: the
// attempt's own log decides who made its calls, and the agent has enough attempts to show habits.
func canDecide(s *Sample, a *Agent) bool { return s.Evidence && a.Known }

// Count is a property that is counted in each attempt and summed over the agent's attempts of a
// day. It has either ratio or marks. With ratio, each case has the property or not. With marks,
// a case has the property if its value is the most frequent one in its group.
type Count struct {
	// Name is the count's name in explanations. The version of stored samples depends on it.
	Name string

	// ratio counts the cases of one attempt. It is nil if marks is set.
	ratio func(*evidence.Attempt) Ratio
	// marks returns one mark for each case of one attempt. It is nil if ratio is set.
	marks func(*evidence.Attempt) []Mark
}

// Counts returns all counts: first those with ratios, then those with marks.
func Counts() []*Count { return slices.Concat(ratioCounts, modeCounts) }

// Total returns the sum of the count over all attempts of the agent.
func (c *Count) Total(a *Agent) Ratio {
	if c.marks != nil {
		return a.modes[slices.Index(modeCounts, c)]
	}
	return a.ratios[slices.Index(ratioCounts, c)]
}

// modeCounter counts how often an agent does the same thing in comparable cases: how often each mark
// occurs.
type modeCounter map[Mark]int

func (c modeCounter) add(marks []Mark) {
	for _, m := range marks {
		c[m]++
	}
}

// ratio counts all cases, and among them those with the most frequent value of their group. Groups
// with a single case are left out, and the value 0 is never taken as the most frequent one.
func (c modeCounter) ratio() Ratio {
	type group struct{ mode, total int }
	groups := map[uint64]group{}
	for m, n := range c {
		g := groups[m.Group]
		g.total += n
		if m.Value != 0 {
			g.mode = max(g.mode, n)
		}
		groups[m.Group] = g
	}
	var r Ratio
	for _, g := range groups {
		if g.total > 1 {
			r.Part += g.mode
			r.Whole += g.total
		}
	}
	return r
}
