package habits

import (
	"fmt"
	"math"
	"slices"
)

// Agent contains what one agent's day shows.
type Agent struct {
	Attempts int `json:"attempts"`
	// Adaptivity is how far the agent's calls depend on results, 0 to 1. Known is false if
	// the day is too short to estimate it.
	Adaptivity Estimate `json:"adaptivity"`
	Known      bool     `json:"known,omitempty"`
	// Scripted counts the attempts that the log decides, and those of them that a program
	// made.
	Scripted Ratio `json:"scripted"`
	// Fixed is the certainty of each habit, in the order of All. Verdicts on the agent's
	// attempts need only the exported fields and the attempts' Odds.
	Fixed []Estimate `json:"fixed"`
	// NamesRequests reports whether the model named nearly all requests of the day that the log
	// decides. Those that it leaves undecided then count as named.
	NamesRequests bool `json:"names_requests,omitempty"`
	// Doubt is why the agentic attempts of the agent are not certain, one of the Doubt
	// constants; "" if nothing speaks against them.
	Doubt string `json:"doubt,omitempty"`

	ratios []Ratio
	modes  []Ratio
	// index is that of the attempts of all agents of the day.
	index Index
	name  string
	// firstShared counts the dialogues that other agents have, too, and those of them that
	// this agent had first.
	firstShared Ratio
}

// minAgreeing is the minimum number of attempts of a day that must agree before they are
// evidence about others: twelve of twelve have a lower bound of 0.76.
const minAgreeing = 12

// IsAgentic reports whether, by the log, the model wrote the calls in nearly all attempts
// of the day.
func (a *Agent) IsAgentic() bool {
	return a.Scripted.Whole >= minAgreeing && a.Scripted.Share() <= 0.05
}

// The reasons why the day of an agent does not tell its model from a program whose calls a
// model repeats.
const (
	DoubtShortDay = "short_day"         // the day is too short to show habits
	DoubtPlain    = "plain_tools"       // attempts of one size use the same tools in the same order
	DoubtHabit    = "likely_habit"      // a habit is likelier than not, though not certain
	DoubtScripted = "scripted_attempts" // a program made a tenth of the attempts of the day
	DoubtLoosened = "loosened_searches" // the client leaves out words of nearly all searches
)

// minScripted is the number of attempts of a day that a program made from which the others are in
// doubt. One or two may be a fault of the client.
const minScripted = 3

// doubt returns why the agentic attempts of the agent are not certain, "" if nothing speaks
// against them.
func (a *Agent) doubt() string {
	if !a.Known {
		return DoubtShortDay
	}
	isLikely := func(e Estimate) bool { return e.Point > Limit }
	switch {
	case a.Scripted.Part >= minScripted && a.Scripted.Share() >= 0.1:
		return DoubtScripted
	case loosensSearches(a):
		return DoubtLoosened
	case hasPlainTools(a):
		return DoubtPlain
	case slices.ContainsFunc(a.Fixed, isLikely):
		return DoubtHabit
	}
	return ""
}

// Estimate is a number from 0 to 1 with its 95 % interval.
type Estimate struct {
	Low   float64 `json:"low"`
	Point float64 `json:"point"`
	High  float64 `json:"high"`
}

// String returns the number with its interval.
func (e Estimate) String() string {
	return fmt.Sprintf("%.2f (%.2f-%.2f)", e.Point, e.Low, e.High)
}

// NewAgent measures the day of the agent of this name. The order of its samples does not
// matter. index is that of all agents of the day. A day of fewer than minAttempts shows no
// habit.
func NewAgent(name string, samples []*Sample, index Index, minAttempts int) *Agent {
	a := &Agent{
		Attempts:   len(samples),
		Adaptivity: Estimate{1, 1, 1},
		Known:      len(samples) >= minAttempts,
		Fixed:      make([]Estimate, len(All)),

		ratios: make([]Ratio, len(ratioCounts)),
		modes:  make([]Ratio, len(modeCounts)),
		index:  index,
		name:   name,
	}
	for _, s := range samples {
		for i, r := range s.Tallies {
			a.ratios[i].Part += r.Part
			a.ratios[i].Whole += r.Whole
		}
		if s.Evidence && !s.Open.couldTurn(s.Score) {
			a.Scripted.add(s.Score < 0)
		}
		if index.dialogues[s.Dialogue].shared {
			a.firstShared.add(a.isFirst(s))
		}
	}
	for i := range modeCounts {
		a.modes[i] = modeRatio(samples, i)
	}
	if a.Known {
		for i := range All {
			a.Fixed[i] = All[i].estimate(a)
			a.Adaptivity = minEstimate(a.Adaptivity, a.Fixed[i].complement())
		}
	}
	a.NamesRequests = namesRequests(a)
	a.Doubt = a.doubt()
	return a
}

// Limit is the certainty above which a habit counts.
const Limit = 0.5

// Decides reports whether a habit is certain enough to make the agent's attempts unknown:
// the lower end of its interval is above Limit.
func (e Estimate) Decides() bool { return e.Low > Limit }

// linearRamp returns 0 up to lo, 1 from hi on, and interpolates between them.
func linearRamp(x, lo, hi float64) float64 {
	return math.Min(math.Max((x-lo)/(hi-lo), 0), 1)
}

// ramp returns the certainty of a habit that the share measures: 0 up to lo, 1 from hi on.
// It returns 0 if nothing was counted.
func (r Ratio) ramp(lo, hi float64) Estimate {
	if r.Whole == 0 {
		return Estimate{}
	}
	low, high := r.Interval()
	return Estimate{
		Low:   linearRamp(low, lo, hi),
		Point: linearRamp(r.Share(), lo, hi),
		High:  linearRamp(high, lo, hi),
	}
}

// neverBroken returns the certainty that a habit has no exception: 1 for none, 0 for 4 % of
// exceptions or more. The lower end grows with the cases, up to a dozen.
func (r Ratio) neverBroken() Estimate {
	if r.Whole == 0 {
		return Estimate{}
	}
	certainty := 1 - linearRamp(1-r.Share(), 0, 0.04)
	return Estimate{
		Low:   certainty * linearRamp(float64(r.Whole), 0, 12),
		Point: certainty,
		High:  certainty,
	}
}

// complement returns 1 - e.
func (e Estimate) complement() Estimate {
	return Estimate{1 - e.High, 1 - e.Point, 1 - e.Low}
}

func minEstimate(a, b Estimate) Estimate {
	return Estimate{math.Min(a.Low, b.Low), math.Min(a.Point, b.Point), math.Min(a.High, b.High)}
}

func maxEstimate(a, b Estimate) Estimate {
	return minEstimate(a.complement(), b.complement()).complement()
}
