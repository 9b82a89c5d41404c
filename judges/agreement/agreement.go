// Package agreement measures how much judges agree with each other and with labels. The
// statistics are exact agreement, confusion, Cohen's kappa, quadratic-weighted kappa,
// Krippendorff's alpha and bias, each with an interval from a bootstrap over problems. Attempts
// that a judge left unscored are counted, but never get a grade.
package agreement

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Key identifies an attempt or, if Step is not 0, a step of an attempt by its number among the
// model's steps, counted from 1.
type Key struct {
	Run     string `json:"eval_run_id"`
	Problem string `json:"problem_id"`
	Step    int    `json:"-"`
}

// Ratings are the scores of one judge or of one set of labels.
type Ratings struct {
	Name string
	// Scores has an entry for each attempt or step that was read, nil for an unscored one.
	Scores map[Key]*float64
	// Votes has the votes of the panel that judged an attempt, and Agents the models that its agent
	// called. Only lines of a panel have them.
	Votes  map[Key][]arena.Vote
	Agents map[Key][]string
	// Probability has the probability with which an attempt was sampled for labelling. A missing
	// entry means 1.
	Probability map[Key]float64
}

func (r *Ratings) probability(k Key) float64 {
	if p, ok := r.Probability[k]; ok {
		return p
	}
	return 1
}

// Options are the parameters of the bootstrap.
type Options struct {
	// Samples is the number of resamples of the problems.
	Samples int
	Seed    uint64
}

// DefaultOptions returns options with 2,000 resamples. Each end of a 95 % interval then depends
// on 50 of them, and is stable to about two digits with another seed.
func DefaultOptions() Options { return Options{Samples: 2000, Seed: 1} }

// ErrApart is returned by Compare if no two raters have an attempt in common.
var ErrApart = errors.New("they have no attempt in common")

// Compare compares every pair of raters and, if there are more than two, all of them together. A
// pair without a common attempt has N 0. With ErrApart the report has the pairs too.
func Compare(raters []Ratings, opt Options) (Report, error) {
	report := Report{Bootstrap: Bootstrap{
		Samples: opt.Samples,
		Seed:    opt.Seed,
		Cluster: "problem",
	}}
	shared := 0
	for i := range raters {
		r := &raters[i]
		report.Raters = append(report.Raters, countScores(r))
		for j := range raters[:i] {
			p, err := comparePair(&raters[j], r, opt)
			if err != nil {
				return Report{}, fmt.Errorf("compare %s and %s: %w", raters[j].Name, r.Name, err)
			}
			report.Pairs = append(report.Pairs, p)
			shared += p.Shared
		}
	}
	if len(raters) > 1 && shared == 0 {
		return report, fmt.Errorf("compare %s and %s: %w", raters[0].Name, raters[1].Name, ErrApart)
	}
	if len(raters) > 2 {
		panel, err := comparePanel(raters, opt)
		if err != nil {
			return Report{}, fmt.Errorf("compare all raters: %w", err)
		}
		report.Panel = panel
	}
	return report, nil
}

func countScores(r *Ratings) Rater {
	rater := Rater{Name: r.Name, Attempts: len(r.Scores)}
	for _, s := range r.Scores {
		if s == nil {
			rater.Unscored++
		}
	}
	rater.Scored = rater.Attempts - rater.Unscored
	return rater
}

func comparePair(a, b *Ratings, opt Options) (Pair, error) {
	p := Pair{A: a.Name, B: b.Name}
	units := byCluster(a.Scores, func(key Key, x *float64) ([]float64, bool) {
		y, ok := b.Scores[key]
		if !ok {
			p.OnlyA++
			return nil, false
		}
		p.Shared++
		if x == nil {
			p.AUnscored++
		}
		if y == nil {
			p.BUnscored++
		}
		if x == nil || y == nil {
			return nil, false
		}
		p.N++
		return []float64{*x, *y}, true
	})
	p.OnlyB = len(b.Scores) - p.Shared
	p.Coverage = float64(p.N) / float64(max(1, p.Shared))
	scale, err := levels(units)
	if err != nil {
		return p, err
	}
	p.Levels = scale
	clusters := tabulate(units, scale)
	p.Problems = len(clusters)
	p.Confusion = clusters.confusion(len(scale))
	figures := clusters.figures(scale, opt, pairStatistics)
	p.Exact = figures[0]
	p.Kappa = figures[1]
	p.WeightedKappa = figures[2]
	p.Bias = figures[3]
	p.Alpha = Alpha{figures[4], figures[5], figures[6]}
	return p, nil
}

func comparePanel(raters []Ratings, opt Options) (*Panel, error) {
	scores := map[Key][]float64{}
	for i := range raters {
		for key, s := range raters[i].Scores {
			scored := scores[key]
			if s != nil {
				scored = append(scored, *s)
			}
			scores[key] = scored // also for an attempt without any score
		}
	}
	p := &Panel{Attempts: len(scores)}
	units := byCluster(scores, func(_ Key, scored []float64) ([]float64, bool) {
		if len(scored) < 2 {
			return nil, false
		}
		p.N++
		return scored, true
	})
	p.Coverage = float64(p.N) / float64(max(1, p.Attempts))
	scale, err := levels(units)
	if err != nil {
		return nil, err
	}
	figures := tabulate(units, scale).figures(scale, opt, alphas)
	p.Alpha = Alpha{figures[0], figures[1], figures[2]}
	return p, nil
}

// cluster returns the key of the group in which an attempt is resampled: its problem or, if the
// problem is unknown, its run.
func (k Key) cluster() string {
	if k.Problem == "" {
		return "\x00" + k.Run
	}
	return k.Problem
}

// byCluster converts the items of a map and returns them in groups, in a fixed order. A group has
// the items of one problem or, if the problem is unknown, of one run. Items for which convert
// returns false are left out.
func byCluster[V, T any](m map[Key]V, convert func(Key, V) (T, bool)) [][]T {
	keys := slices.Collect(maps.Keys(m))
	slicesx.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(
			cmp.Compare(a.Problem, b.Problem),
			cmp.Compare(a.Run, b.Run),
			cmp.Compare(a.Step, b.Step),
		)
	})
	var clusters [][]T
	last := ""
	for _, key := range keys {
		item, ok := convert(key, m[key])
		if !ok {
			continue
		}
		if cluster := key.cluster(); clusters == nil || cluster != last {
			last = cluster
			clusters = append(clusters, nil)
		}
		clusters[len(clusters)-1] = append(clusters[len(clusters)-1], item)
	}
	return clusters
}
