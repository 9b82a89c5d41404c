// Package comparison says how runs on the same problems differ, and how sure that is.
// What was not scored is in no rate: a server that failed makes no model worse.
package comparison

import (
	"errors"
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/student"
)

// Comparison is the comparison of two runs on the same problems.
type Comparison struct {
	A string `json:"a"`
	B string `json:"b"`
	// ACoverage and BCoverage are the shares of the rollouts that were scored.
	ACoverage float64 `json:"a_coverage"`
	BCoverage float64 `json:"b_coverage"`
	Part
	// McNemar is the exact test of single samples; null if a run has more than one sample of each
	// problem.
	McNemar *McNemar `json:"mcnemar"`
	// Power is the probability that the test of P detects a true difference, for differences of
	// 0.02, 0.05 and 0.1.
	Power []Power `json:"power,omitempty"`
	// Equivalence is the test of whether the difference is within a margin; null if no margin was
	// set.
	Equivalence *Equivalence `json:"equivalence,omitempty"`
	// PassAt compares pass@k on the problems of which both runs have k scored samples, by name such
	// as "pass@4".
	PassAt map[string]*Part `json:"pass_at,omitempty"`
	// Won are the problems that b solves more often than a, Lost less often.
	Won  []Problem `json:"won"`
	Lost []Problem `json:"lost"`
	// Differs names the fields in which the runs' settings differ, where the caller
	// allowed them to.
	Differs    []string         `json:"differs,omitempty"`
	ByCategory map[string]*Part `json:"by_category"`
	// ByContamination has the parts "clean" and "contaminated", each if it has a problem and
	// contamination was checked.
	ByContamination map[string]*Part `json:"by_contamination,omitempty"`
	ARun            *Run             `json:"a_run"`
	BRun            *Run             `json:"b_run"`

	shared pairing
}

// Compared returns the ids of the problems that both runs were scored on.
func (c Comparison) Compared() []string {
	return slicesx.Map(c.shared, func(p pair) string {
		return p.ID
	})
}

// Part compares two runs on problems that both were scored on. Each problem counts by its rate over
// scored samples. SEClustered, CI95 and MDE80 are null if the problems cannot show them, for
// example if there is only one.
type Part struct {
	Problems int `json:"problems"`
	// Groups counts the groups of problems, if there are fewer of them.
	Groups int     `json:"groups,omitempty"`
	AMean  float64 `json:"a_mean"`
	BMean  float64 `json:"b_mean"`
	// Difference is b - a, SEClustered its standard error over problems.
	Difference  float64     `json:"difference"`
	SEClustered *float64    `json:"se_clustered"`
	CI95        *[2]float64 `json:"ci95"`
	// P is the p-value of the paired test over all scored samples, clustered by problem. HolmP is P
	// adjusted for the tests made at the same time, by Holm's method: separately for the totals,
	// the categories, the contamination parts and pass@k.
	P     float64 `json:"p"`
	HolmP float64 `json:"holm_p"`
	// MDE80 is the true difference that this test detects with a probability of 80 %.
	MDE80 *float64 `json:"mde80"`
	// Differing counts the problems whose rates differ. The exact test counts them, or their groups.
	Differing int `json:"differing_problems"`
}

// McNemar is the exact test. B counts the problems that only a solves, C those that only b solves.
type McNemar struct {
	B int     `json:"b"`
	C int     `json:"c"`
	P float64 `json:"p"`
}

// Power is the probability of detecting a true difference of the given size.
type Power struct {
	Difference float64 `json:"difference"`
	Power      float64 `json:"power"`
}

// Equivalence is the test of whether the difference is within a margin. P is the p-value of two
// one-sided tests, null if the differences do not vary. Shown reports whether P is at most 0.05.
type Equivalence struct {
	Margin float64  `json:"margin"`
	P      *float64 `json:"p"`
	Shown  bool     `json:"shown"`
}

// Problem is a problem on which two runs differ.
type Problem struct {
	ID       string  `json:"problem_id"`
	Category string  `json:"category"`
	A        float64 `json:"a_rate"`
	B        float64 `json:"b_rate"`
}

