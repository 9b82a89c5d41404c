package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Habit is one way in which the calls of an agent's day do not depend on results. It does
// not prove a program, since a model that follows its prompt has habits, too: it turns an
// agentic attempt into an unknown one, and no attempt into a scripted one.
type Habit struct {
	// Check is the versioned name of the check, Reason the stable code of a rejection.
	Check  string
	Reason string
	// Doc describes in one sentence what the check finds.
	Doc string

	estimate func(*Agent) Estimate
}

// Proof is a property of an agent's day that no model can have: the text, the answers or
// the calls have another source. A proof without odds is a doubt: it turns an agentic
// attempt into an unknown one.
type Proof struct {
	// Check is the versioned name of the check, Reason the stable code of a rejection.
	Check  string
	Reason string
	// Doc describes in one sentence what the check finds, Why the reason for its odds.
	Doc string
	Why string
	// Odds is what the proof adds to the log-odds that the model made the calls.
	Odds float64

	// Holds reports whether the proof applies to an attempt.
	Holds func(s *Sample, a *Agent) bool
}

// Odds are the evidence of both passes about an attempt.
type Odds struct {
	// Score is the log-odds of the first pass. Evidence reports whether the score decides.
	Score    float64 `json:"s,omitempty"`
	Open     Open    `json:"o,omitzero"`
	Evidence bool    `json:"e,omitempty"`
	// Mask has a bit for each of Proofs that holds, the lowest one for the first.
	Mask uint64 `json:"h,omitempty"`
}

// Holds reports whether Proofs[proof] applies to the attempt.
func (o Odds) Holds(proof int) bool { return o.Mask>>proof&1 == 1 }

// Odds returns the evidence about an attempt of the agent.
func (a *Agent) Odds(s *Sample) Odds {
	o := Odds{Score: s.Score, Open: s.Open, Evidence: s.Evidence}
	for i := range Proofs {
		if Proofs[i].Holds(s, a) {
			o.Mask |= 1 << i
		}
	}
	return o
}

// minGroundingCases is the minimum number of cases from which grounding is judged.
const minGroundingCases = 20

// canDecide reports whether the attempt has evidence and its agent's day is long enough.
func canDecide(s *Sample, a *Agent) bool { return s.Evidence && a.Known }

// Count is one thing that is counted in each attempt and summed over an agent's day: the
// share of some cases, or the marks of cases, of which those that follow the mode of their
// group count.
type Count struct {
	// Name is its name in explanations. It is part of the version of stored samples.
	Name string

	ratio func(*evidence.Attempt) Ratio
	marks func(*evidence.Attempt) []Mark
}

// Counts returns all counts.
func Counts() []*Count { return slices.Concat(ratioCounts, modeCounts) }

// Total returns the count over an agent's day.
func (c *Count) Total(a *Agent) Ratio {
	if c.marks != nil {
		return a.modes[slices.Index(modeCounts, c)]
	}
	return a.ratios[slices.Index(ratioCounts, c)]
}

// modeRatio counts, over the marks at this position of the samples, the cases whose value
// is the most frequent one of their group. Groups of one case do not count.
func modeRatio(samples []*Sample, position int) Ratio {
	groups := map[uint64]map[uint64]int{}
	for _, s := range samples {
		for _, m := range s.Marks[position] {
			if groups[m.Group] == nil {
				groups[m.Group] = map[uint64]int{}
			}
			groups[m.Group][m.Value]++
		}
	}

	var r Ratio
	for _, values := range groups {
		mode := 0
		total := 0
		for value, n := range values {
			total += n
			if value != 0 {
				mode = max(mode, n)
			}
		}
		if total > 1 {
			r.Part += mode
			r.Whole += total
		}
	}
	return r
}
