package habits

import (
	"fmt"
	"math"
)

// Agent is what one agent's day shows.
type Agent struct {
	Attempts int `json:"attempts"`
	// Adaptivity says how far the agent's calls depend on what came back, 0 to 1;
	// Known is false for a day too short to tell.
	Adaptivity Estimate `json:"adaptivity"`
	Known      bool     `json:"known,omitempty"`
	// Scripted counts attempts that the log decides, and those of them that a
	// program made.
	Scripted Ratio `json:"scripted"`
	// Fixed is how sure each habit is, in the order of All. It and what stands before are
	// all that verdicts on the agent's attempts need, beside their Odds.
	Fixed   []Estimate `json:"fixed"`
	tallies []Ratio
	marks   []Ratio
	// found is what all agents of the day found; led counts the dialogues that this one,
	// by name, shares with others, and those that it began first.
	found Index
	name  string
	led   Ratio
}

// few is how many attempts of a day must agree before they speak for others: twelve of
// twelve have a lower bound of 0.76.
const few = 12

// Named reports whether the log says of nearly all attempts of the day that the model
// wrote the calls.
func (a *Agent) Named() bool { return a.Scripted.Whole >= few && a.Scripted.Share() <= 0.05 }

// Estimate is a number from 0 to 1 with its 95 % interval.
type Estimate struct {
	Low   float64 `json:"low"`
	Point float64 `json:"point"`
	High  float64 `json:"high"`
}

// String is the number with its interval.
func (e Estimate) String() string { return fmt.Sprintf("%.2f (%.2f-%.2f)", e.Point, e.Low, e.High) }

// NewAgent measures the day of the agent of that name, whose samples come in any order; found is
// what all agents of the day found. A day of fewer than minAttempts shows no habit.
func NewAgent(name string, s []*Sample, found Index, minAttempts int) *Agent {
	a := &Agent{Attempts: len(s), found: found, name: name, Adaptivity: Estimate{1, 1, 1}, Known: len(s) >= minAttempts,
		tallies: make([]Ratio, len(tallies)), marks: make([]Ratio, len(marks)), Fixed: make([]Estimate, len(All))}
	for i := range s {
		for at, t := range s[i].Tallies {
			a.tallies[at] = Ratio{Part: a.tallies[at].Part + t.Part, Whole: a.tallies[at].Whole + t.Whole}
		}
		if s[i].Evidence {
			a.Scripted.add(s[i].Score < 0)
		}
		if found.dialogues[s[i].Dialogue].shared {
			a.led.add(a.begins(s[i]))
		}
	}
	for at := range marks {
		a.marks[at] = commonest(s, at)
	}
	if !a.Known {
		return a
	}
	for i := range All {
		a.Fixed[i] = All[i].fixed(a)
		a.Adaptivity = least(a.Adaptivity, a.Fixed[i].rest())
	}
	return a
}

// Limit is how sure a habit must be to count.
const Limit = 0.5

// Decides reports whether a habit makes the agent's attempts unknown: at the lower end of
// its interval it is rather there than not.
func (e Estimate) Decides() bool { return e.Low > Limit }

// ramp is 0 up to lo, 1 from hi on, straight between.
func ramp(x, lo, hi float64) float64 {
	return math.Min(math.Max((x-lo)/(hi-lo), 0), 1)
}

// ramped is how sure a habit is of which the share is a measure: 0 up to lo, 1 from
// hi on. Of nothing counted nothing is known.
func (t Ratio) ramped(lo, hi float64) Estimate {
	if t.Whole == 0 {
		return Estimate{}
	}
	low, high := t.Interval()
	return Estimate{ramp(low, lo, hi), ramp(t.Share(), lo, hi), ramp(high, lo, hi)}
}

// unbroken is how surely a habit knows no exception: 4 % of departures → 0, none
// → 1. The lower end grows with the cases, up to a dozen.
func (t Ratio) unbroken() Estimate {
	if t.Whole == 0 {
		return Estimate{}
	}
	so := 1 - ramp(1-t.Share(), 0, 0.04)
	return Estimate{so * ramp(float64(t.Whole), 0, 12), so, so}
}

func (e Estimate) rest() Estimate { return Estimate{1 - e.High, 1 - e.Point, 1 - e.Low} }

func least(a, b Estimate) Estimate {
	return Estimate{math.Min(a.Low, b.Low), math.Min(a.Point, b.Point), math.Min(a.High, b.High)}
}

func most(a, b Estimate) Estimate { return least(a.rest(), b.rest()).rest() }
