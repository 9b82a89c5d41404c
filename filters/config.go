package filters

import (
	"strings"

	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// UnknownPolicy decides on the attempts whose axis is unknown.
type UnknownPolicy string

// The policies for attempts whose axis is unknown.
const (
	UnknownDrop UnknownPolicy = "drop"
	UnknownKeep UnknownPolicy = "keep"
)

// Config contains the settings of the filter. The zero value is invalid; start from
// Defaults.
type Config struct {
	// Unknown decides on attempts whose axis is unknown: drop or keep.
	Unknown UnknownPolicy `yaml:"unknown"`
	// MaxTokens is the maximum number of tokens of a dialogue; a token is counted as four
	// bytes of the rendered text.
	MaxTokens int `yaml:"max_tokens"`
	// MinConfidence is the minimum confidence of an agentic attempt that is kept, 0.5 to 1.
	MinConfidence float64 `yaml:"min_confidence"`
	// MinAdaptivity is the minimum adaptivity, from 0 to 1, of agents whose agentic attempts are
	// kept: how much an agent's calls depend on earlier results.
	MinAdaptivity float64 `yaml:"min_adaptivity"`
	// MinAttempts is the minimum number of attempts that an agent needs in one day. The second
	// pass, which looks for an agent's habits over the day, finds none with fewer attempts.
	MinAttempts int `yaml:"min_attempts"`
	// Harness is the name of the built-in set of tools that the agents used, one of
	// evidence.Harnesses. The value "declared" means the tool schemas that each trace
	// declares.
	Harness string `yaml:"harness"`
	// Tools adds tools to the harness, by name.
	Tools map[string]Tool `yaml:"tools,omitempty"`
	// Mistakes lets an attempt serve as an unwanted or rejected example if its only faults are
	// an invented item or a number of commit calls other than one. The recipes kto and
	// pref set Mistakes.
	Mistakes bool `yaml:"mistakes,omitempty"`
}

// Tool is the configuration of a tool of a harness.
type Tool struct {
	// As is the kind of the tool: search, open, match, answer, end, or ask for anything else.
	As string `yaml:"as"`
	// Words are the names of the tool's arguments that contain the words of a search, IDs the
	// names of those that contain ids.
	Words []string `yaml:"words,omitempty"`
	IDs   []string `yaml:"ids,omitempty"`
}

// harnessTools returns, by name, the tools whose calls the filter understands: those of the
// configured harness (a known set of tools), those of a domain, and those in the setting
// filter.tools. For tools of the same name the setting has precedence, then the domain.
func (c *Config) harnessTools(tools map[string]domain.Tool) evidence.Tools {
	extra := evidence.ToolsOf(tools)
	for name, t := range c.Tools {
		extra[name] = evidence.Role{
			Tool:  evidence.Roles[t.As],
			Words: t.Words,
			IDs:   t.IDs,
		}
	}
	return evidence.HarnessTools(c.Harness, extra)
}

// Defaults returns the default settings: those of the published recipe and, where the recipe has
// none, those that docs/filter-evidence.md derives.
func Defaults() Config {
	return Config{
		Unknown:       UnknownDrop,
		MaxTokens:     14336,
		MinConfidence: 0.5,
		MinAttempts:   8,
		Harness:       domain.Shop,
	}
}

// Validate returns an error that lists every invalid setting, nil if all are valid.
func (c Config) Validate() error {
	var bad wrong.List
	bad.Unless(c.Unknown == UnknownDrop || c.Unknown == UnknownKeep, "filter.unknown is %v: want keep or drop", c.Unknown)
	bad.Unless(c.MaxTokens >= 1, "filter.max_tokens is %v: want at least 1", c.MaxTokens)
	bad.Unless(c.MinConfidence >= 0.5 && c.MinConfidence <= 1, "filter.min_confidence is %v: want 0.5 to 1", c.MinConfidence)
	bad.Unless(c.MinAdaptivity >= 0 && c.MinAdaptivity <= 1, "filter.min_adaptivity is %v: want 0 to 1", c.MinAdaptivity)
	bad.Unless(c.MinAttempts >= 3, "filter.min_attempts is %v: want at least 3: fewer attempts show no habit", c.MinAttempts)

	_, ok := evidence.Harnesses()[c.Harness]
	harnesses := strings.Join(slicesx.SortedKeys(evidence.Harnesses()), ", ")
	bad.Unless(ok, "filter.harness is %v: want one of %s", c.Harness, harnesses)
	roles := strings.Join(slicesx.SortedKeys(evidence.Roles), ", ")
	for name, t := range c.Tools {
		_, ok := evidence.Roles[t.As]
		bad.Unless(ok, "filter.tools.%s.as is %v: want one of %s", name, t.As, roles)
	}
	return bad.Err()
}
