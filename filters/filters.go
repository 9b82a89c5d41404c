// Package filters decides which attempts a model may learn from. It compares the dialogue of an
// attempt with the proxy's log and decides whether the model itself made the calls. The result
// has the evidence, a confidence and the reasons of a rejection. The checks of an attempt are
// pure functions of its trace. A second pass examines the habits of each agent over all its
// attempts of a day.
package filters

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Filter is the structural filter with its configuration.
type Filter struct {
	cfg   Config
	tools evidence.Tools
	// limits are the limits of the checks.
	limits checks.Limits
	domain *domain.Domain
	// adaptivity is the formula of adaptivity in the domain of the attempts. It is "" if adaptivity
	// was not measured on the domain, and is then null and rejects no attempt.
	adaptivity string
}

// New returns a filter with this configuration. If the configuration is invalid, the error lists
// everything that is wrong.
func New(cfg Config) (*Filter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("set up the structural filter: %w", err)
	}
	var builtin *domain.Set
	return &Filter{
		cfg:   cfg,
		tools: cfg.harnessTools(nil),
		limits: checks.Limits{
			MaxTokens: cfg.MaxTokens,
			CallTurns: 1,
			Commit:    builtin.ByName(domain.Shop).Commit,
		},
		domain:     builtin.ByName(domain.Shop),
		adaptivity: domain.HabitsV1,
	}, nil
}

// Domain returns the domain of the attempts.
func (f *Filter) Domain() *domain.Domain { return f.domain }

// For returns the filter for attempts of a domain. isLogged reports whether a gateway logged the
// attempts, measuresAdaptivity whether their adaptivity is meaningful. Without a log, the axis
// is unknown and the domain decides whether attempts are kept or dropped.
func (f *Filter) For(d *domain.Domain, isLogged, measuresAdaptivity bool) *Filter {
	out := *f
	out.domain = d
	out.adaptivity = ""
	if measuresAdaptivity {
		out.adaptivity = d.Adaptivity
	}
	out.limits.Commit = d.Commit
	if d.Outcome.From != domain.FromDeclared {
		return &out
	}
	out.tools = f.cfg.harnessTools(d.Tools)
	out.limits.LastEnds = !d.HasRole(domain.RoleEnd)
	out.limits.CallTurns = 0 // words alone may solve a task whose outcome is declared
	if !isLogged && d.Unlogged == domain.UnloggedKeep {
		out.cfg.Unknown = UnknownKeep
	}
	return &out
}

// Check returns the result of the first pass over an attempt: its axis, verdicts, features and
// reasons of rejection, and the sample that the second pass needs. It changes neither the trace
// nor the dialogue.
func (f *Filter) Check(t *arena.Trace, d *arena.Dialogue) (arena.Structure, habits.Sample) {
	rec := arena.Record{Trace: t, Dialogue: *d}
	sample := f.CheckRecord(&rec)
	return rec.Structure, sample
}

// CheckRecord does what Check does for the trace and dialogue of rec. It stores the structure in rec,
// and the dialogue that judges read.
func (f *Filter) CheckRecord(rec *arena.Record) habits.Sample {
	t := rec.Trace
	d := &rec.Dialogue
	a := f.examine(t, d)
	defer a.Release()

	score, decides := logOdds(a)
	var s arena.Structure
	open := openOdds(a)
	s.Axis, s.Confidence = decide(score, open, decides)
	s.RichnessV1 = stats.FiniteOrNil(a.Log.RichnessV1())
	s.RichnessV2 = stats.FiniteOrNil(a.Log.RichnessV2())
	sample := habits.SampleOf(a, score, open, decides, s.Axis)
	if f.adaptivity == domain.UseV1 {
		sample.Use = habits.UseOf(t, d)
	}
	f.addVerdicts(&s, a)
	thinking := measureThinking(a)
	s.ThinkingUnsaid = thinking.Unsaid
	s.ThinkingStripped = thinking.IsForeign
	s.Features = features(a, score, thinking.share)
	rec.Structure = s
	rec.Graded = thinking.Graded
	rec.Logged = thinking.Logged
	rec.Origin = thinking.Origin
	return sample
}

// examine compares the dialogue of an attempt with the proxy's log and returns the evidence. It
// knows the tools of the configured harness (set of tools) or, if that is "declared", those that
// the trace declares.
func (f *Filter) examine(t *arena.Trace, d *arena.Dialogue) *evidence.Attempt {
	tools := f.tools
	if f.cfg.Harness == evidence.Declared {
		tools = evidence.AddDeclared(tools, t.Tools)
	}
	return evidence.Examine(t, d, tools)
}

