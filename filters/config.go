package filters

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// UnknownPolicy says what becomes of an attempt whose axis is unknown.
type UnknownPolicy string

// The policies for attempts whose axis is unknown.
const (
	UnknownDrop UnknownPolicy = "drop"
	UnknownKeep UnknownPolicy = "keep"
)

// Config holds every limit of the filter. The zero value is not usable; start
// from Defaults.
type Config struct {
	// Unknown decides on attempts whose axis is unknown: drop or keep.
	Unknown UnknownPolicy `yaml:"unknown"`
	// MaxTokens is the most tokens a dialogue may have; a token is counted as
	// four bytes of the rendered text.
	MaxTokens int `yaml:"max_tokens"`
	// MinConfidence is the least confidence with which an agentic attempt is
	// kept, 0.5 to 1.
	MinConfidence float64 `yaml:"min_confidence"`
	// MinAdaptivity is how far an agent's calls must depend on results, 0 to 1,
	// for its agentic attempts to be kept.
	MinAdaptivity float64 `yaml:"min_adaptivity"`
	// MinAttempts is how many attempts of one agent's day the second pass needs
	// before it may say anything.
	MinAttempts int `yaml:"min_attempts"`
	// Harness names the ready map of the agents' tools: shop, envpack, webshop,
	// tau-bench, or declared, which reads the schemas that each trace declares.
	Harness string `yaml:"harness"`
	// Tools adds to the map by name what a tool does.
	Tools map[string]Tool `yaml:"tools,omitempty"`
	// Mistakes makes unwanted and rejected examples of failed attempts that only
	// invented a product or did not recommend once; the recipes kto and pref set it.
	Mistakes bool `yaml:"mistakes,omitempty"`
}

// Tool says what a tool does: search, open, match, answer, end, or ask for anything
// else; and which of its arguments are words, and which ids.
type Tool struct {
	As    string   `yaml:"as"`
	Words []string `yaml:"words,omitempty"`
	IDs   []string `yaml:"ids,omitempty"`
}

func (c *Config) harness() evidence.Tools {
	more := evidence.Tools{}
	for name, t := range c.Tools {
		more[name] = evidence.Role{Tool: evidence.Roles[t.As], Words: t.Words, IDs: t.IDs}
	}
	return evidence.With(c.Harness, more)
}

// Defaults are the limits of the published recipe, where it names one; the
// others are derived in docs/filter-evidence.md.
func Defaults() Config {
	return Config{
		Unknown:       UnknownDrop,
		MaxTokens:     14336,
		MinConfidence: 0.5,
		MinAttempts:   8,
		Harness:       "shop",
	}
}

// Validate names every limit that cannot be used, all at once.
func (c Config) Validate() error {
	var all []error
	bad := func(key string, value any, want string) {
		all = append(all, fmt.Errorf("filter.%s is %v: want %s", key, value, want))
	}
	if c.Unknown != UnknownDrop && c.Unknown != UnknownKeep {
		bad("unknown", c.Unknown, "keep or drop")
	}
	if c.MaxTokens < 1 {
		bad("max_tokens", c.MaxTokens, "at least 1")
	}
	if math.IsNaN(c.MinConfidence) || c.MinConfidence < 0.5 || c.MinConfidence > 1 {
		bad("min_confidence", c.MinConfidence, "0.5 to 1")
	}
	if math.IsNaN(c.MinAdaptivity) || c.MinAdaptivity < 0 || c.MinAdaptivity > 1 {
		bad("min_adaptivity", c.MinAdaptivity, "0 to 1")
	}
	if c.MinAttempts < 3 {
		bad("min_attempts", c.MinAttempts, "at least 3: fewer attempts show no habit")
	}
	if _, known := evidence.Harnesses[c.Harness]; !known {
		bad("harness", c.Harness, "one of "+strings.Join(slices.Sorted(maps.Keys(evidence.Harnesses)), ", "))
	}
	for name, t := range c.Tools {
		if _, known := evidence.Roles[t.As]; !known {
			bad("tools."+name+".as", t.As, "one of "+strings.Join(slices.Sorted(maps.Keys(evidence.Roles)), ", "))
		}
	}
	return errors.Join(all...)
}
