package student

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Comparison is what two runs on the same problems say of each other. Infra
// counts as not solved, on both sides.
type Comparison struct {
	A        string  `json:"a"`
	B        string  `json:"b"`
	Problems int     `json:"problems"`
	AMean    float64 `json:"a_mean"`
	BMean    float64 `json:"b_mean"`
	// Difference is b - a; SEClustered its standard error over problems, null
	// for one problem, as its intervals are.
	Difference  float64     `json:"difference"`
	SEClustered *float64    `json:"se_clustered"`
	CI95        *[2]float64 `json:"ci95"`
	Bootstrap95 *[2]float64 `json:"bootstrap95"`
	McNemar     McNemar     `json:"mcnemar"`
	// HolmP is McNemar's p adjusted for all comparisons made at once.
	HolmP float64 `json:"holm_p"`
	// MDE80 is the difference that this many problems show four times in five,
	// Power80Problems how many it takes to show the measured one; null and 0
	// where no number can be told.
	MDE80           *float64 `json:"mde80"`
	Power80Problems int      `json:"power80_problems"`
	// Differs names the fields in which the runs' specs differ beside the
	// model, where the caller allowed them to.
	Differs []string `json:"differs,omitempty"`
	// ByContamination has the same of the parts "clean" and "contaminated", each
	// where it has a problem and somebody checked.
	ByContamination map[string]*Comparison `json:"by_contamination,omitempty"`
}

// McNemar is the exact test on sample 0 of each problem: B problems only a
// solves, C only b.
type McNemar struct {
	B int     `json:"b"`
	C int     `json:"c"`
	P float64 `json:"p"`
}

// ErrIncomparable is in the chain of the error for runs that may not be
// compared.
var ErrIncomparable = errors.New("the runs are not comparable")

// mustEqual are the fields of a spec that must be equal: what the model was
// asked, in what setting, and how it was graded.
var mustEqual = []string{
	"schema", "max_steps", "harness", "harness_sha256", "problems", "problems_sha256", "catalog_xxh3", "search", "rules", "scorer", "judge",
}

// Compare compares run a with each other run. Unless anyway is set, runs that
// differ in problems, harness, scorer or judge are refused, naming the fields.
// Where contaminated is not nil, its problems and the others are compared apart
// as well.
func Compare(a string, others []string, anyway bool, contaminated map[string]bool) ([]Comparison, error) {
	names := apart(append([]string{a}, others...))
	base, err := readRun(a, names[0])
	if err != nil {
		return nil, err
	}
	var all []Comparison
	for i, path := range others {
		other, err := readRun(path, names[i+1])
		if err != nil {
			return nil, err
		}
		c, err := compare(base, other, anyway)
		if err != nil {
			return nil, err
		}
		if contaminated != nil {
			c.ByContamination = parts(base, other, contaminated)
		}
		all = append(all, c)
	}
	adjustAll(all)
	return all, nil
}

// apart names folders by the ends of their paths, each as long as it takes to
// tell it from the others.
func apart(folders []string) []string {
	names := make([]string, len(folders))
	for i, folder := range folders {
		for n := 1; ; n++ {
			names[i] = end(folder, n)
			alike := func(other string) bool {
				return filepath.Clean(other) != filepath.Clean(folder) && end(other, n) == names[i]
			}
			if !slices.ContainsFunc(folders, alike) {
				break
			}
		}
	}
	return names
}

// end is the last n parts of a path.
func end(folder string, n int) string {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(folder)), "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

// parts compares two runs on contaminated and on clean problems.
func parts(a, b *measured, contaminated map[string]bool) map[string]*Comparison {
	all := map[string]*Comparison{}
	for name, want := range map[string]bool{"clean": false, "contaminated": true} {
		c := paired(a, b, func(id string) bool { return contaminated[id] == want })
		if c.Problems > 0 {
			all[name] = &c
		}
	}
	return all
}

// adjustAll adjusts the p-values of comparisons made at once, of each part of
// the problems for itself.
func adjustAll(all []Comparison) {
	families := map[string][]*Comparison{}
	for i := range all {
		families[""] = append(families[""], &all[i])
		for name, part := range all[i].ByContamination {
			families[name] = append(families[name], part)
		}
	}
	for _, family := range families {
		p := make([]float64, len(family))
		for i, c := range family {
			p[i] = c.McNemar.P
		}
		for i, h := range stats.Holm(p) {
			family[i].HolmP = h
		}
	}
}

// measured is a run's results by problem.
type measured struct {
	name  string
	spec  Spec
	ids   []string
	rates map[string]float64
	first map[string]bool
}

