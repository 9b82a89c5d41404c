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
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Attempt is a finished attempt.
type Attempt struct {
	Trace    *arena.Trace
	Dialogue *arena.Dialogue
	// Logged is the part of Dialogue that logged replies contain; nil if that is all of it.
	Logged  *arena.Dialogue
	Problem *arena.Problem
	Outcome arena.Outcome
	// Quality is the score of the reasoning judge, nil if none.
	Quality *float64
	// Unreadable counts the unreadable calls, which the dialogue lacks.
	Unreadable int
	// Teacher are the calls of an attempt that solved the problem, nil if none.
	Teacher []arena.Call
	// Domain is the domain of the attempt if it is not the shop. UnknownOutcome reports whether
	// its outcome is unknown.
	Domain         *domain.Domain
	UnknownOutcome bool
}

// Component is one part of a reward: the measured value times its weight.
type Component struct {
	Name  string
	Value float64
	// Unmeasured reports whether the part is not measured of the attempt. Value is then 0.
	Unmeasured bool
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
		if !p.IsMeasured(a.Domain) || p.Name == partSuccess && a.UnknownOutcome {
			r.Components = append(r.Components, Component{Name: p.Name, Unmeasured: true})
			continue
		}
		value := float64(w[p.Name]*p.measure(f)) + 0 // + 0 turns -0 into 0
		r.Components = append(r.Components, Component{Name: p.Name, Value: value})
		r.Total += value
	}
	return r
}

// Measured returns the names of the parts with a weight that are measured in the domain d.
func (w Weights) Measured(d *domain.Domain) (names []string) {
	for _, p := range parts {
		if w[p.Name] != 0 && p.IsMeasured(d) {
			names = append(names, p.Name)
		}
	}
	return names
}

// CheckDomain returns an error if a part with a weight is not measured of attempts in the domain d.
func (w Weights) CheckDomain(d *domain.Domain) error {
	for _, p := range parts {
		if w[p.Name] != 0 && !p.IsMeasured(d) {
			return fmt.Errorf("the reward weighs %s, which is not measured in domain %s", p.Name, d.Name)
		}
	}
	return nil
}

// presetFiles has a YAML file for each built-in preset, with the weights of the parts of a reward.
//
//go:embed presets/*.yaml
var presetFiles embed.FS

// Presets returns the names of the built-in presets for the shop.
func Presets() []string { return []string{"strict", "paper", "dense"} }

// General is the built-in preset for other domains than the shop. It has only costs, so that alone it
// pays an agent that does nothing most.
const General = "general"

// Open reads the preset of this name, or else a file of the same format.
func Open(name string) (Weights, error) {
	var b []byte
	var err error
	if name == General || slices.Contains(Presets(), name) {
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
