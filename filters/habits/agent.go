package habits

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/domain"
)

// Agent is what all attempts of one agent on one day show together.
type Agent struct {
	Attempts int `json:"attempts"`
	// Adaptivity is how much the agent's calls depend on earlier results, from 0 to 1, by the formula
	// habits_v1. Known is
	// false if the agent has too few attempts to estimate it.
	Adaptivity Estimate `json:"adaptivity"`
	Known      bool     `json:"known,omitempty"`
	// Use is the same by the formula use_v1, nil if the agent has too few attempts in domains of this
	// formula.
	Use *Estimate `json:"use,omitempty"`
	// Scripted counts the attempts whose log decides who made the calls, and among them those in
	// which a program did.
	Scripted Ratio `json:"scripted"`
	// Fixed has the certainty of each habit, in the order of All. The exported fields, together
	// with the Odds of an attempt, are sufficient to compute the verdicts of the second pass.
	Fixed []Estimate `json:"fixed"`
	// NamesRequests reports whether the model asked for nearly all of the agent's requests for
	// which the log shows who asked. The undecided requests then count as the model's.
	NamesRequests bool `json:"names_requests,omitempty"`
	// Doubt is the reason why the agentic attempts of the agent are uncertain, one of the Doubt
	// constants. It is "" if they are not in doubt.
	Doubt string `json:"doubt,omitempty"`

	ratios []Ratio
	modes  []Ratio
	// index has what the attempts of all agents of the day have in common.
	index Index
	name  string
	// firstShared counts the attempts whose dialogue another agent has too, and among them those
	// in which this agent had the dialogue first.
	firstShared Ratio
}

// minAgreeing is the minimum number of agreeing cases, such as attempts of an agent, that are
// evidence about the agent's other cases. If twelve of twelve agree, the lower bound of the
// share is 0.76.
const minAgreeing = 12

// IsAgentic reports whether the model decided the calls in nearly all attempts of the agent. At
// least minAgreeing attempts must be decided by their log, and a program may have made at most
// one in 20.
func (a *Agent) IsAgentic() bool {
	return a.Scripted.Whole >= minAgreeing && a.Scripted.Share() <= 0.05
}

// The reasons for doubt in the agentic attempts of an agent: a program whose calls a model
// repeats could leave the same logs.
const (
	DoubtShortDay = "short_day"         // the day is too short to show habits
	DoubtPlain    = "plain_tools"       // attempts of one size use the same tools in the same order
	DoubtHabit    = "likely_habit"      // a habit is likelier than not, though not certain
	DoubtScripted = "scripted_attempts" // a program made a tenth of the attempts of the day
	DoubtLoosened = "loosened_searches" // the client leaves out words of nearly all searches
)

// minScripted is the minimum number of an agent's scripted attempts (those whose calls a program
// made) that cast doubt on its other attempts. One or two may be a fault of the client.
const minScripted = 3

// doubt returns why it is uncertain that the model made the agent's calls even in attempts whose
// own log shows it, as one of the Doubt constants. It returns "" if there is no doubt.
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

// NewAgent computes what the attempts of the named agent on one day show together. It reads samples
// once, each until the next one, and their order does not matter. index covers the attempts of all
// agents of the day. Habits are found only with at least minAttempts samples.
func NewAgent(name string, samples iter.Seq[*Sample], index Index, minAttempts int) *Agent {
	a := &Agent{
		Adaptivity: Estimate{1, 1, 1},
		Fixed:      make([]Estimate, len(All)),

		ratios: make([]Ratio, len(ratioCounts)),
		modes:  make([]Ratio, len(modeCounts)),
		index:  index,
		name:   name,
	}
	modes := make([]modeCounter, len(modeCounts))
	for i := range modes {
		modes[i] = modeCounter{}
	}
	used := usedResults{order: modeCounter{}}
	for s := range samples {
		a.Attempts++
		for i, r := range s.Tallies {
			a.ratios[i].Part += r.Part
			a.ratios[i].Whole += r.Whole
		}
		for i := range modes {
			modes[i].add(s.Marks[i])
		}
		used.add(&s.Use)
		if s.Evidence && !s.Open.couldTurn(s.Score) {
			a.Scripted.add(s.Score < 0)
		}
		if index.dialogues[s.Dialogue].shared {
			a.firstShared.add(a.isFirst(s))
		}
	}
	for i := range modes {
		a.modes[i] = modes[i].ratio()
	}
	a.Known = a.Attempts >= minAttempts
	if a.Known {
		for i := range All {
			a.Fixed[i] = All[i].estimate(a)
			a.Adaptivity = minEstimate(a.Adaptivity, a.Fixed[i].complement())
		}
	}
	a.Use = used.estimate(minAttempts)
	a.NamesRequests = namesRequests(a)
	a.Doubt = a.doubt()
	return a
}

// AdaptivityBy returns how much the agent's calls depend on earlier results by a formula of package
// domain, nil if the agent has too few attempts.
func (a *Agent) AdaptivityBy(formula string) *Estimate {
	switch {
	case formula == domain.UseV1:
		return a.Use
	case formula == domain.HabitsV1 && a.Known:
		return &a.Adaptivity
	}
	return nil
}

// Limit is the certainty above which a habit makes the agentic attempts of the agent unknown.
const Limit = 0.5

// Decides reports whether a habit is certain enough to make the agent's agentic attempts
// unknown: the lower end of its interval is above Limit.
func (e Estimate) Decides() bool { return e.Low > Limit }

// linearRamp maps x to a number from 0 to 1: 0 up to lo, 1 from hi on, and linear between them.
func linearRamp(x, lo, hi float64) float64 {
	return math.Min(math.Max((x-lo)/(hi-lo), 0), 1)
}

// ramp converts a share to the certainty of a habit. The certainty is 0 up to a share of lo, 1
// from hi on, and linear between them. The ends of the share's 95 % interval are converted in
// the same way. It returns the zero Estimate if r counts no cases.
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

// neverBroken returns the certainty that a habit has no exceptions, where r counts the cases and,
// as its part, those that follow the habit. The certainty falls from 1 without exceptions to 0 at 4
// % of exceptions. The lower end of its interval is reduced in proportion for fewer than 12 cases.
// It returns the zero Estimate if r counts no cases.
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

// complement returns the estimate, with its interval, of 1 minus the number that e estimates.
func (e Estimate) complement() Estimate {
	return Estimate{1 - e.High, 1 - e.Point, 1 - e.Low}
}

func minEstimate(a, b Estimate) Estimate {
	return Estimate{math.Min(a.Low, b.Low), math.Min(a.Point, b.Point), math.Min(a.High, b.High)}
}

func maxEstimate(a, b Estimate) Estimate {
	return minEstimate(a.complement(), b.complement()).complement()
}
