// Package filters decides which attempts a model may learn from. It brings
// every dialect into one form, holds the dialogue against what the proxy saw,
// and says for each attempt whether the model itself decided its calls, with
// the evidence, an error bar and the reasons for a reject. Checks are pure
// functions of a trace; habits of an agent over its day are a second pass.
package filters

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/stats"
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
	s.RichnessV1, s.RichnessV2 = stats.Known(a.Log.RichnessV1()), stats.Known(a.Log.RichnessV2())
	sample := habits.SampleOf(a, score, evidence, s.Axis)
	f.conclude(&s, a)
	s.Features = features(a, score)
	return s, sample
}

// Catalogue lists every check, of the attempt and of its agent's day, in the order in
// which it is reported.
func Catalogue() []checks.Check {
	all := slices.Clone(checks.All)
	for i := range rules {
		if r := &rules[i]; r.reason != "" {
			all = append(all, checks.Check{Name: r.check(), Doc: r.doc, Reason: r.reason, Value: "log-odds that the model wrote the calls: " + r.why, Limit: "0"})
		}
	}
	for i := range habits.All {
		h := &habits.All[i]
		all = append(all, checks.Check{Name: h.Check, Doc: h.Doc, Reason: h.Reason, Value: "0 to 1, how sure that is at the lower end of its 95 % interval", Limit: "half", Above: true})
	}
	for i := range habits.Proofs {
		p := &habits.Proofs[i]
		all = append(all, checks.Check{Name: p.Check, Doc: p.Doc, Reason: p.Reason, Value: "1 if it holds: " + p.Why, Limit: "0", Above: true})
	}
	return all
}

// conclude runs the catalogue, collects the reasons and decides.
func (f *Filter) conclude(s *arena.Structure, a *evidence.Attempt) {
	s.Verdicts = make([]arena.Verdict, 0, len(checks.All)+len(rules))
	for i := range checks.All {
		c := &checks.All[i]
		value, limit := c.Measure(a, f.cfg.MaxTokens)
		s.Verdicts = append(s.Verdicts, verdict(c.Name, c.Reason, value, limit, c.Fires(value, limit)))
	}
	for i := range rules {
		if r := &rules[i]; r.reason != "" {
			odds := r.odds(a)
			s.Verdicts = append(s.Verdicts, verdict(r.check(), r.reason, odds, 0, odds < 0 && s.Axis == arena.AxisScripted))
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

// Unwanted says of a rejected attempt that nothing but mistakes of the model
// speaks against it, and that the configuration has use for such attempts.
func (f *Filter) Unwanted(s *arena.Structure) bool {
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
