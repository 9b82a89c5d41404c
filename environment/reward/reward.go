// Package reward pays finished attempts in named parts, each with a range and a
// formula, weighed by a preset. docs/rewards.md is written from its tables.
package reward

import (
	"embed"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

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

// Weights are a preset: the weight of each part by its name; a part without one
// weighs 0.
type Weights map[string]float64

//go:embed presets/*.yaml
var presets embed.FS

// Presets lists the names of the built-in presets.
func Presets() []string { return []string{"strict", "paper", "dense"} }

// Open reads a preset by its name, or a file of the same form.
func Open(name string) (Weights, error) {
	read := os.ReadFile
	path := name
	if slices.Contains(Presets(), name) {
		read, path = presets.ReadFile, "presets/"+name+".yaml"
	}
	b, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read reward preset: %w", err)
	}
	return Parse(b)
}

// Parse reads weights: YAML, a number for each part.
func Parse(b []byte) (Weights, error) {
	var w Weights
	if err := yaml.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("read reward preset: %w", err)
	}
	names := make([]string, 0, len(Parts()))
	for _, p := range Parts() {
		names = append(names, p.Name)
	}
	for name, v := range w {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("read reward preset: there is no part %q; the parts are %s", name, strings.Join(names, ", "))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("read reward preset: the weight of %s is no number", name)
		}
	}
	if len(w) == 0 {
		return nil, fmt.Errorf("read reward preset: it weighs nothing; the parts are %s", strings.Join(names, ", "))
	}
	return w, nil
}
