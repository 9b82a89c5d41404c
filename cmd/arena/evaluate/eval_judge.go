package evaluate

import (
	"fmt"
	"io"
	"strings"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/student"
)

// noJudge is the --judge that grades nothing.
const noJudge = "none"

// openJudge makes the run's reasoning judge and names it in the run's spec:
// another panel, or another prompt, is another judge. done closes what it
// keeps.
func (f *Flags) openJudge(words io.Writer, run *student.Run) (done func() error, err error) {
	if f.Judge.Name == noJudge {
		run.Spec.Judge = ""
		return func() error { return nil }, nil
	}
	maxUnjudged := 1.0 // the offline judge has no instrument that could fail
	if f.Judge.AsksModels() {
		maxUnjudged = llm.Defaults().MaxUnscored
	}
	// Flags of this command speak of the student; those of models are in the
	// judge's own file.
	judge, err := f.Judge.Open(words, maxUnjudged)
	if err != nil {
		return nil, err
	}
	run.Judge, run.Spec.Judge = judge.Judge, judge.Is.Name
	const enough = 12
	if judge.Is.Settings != "" {
		run.Spec.Judge += "-" + judge.Is.Settings[:enough]
	}
	f.maxUnjudged = judge.MaxUnscored
	return judge.Close, nil
}

// titlesMode says how the titles of products are compared that are not the wanted ones.
func (f *Flags) titlesMode() string {
	c := f.titles.TitlesConfig()
	return strings.Join(strings.Fields(string(c.Source)+" "+c.Model+" "+c.Prefix), " ")
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
