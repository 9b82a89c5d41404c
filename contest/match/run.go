package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/contest/distil"
	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/contest/kl"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Result is the result of a round.
type Result struct {
	Config Config `json:"config"`
	// Rule is the rule of subnet 97 with its parameters, as text.
	Rule string `json:"rule,omitempty"`
	// Prompts counts the prompts that decide. Empty counts those for which the teacher's
	// continuation is empty. Unmeasured counts those on which a student has no KL in the form
	// that decides.
	Prompts    int        `json:"prompts"`
	Empty      int        `json:"prompts_empty,omitempty"`
	Unmeasured int        `json:"prompts_unmeasured,omitempty"`
	Students   []Measured `json:"students"`
	// Decision is the decision of subnet 97, nil for subnet 47. Scores are the scores of subnet
	// 47.
	Decision *distil.Decision `json:"decision,omitempty"`
	Scores   []evolai.Scored  `json:"scores,omitempty"`
	// Asked counts the requests that this run sent. Recorded answers are not counted.
	Asked int64 `json:"-"`
}

// Names of files in the folder of a run.
const (
	ResultFile = "round.json"
	LockFile   = "lock.json"
)

// CheckFolder returns an error if dir has files, but neither the result nor the records of a round.
func CheckFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { // a killed run may have left no more
		isUnfinished, _ := filepath.Match(atomicfile.Unfinished, e.Name()) // the pattern is well-formed
		return isUnfinished
	})
	if err != nil || len(entries) == 0 {
		return err
	}
	if r, err := readResult(filepath.Join(dir, ResultFile)); err == nil && r.Config.Contest != "" {
		return nil
	}
	isRecord := func(e os.DirEntry) bool { return e.Name() == AnswersFile || e.Name() == LockFile }
	if !slices.ContainsFunc(entries, isRecord) {
		return fmt.Errorf("%s is not empty and has no round", dir)
	}
	return nil
}

// Run runs the configured round in the folder dir, or continues an interrupted one, and writes
// the result there. The configuration must pass Validate.
func Run(ctx context.Context, c *Config, dir string) (*Result, error) {
	r := &Result{Config: *c}
	var err error
	switch {
	case c.Contest == SN47:
		err = r.score(ctx, dir)
	case c.Teacher.Dump != "":
		err = r.measureDumps()
	default:
		err = r.measureServers(ctx, dir)
	}
	if err == nil && c.Contest == SN97 {
		err = r.decide()
	}
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, err
	}
	return r, atomicfile.WriteFile(filepath.Join(dir, ResultFile), append(text, '\n'))
}

// measureDumps computes the KL of each student of subnet 97 from files with the logits of teacher
// and student, without a server.
func (r *Result) measureDumps() error {
	for i := range r.Config.Students {
		s := &r.Config.Students[i]
		m, err := measure(s.Name, r.Config.Form, kl.Rows(r.Config.Teacher.Dump), kl.Rows(s.Dump))
		if err != nil {
			return err
		}
		r.Students = append(r.Students, m)
	}
	return nil
}

// measureServers computes the KL of each student of subnet 97 by asking the model servers of
// teacher and students. Answers are recorded in dir.
func (r *Result) measureServers(ctx context.Context, dir string) error {
	c := &r.Config
	texts, err := draw(c.Prompts, c.Seed, c.Draw)
	if err != nil {
		return err
	}
	a, err := newAsker(c, dir)
	if err != nil {
		return err
	}
	rows, empty, err := a.continueAll(ctx, texts)
	r.Empty = empty
	if err == nil {
		r.Students, err = a.measureAll(ctx, c.students(), rows)
	}
	r.Asked = a.asked.Load()
	return errors.Join(err, a.close())
}

// students returns pointers to the elements of c.Students.
func (c *Config) students() []*Model {
	var all []*Model
	for i := range c.Students {
		all = append(all, &c.Students[i])
	}
	return all
}

// measureAll returns for each student its KL from the teacher on rows (prompts with the teacher's
// continuations). It asks the servers for all probabilities that are not recorded yet.
func (a *asker) measureAll(ctx context.Context, students []*Model, rows []row) ([]Measured, error) {
	teacher := &a.config.Teacher
	if err := a.scoreAll(ctx, append([]*Model{teacher}, students...), rows); err != nil {
		return nil, err
	}
	var all []Measured
	for _, s := range students {
		m, err := measure(s.Name, a.config.Form, a.rows(ctx, teacher, rows), a.rows(ctx, s, rows))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// decide computes which student wins a round of subnet 97 from the students' KLs, and sets
// r.Decision. It returns an error if fewer than two prompts have a KL for all students.
func (r *Result) decide() error {
	rule, err := r.Config.rule()
	if err != nil {
		return err
	}
	r.Rule = rule.String()
	measured := r.measuredPrompts()
	if r.Prompts = len(measured); r.Prompts < 2 {
		return fmt.Errorf("%d prompts have a KL for all students: a decision needs 2", r.Prompts)
	}
	king := 0
	var students []distil.Student
	for i := range r.Students {
		s := distil.Student{Model: r.Students[i].Student}
		for _, p := range measured {
			s.KLs = append(s.KLs, float64(r.Students[i].Prompts[p].Mean))
		}
		if s.Model == r.Config.King {
			king = i
		}
		students = append(students, s)
	}
	for i := range students {
		students[i].Axes = r.axes(i, students[king].Mean(), students[i].Mean())
	}
	d := rule.Decide(king, students)
	r.Decision = &d
	return nil
}

// measuredPrompts returns the indexes of the prompts on which every student has a KL. It sets
// r.Unmeasured to the number of all other prompts.
func (r *Result) measuredPrompts() []int {
	var out []int
	for p := range r.Students[0].Prompts {
		isMissing := func(m Measured) bool {
			return m.Prompts[p].Positions == 0
		}
		if slices.ContainsFunc(r.Students, isMissing) {
			r.Unmeasured++
			continue
		}
		out = append(out, p)
	}
	return out
}

// axes returns the axes (parts of the composite score) of student i by name: the configured ones,
// and two that are computed here. "kl" is the king's KL divided by the student's, at most 1, and
// "top_k_overlap" the mean share of the teacher's 20 likeliest tokens that are also among the
// student's.
func (r *Result) axes(i int, kingKL, ownKL float64) map[string]float64 {
	axes := maps.Clone(r.Config.Students[i].Axes)
	if axes == nil {
		axes = map[string]float64{}
	}
	axes["kl"] = 1
	if ownKL > kingKL {
		axes["kl"] = kingKL / ownKL
	}
	var overlaps []float64
	for _, p := range r.Students[i].report.ByPosition {
		overlaps = append(overlaps, p.Overlap20)
	}
	axes["top_k_overlap"] = stats.Mean(overlaps)
	return axes
}

// readResult reads the result of an earlier round.
func readResult(path string) (*Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Result
	if err = json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}