// Options are what is compared, and what is rejected.
type Options struct {
	// Anyway compares runs with different settings as well, on the problems that both have.
	Anyway bool
	// MinCoverage is the share of the rollouts of each run that must be scored.
	MinCoverage float64
	// Series compares each run with the one before instead of the first.
	Series bool
	// Margin is the difference that does not matter; 0 means no equivalence test.
	Margin float64
	// Contaminated, if not nil, holds problems to compare separately.
	Contaminated map[string]bool
}

// ErrIncomparable is in the chain of the error for runs that may not be compared,
// ErrCoverage for those of which too little was scored.
var (
	ErrIncomparable = errors.New("the runs are not comparable")
	ErrCoverage     = errors.New("too little was scored")
)

// Compare compares the first run with each of the others or, for a series, each with the next.
func Compare(folders []string, o Options) (comparisons []Comparison, _ error) {
	var base *Run
	for i, folder := range folders {
		r, err := read(folder)
		if err != nil {
			return nil, err
		}
		if s := r.Summary; s.Coverage < o.MinCoverage || s.Scored == 0 {
			return nil, fmt.Errorf(
				"compare %s: %w: %d of %d rollouts, coverage %.4f is below %.4f",
				r.Name,
				ErrCoverage,
				s.Scored,
				s.Samples,
				s.Coverage,
				o.MinCoverage,
			)
		}
		if r.Summary.NoRate != "" {
			return nil, fmt.Errorf("compare %s: %w: %s", r.Name, ErrCoverage, r.Summary.NoRate)
		}
		if i == 0 {
			base = r
			continue
		}
		c, err := compare(base, r, o)
		if err != nil {
			return nil, err
		}
		comparisons = append(comparisons, c)
		if o.Series {
			base = r
		}
	}
	adjust(comparisons)
	return comparisons, nil
}

func compare(a, b *Run, o Options) (Comparison, error) {
	differs := a.differences(b)
	if len(differs) > 0 && !o.Anyway {
		return Comparison{}, fmt.Errorf(
			"compare %s with %s: %w: %s",
			a.Name,
			b.Name,
			ErrIncomparable,
			strings.Join(differs, "; "),
		)
	}
	shared := pairs(a, b)
	if len(shared) == 0 {
		return Comparison{}, fmt.Errorf("compare %s with %s: %w: no problem was scored in both", a.Name, b.Name, ErrIncomparable)
	}
	c := Comparison{
		shared: shared, A: a.Name, B: b.Name, ACoverage: a.Summary.Coverage, BCoverage: b.Summary.Coverage, Differs: differs, ARun: a, BRun: b,
		Won: []Problem{}, Lost: []Problem{}, ByCategory: split(shared, a.groups, func(p pair) string {
			return p.Category
		}), PassAt: passAt(shared, a.groups),
	}
	total := shared.paired(a.groups)
	c.Part = part(shared, total)
	c.certainty(total, o.Margin)
	c.addDiffering(shared)
	if a.spec.Samples == 1 && b.spec.Samples == 1 && total.Groups == total.Problems && !a.graded && !b.graded {
		c.McNemar = &McNemar{len(c.Lost), len(c.Won), stats.McNemar(len(c.Lost), len(c.Won))}
	}
	if o.Contaminated != nil {
		c.ByContamination = split(shared, a.groups, func(p pair) string {
			return evaluation.ContaminationPart(o.Contaminated[p.ID])
		})
	}
	return c, nil
}

// addDiffering adds the problems at which two runs have different success rates: to c.Won if the
// rate of run b is higher, otherwise to c.Lost.
func (c *Comparison) addDiffering(shared pairing) {
	for _, p := range shared {
		if p.B > p.A {
			c.Won = append(c.Won, p.Problem)
		} else if p.B < p.A {
			c.Lost = append(c.Lost, p.Problem)
		}
	}
}

func (c *Comparison) certainty(total stats.Paired, margin float64) {
	for _, difference := range []float64{0.02, 0.05, 0.1} {
		if p := stats.FiniteOrNil(total.Power(difference)); p != nil {
			c.Power = append(c.Power, Power{difference, *p})
		}
	}
	if margin > 0 {
		c.Equivalence = &Equivalence{
			Margin: margin,
			P:      stats.FiniteOrNil(total.Equivalent(margin)),
		}
		c.Equivalence.Shown = c.Equivalence.P != nil && *c.Equivalence.P <= 0.05
	}
}

type pair struct {
	Problem
	a, b tries
}

