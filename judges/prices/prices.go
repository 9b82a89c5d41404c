// Package prices computes the cost of tokens from the user's own table of prices. There is no
// built-in list, since prices change.
package prices

import (
	"fmt"
	"math"
	"os"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Price is the price of one model's tokens, in US dollars per million.
type Price struct {
	Prompt, Completion float64
	// Cached is the price of prompt tokens that the server reports as cached.
	Cached float64
}

// Tokens are numbers of tokens. Cached is a part of Prompt.
type Tokens struct{ Prompt, Cached, Completion int }

// Table maps the name of a model to its price. The price of a model without an entry is unknown,
// not zero.
type Table map[string]Price

// Read reads a table of prices from a YAML file. It returns an error for an unknown or repeated
// key and for an invalid price.
func Read(path string) (Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	t, err := Parse(b)
	return t, wrong.Wrap("read prices "+path, err)
}

// Parse parses a table of prices from YAML.
func Parse(b []byte) (Table, error) {
	var entries map[string]struct {
		Prompt     *float64 `yaml:"prompt"`
		Cached     *float64 `yaml:"cached_prompt"`
		Completion *float64 `yaml:"completion"`
	}
	if err := yaml.UnmarshalWithOptions(b, &entries, yaml.Strict()); err != nil {
		return nil, err
	}
	var bad wrong.List
	t := Table{}
	for _, model := range slicesx.SortedKeys(entries) {
		e := entries[model]
		if e.Cached == nil {
			e.Cached = e.Prompt
		}
		ok := isAmount(e.Prompt) && isAmount(e.Cached) && isAmount(e.Completion)
		bad.Unless(ok, "%s: want prompt and completion, and cached_prompt if it has one, in dollars per million tokens, 0 or more", model)
		if ok {
			t[model] = Price{
				Prompt:     *e.Prompt,
				Cached:     *e.Cached,
				Completion: *e.Completion,
			}
		}
	}
	return t, bad.Err()
}

func isAmount(x *float64) bool {
	return x != nil && *x >= 0 && !math.IsInf(*x, 0)
}

// Cost returns the cost of tokens of the named model in US dollars. It returns nil if the price
// is unknown.
func (t Table) Cost(model string, n Tokens) *float64 {
	p, ok := t[model]
	if !ok {
		return nil
	}
	prompt := float64(float64(n.Prompt-n.Cached) * p.Prompt)
	cached := float64(float64(n.Cached) * p.Cached)
	completion := float64(float64(n.Completion) * p.Completion)
	return new((prompt + cached + completion) / 1e6)
}
