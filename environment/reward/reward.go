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
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/outcome"
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

// Reward pays an attempt.
func (w Weights) Reward(a *Attempt) Reward {
	f := look(a)
	r := Reward{Flags: f.flags()}
	for _, p := range Parts() {
		v := float64(w[p.Name]*p.of(f)) + 0 // a cost of nothing is 0, not -0
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
	names := slicesx.Map(Parts(), func(p Part) string { return p.Name })
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

// Part is one thing that is measured of an attempt.
type Part struct {
	Name string
	// Low and High are the ends of its range before it is weighed.
	Low, High float64
	// Formula says in one line how it is measured.
	Formula string
	of      func(*facts) float64
}

// manySteps is how many replies the harness of the subnet allows, and so the unit
// in which steps are counted.
const manySteps = 25

// Parts are all parts, in the order in which they are summed. Those that are no
// success are 0 until a tool has shown a wanted product: nothing is earned by
// moving about in the shop.
func Parts() []Part {
	return []Part{
		{"success", 0, 1, "1 where the attempt is a success by the subnet's own rules (docs/outcome.md)", func(f *facts) float64 { return map[bool]float64{true: 1}[f.Outcome.Success] }},
		{"judge", -1, 0, "success times what the multiplier of the reasoning judge takes: multiplier - 1; 0 without a judge", judged},
		{"rule", 0, 1, "share of the demands on the products that the recommended ones meet, once a wanted product was in view", axis(func(a *arena.Axes) float64 { return a.Rule })},
		{"title", 0, 1, "the same of titles", axis(func(a *arena.Axes) float64 { return a.Title })},
		{"price", 0, 1, "the same of prices", axis(func(a *arena.Axes) float64 { return a.Price })},
		{"service", 0, 1, "the same of services", axis(func(a *arena.Axes) float64 { return a.Service })},
		{"sku_attrs", 0, 1, "the same of attributes and options", axis(func(a *arena.Axes) float64 { return a.SKUAttrs })},
		{"gold_in_view", 0, 1, "share of the wanted products that a tool has shown", func(f *facts) float64 { return f.inView }},
		{"tool_match", 0, 1, "F1 of the calls against those of a teacher's attempt at the problem, arguments included; 0 without a teacher", teacher},
		{"invented_ids", 0, 1, "share of the product ids named in calls that no tool had shown before", func(f *facts) float64 { return share(f.invented, f.named) }},
		{"unreadable_calls", 0, 1, "share of the calls that cannot be read", func(f *facts) float64 { return share(f.Unreadable, len(f.calls)+f.Unreadable) }},
		{"repeated_calls", 0, 1, "share of the calls that were made before, arguments included", func(f *facts) float64 { return share(f.repeated, len(f.calls)) }},
		{"steps", 0, 1, "replies divided by 25, at most 1", func(f *facts) float64 { return min(1, float64(f.replies)/manySteps) }},
	}
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func judged(f *facts) float64 {
	if f.Quality == nil || !f.Outcome.Success {
		return 0
	}
	return outcome.Multiplier(*f.Quality) - 1
}

func axis(of func(*arena.Axes) float64) func(*facts) float64 {
	return func(f *facts) float64 {
		if f.inView == 0 || f.Outcome.Scores == nil || f.Outcome.Scores.Axes == nil {
			return 0
		}
		return of(f.Outcome.Scores.Axes)
	}
}

// teacher is F1 over calls as a multiset.
func teacher(f *facts) float64 {
	if f.inView == 0 || len(f.calls) == 0 || len(f.Teacher) == 0 {
		return 0
	}
	left := map[string]int{}
	for _, c := range f.Teacher {
		left[text(c)]++
	}
	both := 0
	for _, c := range f.calls {
		if t := text(c); left[t] > 0 {
			left[t]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(f.calls)+len(f.Teacher))
}
