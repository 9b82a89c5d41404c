// Package reward pays finished attempts in named parts, each with a range and a
// formula, weighed by a preset. docs/rewards.md is written from its tables.
package reward

import (
	"github.com/trajectory-arena/arena"
)

// Attempt is what a reward is measured by.
type Attempt struct {
	Trace    *arena.Trace
	Dialogue *arena.Dialogue
	Problem  *arena.Problem
	Outcome  arena.Outcome
	// Quality is the reasoning judge's score, nil where it has none.
	Quality *float64
	// Unreadable counts the calls that the dialogue lacks since nobody could read
	// them.
	Unreadable int
	// Teacher are the calls of an attempt that solved the problem; nil where none is
	// at hand.
	Teacher []arena.Call
}

// Component is one part of a reward: what was measured times its weight.
type Component struct {
	Name  string
	Value float64
}

// Reward is what an attempt is paid. The components are those of every attempt, in
// the order of Parts, and Total is their sum in that order.
type Reward struct {
	Total      float64
	Components []Component
	// Flags name habits of those who are after the reward alone. They change no
	// reward: whoever trains watches how often they come.
	Flags []string
}

// Of pays an attempt.
func (w Weights) Of(a *Attempt) Reward {
	f := look(a)
	r := Reward{Flags: f.flags()}
	for _, p := range Parts() {
		v := w[p.Name]*p.of(f) + 0 // a cost of nothing is 0, not -0
		r.Components = append(r.Components, Component{p.Name, v})
		r.Total += v
	}
	return r
}