// attemptChecks are the checks that the filter makes of a single attempt, in the order in which it
// reports them: those of package checks, then one for each rule by which an attempt can be found to
// be the work of a program.
var attemptChecks = func() []checks.Check {
	list := slices.Clone(checks.All)
	for i := range rules {
		r := &rules[i]
		if r.reason == "" {
			continue
		}
		list = append(list, checks.Check{
			Name:   r.name + "_v3",
			Doc:    r.doc,
			Reason: r.reason,
			Value:  "log-odds that the model wrote the calls: " + r.why,
			Limit:  "0",
		})
	}
	return list
}()

// Catalogue returns all checks in the order of the verdicts: those of an attempt, then those of
// its agent's day.
func Catalogue() []checks.Check {
	list := slices.Clone(attemptChecks)
	for i := range habits.All {
		h := &habits.All[i]
		list = append(list, checks.Check{
			Name:   h.Check,
			Doc:    h.Doc,
			Reason: h.Reason,
			Value:  "0 to 1, how sure that is at the lower end of its 95 % interval",
			Limit:  "half",
			Above:  true,
		})
	}
	for i := range habits.Proofs {
		p := &habits.Proofs[i]
		list = append(list, checks.Check{
			Name:   p.Check,
			Doc:    p.Doc,
			Reason: p.Reason,
			Value:  "1 if it holds: " + p.Why,
			Limit:  "0",
			Above:  true,
		})
	}
	return list
}

// IsOfDay reports whether the named check is of the agent's day, and not of a single attempt.
func IsOfDay(check string) bool {
	return slices.ContainsFunc(Catalogue()[len(attemptChecks):], func(c checks.Check) bool { return c.Name == check })
}

// addVerdicts runs the checks of a single attempt and sets s.Verdicts, s.Reasons and s.Keep.
func (f *Filter) addVerdicts(s *arena.Structure, a *evidence.Attempt) {
	s.Verdicts = make([]arena.Verdict, 0, len(attemptChecks))
	for i := range checks.All {
		c := &checks.All[i]
		value, limit := c.Measure(a, f.limits)
		s.Verdicts = append(s.Verdicts, newVerdict(
			c.Name,
			c.Reason,
			value,
			limit,
			c.Fires(value, limit),
		))
	}
	for i := range rules {
		r := &rules[i]
		if r.reason == "" {
			continue
		}
		odds := r.odds(a)
		drops := odds < 0 && s.Axis == arena.AxisScripted
		name := attemptChecks[len(s.Verdicts)].Name
		s.Verdicts = append(s.Verdicts, newVerdict(name, r.reason, odds, 0, drops))
	}

	s.Reasons = slices.Concat(
		f.axisReasons(s),
		a.Trace.Vetoes,
		a.Dialogue.Faults,
	)
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		if v.Decision == arena.Drop && !slices.Contains(s.Reasons, v.Reason) {
			s.Reasons = append(s.Reasons, v.Reason)
		}
	}
	s.Keep = len(s.Reasons) == 0
}

func newVerdict(check, reason string, value, limit float64, drops bool) arena.Verdict {
	v := arena.Verdict{
		Check:    check,
		Decision: arena.Keep,
		Value:    value,
		Limit:    limit,
	}
	if drops {
		v.Decision = arena.Drop
		v.Reason = reason
	}
	return v
}

// IsUnwanted reports whether a rejected attempt may serve as an unwanted example. The setting
// filter.mistakes must be on, and all reasons of the rejection must be mistakes of the model.
func (f *Filter) IsUnwanted(s *arena.Structure) bool {
	isNoMistake := func(reason string) bool { return !checks.Mistake(reason) }
	return f.cfg.Mistakes && len(s.Reasons) > 0 &&
		!slices.ContainsFunc(s.Reasons, isNoMistake)
}

// The reasons to reject an attempt because of its axis.
const (
	ReasonScripted  = "axis_scripted"  // a program, not the model, acted
	ReasonUnknown   = "axis_unknown"   // nothing tells whether the model acted
	ReasonUncertain = "axis_uncertain" // the model acted, with less confidence than filter.min_confidence
	ReasonFixed     = "low_adaptivity" // the agent's calls depend on results less than filter.min_adaptivity
)

var allAxisReasons = []string{ReasonScripted, ReasonUnknown, ReasonUncertain, ReasonFixed}

// axisReasons returns why an attempt is rejected for who made its calls, as a list with one code: a
// program made them, it is unknown or too uncertain who did, or the agent's calls depend too little
// on results. It returns nil if the configuration accepts the attempt.
func (f *Filter) axisReasons(s *arena.Structure) []string {
	switch s.Axis {
	case arena.AxisScripted:
		return []string{ReasonScripted}
	case arena.AxisUnknown:
		if f.cfg.Unknown == UnknownDrop {
			return []string{ReasonUnknown}
		}
	case arena.AxisAgentic:
		if s.Confidence < f.cfg.MinConfidence {
			return []string{ReasonUncertain}
		}
		if s.Adaptivity != nil && *s.Adaptivity < f.cfg.MinAdaptivity {
			return []string{ReasonFixed}
		}
	}
	return nil
}
