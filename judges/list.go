// Package judges lists the instruments that grade attempts: the subnet's own outcome
// rules, the reasoning judges and the rules on steps. Each is a package of its own; those that were
// made for one domain are in a folder with its name. An instrument that fails gives no grade, never a
// low one.
package judges

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/repeats"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/judges/shop/steps"
)

// Judge grades attempts. An error is a failure of the instrument, never a grade.
type Judge interface {
	Judge(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error)
}

// StepJudge decides of each step of an attempt whether it was needed.
type StepJudge interface {
	Steps(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.StepJudgement, error)
}

// Identity is what the answers of an instrument depend on.
type Identity struct {
	// Name is the versioned name.
	Name string
	// Settings is the hash of the settings that change answers; empty if there are none.
	Settings string
}

// Instrument is one entry of the list: an instrument, and how a command opens it by
// its name.
type Instrument struct {
	Name string
	Doc  string
	// Flag is its name as a value of --judge, or of --step-judge if it labels steps;
	// empty if no flag selects it.
	Flag string
	// AsksModels reports whether it needs an open panel of models.
	AsksModels bool
	// Open opens the judge, OpenSteps the judge of steps; an entry has at most one of
	// them. The panel is nil unless AsksModels.
	Open      func(panel *llm.Judge) (Judge, Identity, error)
	OpenSteps func(panel *llm.Judge) (StepJudge, Identity, error)
}

// List returns every instrument, in the order of their cost.
func List() []Instrument {
	return []Instrument{
		{Name: "outcome", Doc: "the subnet's own rules on the final answer, exact (arena score)"},
		{
			Name: "steps", Flag: "steps", OpenSteps: openStepRule,
			Doc: "which step moved the attempt towards the final answer (arena judge --steps, arena build --steps), or is a teacher's, too (arena recipe steps)",
		},
		{
			Name: gates.Name, Flag: "gates", Open: openGates,
			Doc: "the four gates of the reasoning score, read from the trace alone: inference, remark on results, datum, reasoned choice (arena judge)",
		},
		{
			Name: "llm", Flag: "llm", AsksModels: true, Open: openLLM,
			Doc: "the same scale asked of one model or a panel; its versioned name carries a hash of the prompt (arena judge --judge llm)",
		},
		{
			Name: "llm_steps", Flag: "llm", AsksModels: true, OpenSteps: openLLMSteps,
			Doc: "whether each step was needed, asked of the same models (arena judge --judge llm --steps, arena build --step-judge llm)",
		},
	}
}

func openStepRule(*llm.Judge) (StepJudge, Identity, error) {
	return offline{}, Identity{Name: steps.Name}, nil
}

func openGates(*llm.Judge) (Judge, Identity, error) {
	return offline{}, Identity{Name: gates.Name}, nil
}

func openLLM(panel *llm.Judge) (Judge, Identity, error) {
	settings, err := panel.Hash()
	return panel, Identity{Name: panel.Name(), Settings: settings}, err
}

func openLLMSteps(panel *llm.Judge) (StepJudge, Identity, error) {
	settings, err := panel.StepsHash()
	return panel, Identity{Name: panel.StepsName(), Settings: settings}, err
}

// JudgeIn returns the judge for attempts of a domain, and its versioned name: j, which has the given
// name, unless j asks models, which are told the domain's rubric.
func JudgeIn(d *domain.Domain, j Judge, name string) (judge Judge, version string) {
	if panel, asksModels := j.(*llm.Judge); asksModels {
		judge := panel.In(d)
		return judge, judge.Name()
	}
	return j, name
}

// StepsIn returns the judge of steps for attempts of a domain, and its versioned name: j, which has the
// given name, unless j is the offline rule and the domain has another one, or j asks models, which
// are told the domain's rubric.
func StepsIn(d *domain.Domain, j StepJudge, name string) (judge StepJudge, version string) {
	if panel, asksModels := j.(*llm.Judge); asksModels {
		judge := panel.In(d)
		return judge, judge.StepsName()
	}
	if _, isRule := j.(offline); isRule && d.Steps == repeats.Name {
		return repeats.Judge{Domain: d}, repeats.Name
	}
	return j, name
}

// ByFlag returns the judge that --judge selects by name.
func ByFlag(name string) (instrument Instrument, ok bool) {
	return find(func(i Instrument) bool {
		return i.Open != nil && i.Flag == name
	})
}

// StepsByFlag returns the judge of steps that --step-judge selects by name.
func StepsByFlag(name string) (instrument Instrument, ok bool) {
	return find(func(i Instrument) bool {
		return i.OpenSteps != nil && i.Flag == name
	})
}

func find(match func(Instrument) bool) (instrument Instrument, ok bool) {
	for _, i := range List() {
		if match(i) {
			return i, true
		}
	}
	return Instrument{}, false
}

// Names returns the values of --judge.
func Names() []string {
	return slicesx.FilterMap(List(), func(i Instrument) (string, bool) {
		return i.Flag, i.Open != nil
	})
}

// offline is the judge that asks no model. It grades the reasoning of an attempt by four fixed
// tests (package gates), and says of each step whether it was needed by a fixed rule (package
// steps).
type offline struct{}

// Judge implements Judge.
func (offline) Judge(
	_ context.Context,
	t *arena.Trace,
	d *arena.Dialogue,
) (arena.Judgement, error) {
	return gates.Judge(t, d), nil
}

// Steps implements StepJudge.
func (offline) Steps(
	_ context.Context,
	t *arena.Trace,
	d *arena.Dialogue,
) (arena.StepJudgement, error) {
	return steps.Judge(t, d), nil
}