func readRun(folder, name string) (*measured, error) {
	spec, err := ReadSpec(folder)
	if err != nil {
		return nil, err
	}
	m := &measured{name: name, spec: spec, rates: map[string]float64{}, first: map[string]bool{}}
	counts := map[string]int{}
	err = EachResult(folder, func(r *rollout.Result) error {
		if counts[r.ProblemID] == 0 {
			m.ids = append(m.ids, r.ProblemID)
		}
		counts[r.ProblemID]++
		won := r.Success != nil && *r.Success
		if won {
			m.rates[r.ProblemID]++
		}
		if r.Sample == 0 {
			m.first[r.ProblemID] = won
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id, n := range counts {
		m.rates[id] /= float64(n)
	}
	return m, nil
}

// EachResult reads the results of a finished run, in order.
func EachResult(folder string, do func(*rollout.Result) error) (err error) {
	if _, err = ReadFinished(folder); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(folder, resultsFile))
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for line, err := range arena.Lines(f, maxResultLine) {
		if err != nil {
			return fmt.Errorf("read results of %s: %w", folder, err)
		}
		r := &rollout.Result{}
		if err := json.Unmarshal(line.Text, r); err != nil {
			return fmt.Errorf("read results of %s: line %d: %w", folder, line.Number, err)
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// maxResultLine bounds a result, which repeats ids that a model made up.
const maxResultLine = 64 << 20

func compare(a, b *measured, anyway bool) (Comparison, error) {
	differs := slices.DeleteFunc(a.spec.Differences(b.spec), func(d string) bool {
		field, _, _ := strings.Cut(d, ":")
		return !slices.Contains(mustEqual, field)
	})
	if len(differs) > 0 && !anyway {
		return Comparison{}, fmt.Errorf("compare %s with %s: %w: %s", a.name, b.name, ErrIncomparable, strings.Join(differs, "; "))
	}
	c := paired(a, b, func(string) bool { return true })
	c.Differs = differs
	if c.Problems == 0 {
		return c, fmt.Errorf("compare %s with %s: %w: no problem is in both", a.name, b.name, ErrIncomparable)
	}
	return c, nil
}

// paired compares two runs on those problems of both that are wanted. Without
// any, only the names are filled in.
func paired(a, b *measured, wanted func(id string) bool) Comparison {
	c := Comparison{A: a.name, B: b.name}
	var left, right, deltas []float64
	for _, id := range a.ids {
		if _, both := b.first[id]; !both || !wanted(id) {
			continue
		}
		left, right = append(left, a.rates[id]), append(right, b.rates[id])
		deltas = append(deltas, b.rates[id]-a.rates[id])
		if a.first[id] && !b.first[id] {
			c.McNemar.B++
		} else if b.first[id] && !a.first[id] {
			c.McNemar.C++
		}
	}
	if len(deltas) == 0 {
		return c
	}
	c.McNemar.P = stats.McNemar(c.McNemar.B, c.McNemar.C)
	c.AMean, c.BMean, c.Difference = stats.Mean(left), stats.Mean(right), stats.Mean(deltas)
	c.spread(deltas)
	return c
}

// spread fills in what says how sure the difference is.
func (c *Comparison) spread(deltas []float64) {
	c.Problems = len(deltas)
	c.Bootstrap95 = bootstrapped(deltas)
	se := stats.ClusteredSE(deltas)
	if c.SEClustered = known(se); c.SEClustered == nil {
		return
	}
	ci := stats.T95(c.Difference, se, len(deltas))
	c.CI95 = &[2]float64{ci.Low, ci.High}
	c.MDE80 = known(stats.MDE80(se))
	c.Power80Problems = stats.ProblemsFor80(c.Difference, se, len(deltas))
}

// String is the comparison for people.
func (c Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %.4f, %s %.4f on %d problems: difference %+.4f", c.A, c.AMean, c.B, c.BMean, c.Problems, c.Difference)
	if c.CI95 != nil {
		fmt.Fprintf(&b, " (95 %%: %+.4f to %+.4f)", c.CI95[0], c.CI95[1])
	}
	fmt.Fprintf(&b, "\n  McNemar on sample 0: only %s %d, only %s %d, p %.4g (Holm %.4g)\n", c.A, c.McNemar.B, c.B, c.McNemar.C, c.McNemar.P, c.HolmP)
	if c.MDE80 != nil {
		fmt.Fprintf(&b, "  smallest difference shown with 80 %% power: %.4f", *c.MDE80)
		if c.Power80Problems > 0 {
			fmt.Fprintf(&b, "; to show this one takes %d problems", c.Power80Problems)
		}
		b.WriteByte('\n')
	}
	for _, d := range c.Differs {
		fmt.Fprintf(&b, "  differs: %s\n", d)
	}
	for _, name := range slices.Sorted(maps.Keys(c.ByContamination)) {
		fmt.Fprintf(&b, "%s problems: %s", name, c.ByContamination[name])
	}
	return b.String()
}
