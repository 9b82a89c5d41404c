// Package prices knows what tokens cost: a table of its user's own, because
// prices change and nobody's list is right for long.
package prices

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/internal/wrong"
)

// Price is what one model's tokens cost, in US dollars per million.
type Price struct {
	Prompt, Completion float64
	// Cached is for those of the prompt that the server says it had in its cache.
	Cached float64
}

// Tokens are what is paid for. Cached are a part of Prompt.
type Tokens struct{ Prompt, Cached, Completion int }

// Table is a price per model. A model that is not in it has no known price,
// which is not the same as a price of zero.
type Table map[string]Price

// Read reads a table from a YAML file. An unknown key, a key given twice and a
// price that is no amount of money are errors.
func Read(path string) (Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	t, err := Parse(b)
	return t, wrong.Wrap("read prices "+path, err)
}

// Parse reads a table from YAML.
func Parse(b []byte) (Table, error) {
	var partial map[string]struct {
		Prompt     *float64 `yaml:"prompt"`
		Cached     *float64 `yaml:"cached_prompt"`
		Completion *float64 `yaml:"completion"`
	}
	if err := yaml.UnmarshalWithOptions(b, &partial, yaml.Strict()); err != nil {
		return nil, err
	}
	var bad wrong.List
	t := Table{}
	for _, model := range slices.Sorted(maps.Keys(partial)) {
		p := partial[model]
		if p.Cached == nil {
			p.Cached = p.Prompt
		}
		good := amount(p.Prompt) && amount(p.Cached) && amount(p.Completion)
		bad.Unless(good, "%s: want prompt and completion, and cached_prompt if it has one, in dollars per million tokens, 0 or more", model)
		if good {
			t[model] = Price{Prompt: *p.Prompt, Cached: *p.Cached, Completion: *p.Completion}
		}
	}
	return t, bad.Err()
}

func amount(x *float64) bool {
	return x != nil && *x >= 0 && !math.IsInf(*x, 0)
}

// Cost is what the tokens cost with model, nil where its price is unknown.
func (t Table) Cost(model string, n Tokens) *float64 {
	p, known := t[model]
	if !known {
		return nil
	}
	usd := (float64(float64(n.Prompt-n.Cached)*p.Prompt) + float64(float64(n.Cached)*p.Cached) + float64(float64(n.Completion)*p.Completion)) / 1e6
	return &usd
}
