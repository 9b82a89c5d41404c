// Package judges holds the instruments that grade attempts: the subnet's own
// outcome rules, the reasoning judges and the measures of how far two judges
// agree. Each is a package of its own; an instrument that fails gives no
// grade, never a low one.
package judges

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/gates"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/steps"
)

// Judge grades attempts. An error is a failure of the instrument, never a grade.
type Judge interface {
	Judge(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error)
}

// StepJudge says of each step of an attempt whether it was needed.
type StepJudge interface {
	Steps(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.StepJudgement, error)
}

// Identity is what answers depend on.
type Identity struct {
	// Name is the versioned name.
	Name string
	// Settings is the hash of what else changes answers; empty where nothing does.
	Settings string
}

// Instrument is one entry of the list: what measures attempts, and how it is
// opened where a command chooses it by name.
type Instrument struct {
	Name string
	Doc  string
	// Flag is its name as --judge takes it, or --step-judge where it labels steps;
	// empty where no flag chooses it.
	Flag string
	// AsksModels reports whether it needs an open panel of models.
	AsksModels bool
	// Open makes the judge, OpenSteps what labels steps; an entry has one of them
	// at most. The panel is nil unless AsksModels.
	Open      func(panel *llm.Judge) (Judge, Identity, error)
	OpenSteps func(panel *llm.Judge) (StepJudge, Identity, error)
}

// List is every instrument, in the order of their cost.
func List() []Instrument {
	return []Instrument{
		{Name: "outcome", Doc: "the subnet's own rules on what was recommended, exact (arena score)"},
		{
			Name: "steps", Flag: "steps", OpenSteps: func(*llm.Judge) (StepJudge, Identity, error) {
				return offline{}, Identity{Name: steps.Name}, nil
			},
			Doc: "which step moved the attempt towards the product recommended (arena judge --steps, arena build --steps), or is a teacher's, too (arena recipe steps)",
		},
		{
			Name: gates.Name, Flag: "gates", Open: func(*llm.Judge) (Judge, Identity, error) {
				return offline{}, Identity{Name: gates.Name}, nil
			},
			Doc: "the four gates of the reasoning score, read from the trace alone: inference, remark on results, datum, reasoned choice (arena judge)",
		},
		{
			Name: "llm", Flag: "llm", AsksModels: true, Open: func(panel *llm.Judge) (Judge, Identity, error) {
				settings, err := panel.Hash()
				return panel, Identity{Name: panel.Name(), Settings: settings}, err
			},
			Doc: "the same scale asked of one model or a panel; its versioned name carries a hash of the prompt (arena judge --judge llm)",
		},
		{
			Name: "llm_steps", Flag: "llm", AsksModels: true, OpenSteps: func(panel *llm.Judge) (StepJudge, Identity, error) {
				settings, err := panel.StepsHash()
				return panel, Identity{Name: panel.StepsName(), Settings: settings}, err
			},
			Doc: "whether each step was needed, asked of the same models (arena judge --judge llm --steps, arena build --step-judge llm)",
		},
	}
}

// Named finds the judge that --judge calls name.
func Named(name string) (found Instrument, known bool) {
	return find(func(i Instrument) bool { return i.Open != nil && i.Flag == name })
}

// StepsNamed finds what labels steps and --step-judge calls name.
func StepsNamed(name string) (found Instrument, known bool) {
	return find(func(i Instrument) bool { return i.OpenSteps != nil && i.Flag == name })
}

func find(is func(Instrument) bool) (found Instrument, known bool) {
	for _, i := range List() {
		if is(i) {
			return i, true
		}
	}
	return found, false
}

// Names are the judges as --judge takes them.
func Names() []string {
	return slicesx.FilterMap(List(), func(i Instrument) (string, bool) { return i.Flag, i.Open != nil })
}

// offline are the judges that ask no model: the gates, and the rule on steps.
type offline struct{}

// Judge implements Judge.
func (offline) Judge(_ context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	return gates.Judge(t, d), nil
}

// Steps implements StepJudge.
func (offline) Steps(_ context.Context, t *arena.Trace, d *arena.Dialogue) (arena.StepJudgement, error) {
	return steps.Judge(t, d), nil
}
