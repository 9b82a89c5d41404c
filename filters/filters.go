// Package filters decides which attempts a model may learn from. It brings
// every dialect into one form, holds the dialogue against what the proxy saw,
// and says for each attempt whether the model itself decided its calls, with
// the evidence, an error bar and the reasons for a reject. Checks are pure
// functions of a trace; habits of an agent over its day are a second pass.
package filters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Filter is the structural filter with its limits.
type Filter struct {
	cfg   Config
	tools evidence.Tools
}

// New returns a filter with these limits, or all that is wrong with them.
func New(cfg Config) (*Filter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("set up the structural filter: %w", err)
	}
	return &Filter{cfg, cfg.harness()}, nil
}

// Check says what the attempt itself shows: its axis, every reject, the values
// measured. The sample is what the second pass needs to know of it. Neither
// the trace nor the dialogue is changed.
func (f *Filter) Check(t *arena.Trace, d *arena.Dialogue) (arena.Structure, habits.Sample) {
	tools := f.tools
	if f.cfg.Harness == evidence.Declared {
		tools = evidence.AddDeclared(tools, t.Tools)
	}
	a := evidence.Examine(t, d, tools)
	defer a.Pad.Release()
	score, evidence := logOdds(a)
	s := arena.Structure{}
	s.Axis, s.Confidence = decide(score, evidence)
	s.RichnessV1, s.RichnessV2 = stats.FiniteOrNil(a.Log.RichnessV1()), stats.FiniteOrNil(a.Log.RichnessV2())
	sample := habits.SampleOf(a, score, evidence, s.Axis)
	f.conclude(&s, a)
	s.Features = features(a, score)
	return s, sample
}

// own are the checks of an attempt itself, in the order of its verdicts.
var own = func() []checks.Check {
	all := slices.Clone(checks.All)
	for i := range rules {
		if r := &rules[i]; r.reason != "" {
			all = append(all, checks.Check{Name: r.name + "_v3", Doc: r.doc, Reason: r.reason, Value: "log-odds that the model wrote the calls: " + r.why, Limit: "0"})
		}
	}
	return all
}()

// Catalogue lists every check, of the attempt and of its agent's day, in the order in
// which it is reported.
func Catalogue() []checks.Check {
	all := slices.Clone(own)
	for _, h := range evidence.Each(habits.All) {
		all = append(all, checks.Check{Name: h.Check, Doc: h.Doc, Reason: h.Reason, Value: "0 to 1, how sure that is at the lower end of its 95 % interval", Limit: "half", Above: true})
	}
	for _, p := range evidence.Each(habits.Proofs) {
		all = append(all, checks.Check{Name: p.Check, Doc: p.Doc, Reason: p.Reason, Value: "1 if it holds: " + p.Why, Limit: "0", Above: true})
	}
	return all
}

// conclude runs the catalogue, collects the reasons and decides.
func (f *Filter) conclude(s *arena.Structure, a *evidence.Attempt) {
	s.Verdicts = make([]arena.Verdict, 0, len(own))
	for _, c := range evidence.Each(checks.All) {
		value, limit := c.Measure(a, f.cfg.MaxTokens)
		s.Verdicts = append(s.Verdicts, verdict(c.Name, c.Reason, value, limit, c.Fires(value, limit)))
	}
	for i := range rules {
		if r := &rules[i]; r.reason != "" {
			odds := r.odds(a)
			s.Verdicts = append(s.Verdicts, verdict(own[len(s.Verdicts)].Name, r.reason, odds, 0, odds < 0 && s.Axis == arena.AxisScripted))
		}
	}
	s.Reasons = slices.Concat(f.axisReasons(s), a.Trace.Vetoes, a.Dialogue.Faults)
	for i := range s.Verdicts {
		if v := &s.Verdicts[i]; v.Decision == arena.Drop && !slices.Contains(s.Reasons, v.Reason) {
			s.Reasons = append(s.Reasons, v.Reason)
		}
	}
	s.Keep = len(s.Reasons) == 0
}

func verdict(check, reason string, value, limit float64, drops bool) arena.Verdict {
	v := arena.Verdict{Check: check, Decision: arena.Keep, Value: value, Limit: limit}
	if drops {
		v.Decision, v.Reason = arena.Drop, reason
	}
	return v
}

// IsUnwanted says of a rejected attempt that nothing but mistakes of the model
// speaks against it, and that the configuration has use for such attempts.
func (f *Filter) IsUnwanted(s *arena.Structure) bool {
	return f.cfg.Mistakes && len(s.Reasons) > 0 && !slices.ContainsFunc(s.Reasons, func(r string) bool { return !checks.Mistake(r) })
}

// The reasons that the axis itself gives.
const (
	ReasonScripted  = "axis_scripted"  // a program, not the model, acted
	ReasonUnknown   = "axis_unknown"   // nothing tells whether the model acted
	ReasonUncertain = "axis_uncertain" // the model acted, with less confidence than filter.min_confidence
	ReasonFixed     = "low_adaptivity" // the agent's calls depend on results less than filter.min_adaptivity
)

var axisWords = []string{ReasonScripted, ReasonUnknown, ReasonUncertain, ReasonFixed}

func (f *Filter) axisReasons(s *arena.Structure) []string {
	switch {
	case s.Axis == arena.AxisScripted:
		return []string{ReasonScripted}
	case s.Axis == arena.AxisUnknown && f.cfg.Unknown == UnknownDrop:
		return []string{ReasonUnknown}
	case s.Axis == arena.AxisAgentic && s.Confidence < f.cfg.MinConfidence:
		return []string{ReasonUncertain}
	case s.Axis == arena.AxisAgentic && s.Adaptivity != nil && *s.Adaptivity < f.cfg.MinAdaptivity:
		return []string{ReasonFixed}
	}
	return nil
}

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
	return evidence.HarnessTools(c.Harness, more)
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
	var bad wrong.List
	bad.Unless(c.Unknown == UnknownDrop || c.Unknown == UnknownKeep, "filter.unknown is %v: want keep or drop", c.Unknown)
	bad.Unless(c.MaxTokens >= 1, "filter.max_tokens is %v: want at least 1", c.MaxTokens)
	bad.Unless(c.MinConfidence >= 0.5 && c.MinConfidence <= 1, "filter.min_confidence is %v: want 0.5 to 1", c.MinConfidence)
	bad.Unless(c.MinAdaptivity >= 0 && c.MinAdaptivity <= 1, "filter.min_adaptivity is %v: want 0 to 1", c.MinAdaptivity)
	bad.Unless(c.MinAttempts >= 3, "filter.min_attempts is %v: want at least 3: fewer attempts show no habit", c.MinAttempts)
	_, known := evidence.Harnesses[c.Harness]
	bad.Unless(known, "filter.harness is %v: want one of %s", c.Harness, strings.Join(slices.Sorted(maps.Keys(evidence.Harnesses)), ", "))
	for name, t := range c.Tools {
		_, known := evidence.Roles[t.As]
		bad.Unless(known, "filter.tools.%s.as is %v: want one of %s", name, t.As, strings.Join(slices.Sorted(maps.Keys(evidence.Roles)), ", "))
	}
	return bad.Err()
}
