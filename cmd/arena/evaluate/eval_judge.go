package evaluate

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/student"
)

// noJudge is the --judge that grades nothing.
const noJudge = "none"

// openJudge makes the run's reasoning judge and names it in the run's spec:
// another panel, or another prompt, is another judge. done closes what it
// keeps.
func (f *Flags) openJudge(run *student.Run) (done func() error, err error) {
	if f.Judge.Name == noJudge {
		run.Spec.Judge = ""
		return func() error { return nil }, nil
	}
	r := pipeline.Run{Config: pipeline.Config{MaxUnscored: 1}} // the offline judge has no instrument that could fail
	if f.Judge.AsksModels() {
		r.Config.MaxUnscored = llm.Defaults().MaxUnscored
	}
	// Flags of this command speak of the student; those of models are in the
	// judge's own file.
	done, err = f.Judge.Open(&cobra.Command{}, &r)
	if err != nil {
		return nil, err
	}
	c := r.Config
	run.Judge, run.Spec.Judge = r.Judge, c.Judge.Name
	const enough = 12
	if c.Judge.Settings != "" {
		run.Spec.Judge += "-" + c.Judge.Settings[:enough]
	}
	f.maxUnjudged = c.MaxUnscored
	return done, nil
}

// unjudged fails if too many rollouts have no grade.
func (f *Flags) unjudged(m *evaluation.Summary) error {
	missing := m.Scored - m.Judged
	if f.Judge.Name == noJudge || float64(missing) <= f.maxUnjudged*float64(m.Scored) {
		return nil
	}
	return cli.Limit(fmt.Errorf("%d of %d rollouts have no answer of the judge", missing, m.Scored),
		"`arena eval --rescore` with the same judge asks for the missing ones alone, or raise max_unscored in --judge-config")
}
