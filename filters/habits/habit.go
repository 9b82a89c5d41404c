package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Habit is one way in which the calls of an agent's day do not depend on results. It does not
// prove a program, since a model that follows its prompt has habits too: it changes an agentic
// attempt to unknown, and none to scripted.
type Habit struct {
	// Check is the versioned name of the check, Reason the stable code of a rejection.
	Check  string
	Reason string
	// Doc describes in one sentence what the check finds.
	Doc string

	// estimate returns the certainty that the agent has the habit.
	estimate func(*Agent) Estimate
}

// Proof is a property of an agent's day that no model can have: the text, the answers or the
// calls have another source. A proof without odds only casts doubt: it changes an agentic
// attempt to unknown.
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
	// Mask has a bit for each of Proofs that applies, the lowest bit for the first.
	Mask uint64 `json:"h,omitempty"`
}

// Holds reports whether Proofs[proof] applies to the attempt.
func (o Odds) Holds(proof int) bool { return o.Mask>>proof&1 == 1 }

// Odds returns the evidence of both passes about an attempt of the agent.
func (a *Agent) Odds(s *Sample) Odds {
	o := Odds{Score: s.Score, Open: s.Open, Evidence: s.Evidence}
	for i := range Proofs {
		if Proofs[i].Holds(s, a) {
			o.Mask |= 1 << i
		}
	}
	return o
}

// minGroundingCases is the minimum number of cases, such as searches or numbers in thoughts, of
// which the share without a source in request or results is evidence.
const minGroundingCases = 20

// canDecide reports whether a proof may judge an attempt by its agent's day: the attempt's own
// log decides, and the day has enough attempts to show habits.
func canDecide(s *Sample, a *Agent) bool { return s.Evidence && a.Known }

// Count is one property that is counted in each attempt and summed over an agent's day. It has
// either a ratio, the share of cases with the property, or marks, which compare cases: those
// with the most frequent value of their group have the property.
type Count struct {
	// Name is its name in explanations. It is part of the version of stored samples.
	Name string

	// ratio counts the cases of one attempt. It is nil if marks is set.
	ratio func(*evidence.Attempt) Ratio
	// marks returns a mark for each case of one attempt. It is nil if ratio is set.
	marks func(*evidence.Attempt) []Mark
}

// Counts returns all counts, those with ratios before those with marks.
func Counts() []*Count { return slices.Concat(ratioCounts, modeCounts) }

// Total returns the count summed over the agent's day.
func (c *Count) Total(a *Agent) Ratio {
	if c.marks != nil {
		return a.modes[slices.Index(modeCounts, c)]
	}
	return a.ratios[slices.Index(ratioCounts, c)]
}

// modeRatio counts cases, and those whose value is the most frequent one of their group. The cases
// are the marks that the samples store at index position, for one Count. Groups of one case are
// left out, and the value 0 is never the most frequent.
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