// tries counts, for one run and one problem, the samples that were scored (scored) and the
// successes among them (won).
type tries struct{ won, scored int }

type pairing []pair

func pairs(a, b *Run) pairing {
	others := map[string]*student.ProblemResult{}
	for _, p := range b.problems {
		others[p.ProblemID] = p
	}
	return slicesx.FilterMap(a.problems, func(x *student.ProblemResult) (pair, bool) {
		y := others[x.ProblemID]
		if y == nil || x.Rate == nil || y.Rate == nil {
			return pair{}, false
		}
		return pair{Problem{x.ProblemID, string(x.Category), *x.Rate, *y.Rate}, tries{x.Successes, x.Scored}, tries{y.Successes, y.Scored}}, true
	})
}

func (pairs pairing) paired(groups map[string]int) stats.Paired {
	samplesA := 0
	samplesB := 0
	for _, p := range pairs {
		samplesA += p.a.scored
		samplesB += p.b.scored
	}
	n := float64(len(pairs))
	a := slicesx.Map(pairs, func(p pair) float64 { return p.A })
	b := slicesx.Map(pairs, func(p pair) float64 { return p.B })
	return stats.NewPaired(a, b, float64(samplesA)/n, float64(samplesB)/n, pairs.groupsOf(groups))
}

// groupsOf returns the group number of each problem in pairs. It returns nil if each problem is a
// group of its own.
func (pairs pairing) groupsOf(groups map[string]int) []int {
	if groups == nil {
		return nil
	}
	return slicesx.Map(pairs, func(p pair) int {
		return groups[p.ID]
	})
}

// passAt compares two runs by pass@k, the probability that at least one of k samples succeeds, for
// k = 2, 4 and 8. Each k is compared on the problems of which both runs have at least k scored
// samples, and has no entry if there is no such problem.
func passAt(pairs pairing, groups map[string]int) map[string]*Part {
	parts := map[string]*Part{}
	for _, k := range []int{2, 4, 8} {
		enough := slicesx.FilterMap(pairs, func(p pair) (pair, bool) {
			at := p
			at.A = stats.PassAtK(p.a.scored, p.a.won, k)
			at.B = stats.PassAtK(p.b.scored, p.b.won, k)
			return at, min(p.a.scored, p.b.scored) >= k
		})
		if len(enough) > 0 {
			parts[fmt.Sprintf("pass@%d", k)] = new(part(enough, pairing(enough).paired(groups)))
		}
	}
	return parts
}

func part(pairs pairing, total stats.Paired) Part {
	p := Part{
		Problems: total.Problems, AMean: total.A, BMean: total.B, Difference: total.Difference, SEClustered: stats.FiniteOrNil(total.SE),
		P: total.P(), MDE80: stats.FiniteOrNil(total.MDE80()),
	}
	if total.Groups < total.Problems {
		p.Groups = total.Groups
	}
	if i := total.Interval(); stats.FiniteOrNil(i.Low) != nil {
		p.CI95 = &[2]float64{i.Low, i.High}
	}
	p.Differing = slicesx.CountFunc(pairs, func(one *pair) bool {
		return one.A != one.B
	})
	return p
}

func split(shared pairing, groups map[string]int, key func(pair) string) map[string]*Part {
	kinds := map[string]pairing{}
	parts := map[string]*Part{}
	for _, p := range shared {
		kinds[key(p)] = append(kinds[key(p)], p)
	}
	for name, kind := range kinds {
		parts[name] = new(part(kind, kind.paired(groups)))
	}
	return parts
}

func adjust(comparisons []Comparison) {
	var families [4][]*Part
	for i := range comparisons {
		families[0] = append(families[0], &comparisons[i].Part)
		families[1] = append(families[1], sorted(comparisons[i].ByCategory)...)
		families[2] = append(families[2], sorted(comparisons[i].ByContamination)...)
		families[3] = append(families[3], sorted(comparisons[i].PassAt)...)
	}
	for _, family := range families {
		p := slicesx.Map(family, func(c *Part) float64 {
			return c.P
		})
		for i, h := range stats.Holm(p) {
			family[i].HolmP = h
		}
	}
}

func sorted(parts map[string]*Part) []*Part {
	return slicesx.Map(slicesx.SortedKeys(parts), func(name string) *Part {
		return parts[name]
	})
}
