// Package reward computes the reward of finished attempts: a sum of named parts, each with
// a range and a formula, weighted by a preset. docs/rewards.md is generated from its tables.
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
)

// Attempt is a finished attempt.
type Attempt struct {
	Trace    *arena.Trace
	Dialogue *arena.Dialogue
	Problem  *arena.Problem
	Outcome  arena.Outcome
	// Quality is the score of the reasoning judge, nil if none.
	Quality *float64
	// Unreadable counts the unreadable calls, which the dialogue lacks.
	Unreadable int
	// Teacher are the calls of an attempt that solved the problem, nil if none.
	Teacher []arena.Call
}

// Component is one part of a reward: the measured value times its weight.
type Component struct {
	Name  string
	Value float64
}

// Reward is the reward of an attempt. All attempts have the same components, in the order
// of Parts. Total is their sum in that order.
type Reward struct {
	Total      float64
	Components []Component
	// Flags are signs of reward hacking. They change no reward; a trainer should watch
	// their rate.
	Flags []string
}

// Weights are the weights of the parts by name. A part that is not in the map has weight 0.
type Weights map[string]float64

// Reward returns the reward of an attempt.
func (w Weights) Reward(a *Attempt) Reward {
	f := measureFacts(a)
	r := Reward{Flags: f.flags()}
	for _, p := range parts {
		value := float64(w[p.Name]*p.measure(f)) + 0 // + 0 turns -0 into 0
		r.Components = append(r.Components, Component{p.Name, value})
		r.Total += value
	}
	return r
}

//go:embed presets/*.yaml
var presetFiles embed.FS

// Presets returns the names of the built-in presets.
func Presets() []string { return []string{"strict", "paper", "dense"} }

// Open reads the preset of this name, or else a file of the same format.
func Open(name string) (Weights, error) {
	var b []byte
	var err error
	if slices.Contains(Presets(), name) {
		b, err = presetFiles.ReadFile("presets/" + name + ".yaml")
	} else {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("read reward preset: %w", err)
	}
	return Parse(b)
}

// Parse parses weights: a YAML map with a number for each part.
func Parse(b []byte) (Weights, error) {
	var w Weights
	if err := yaml.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("read reward preset: %w", err)
	}
	names := slicesx.Map(parts, func(p Part) string { return p.Name })
	for name, weight := range w {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("read reward preset: there is no part %q; the parts are %s", name, strings.Join(names, ", "))
		}
		if math.IsNaN(weight) || math.IsInf(weight, 0) {
			return nil, fmt.Errorf("read reward preset: the weight of %s is no number", name)
		}
	}
	if len(w) == 0 {
		return nil, fmt.Errorf("read reward preset: it weighs nothing; the parts are %s", strings.Join(names, ", "))
	}
	return w, nil
}
