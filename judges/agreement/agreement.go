// Package agreement measures how far judges agree with each other and with
// labels: exact agreement, confusion, Cohen's kappa, quadratic-weighted kappa,
// Krippendorff's alpha and bias, each with an interval from a bootstrap over
// problems. Attempts that a judge left unscored are counted, never graded.
package agreement

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Key names an attempt, or a step of one by its place among the model's, from 1.
type Key struct {
	Run     string
	Problem string
	Step    int
}

// Ratings are one judge's answers, or a set of labels.
type Ratings struct {
	Name string
	// Scores has an entry for each attempt or step that was read; nil is
	// unscored.
	Scores map[Key]*float64
	// Drawn are the probabilities with which attempts were drawn to be labelled;
	// one that is missing was sure to be.
	Drawn map[Key]float64
}

func (r *Ratings) drawn(k Key) float64 {
	if p, known := r.Drawn[k]; known {
		return p
	}
	return 1
}

// Options of the bootstrap.
type Options struct {
	// Samples is how many times the problems are drawn again.
	Samples int
	Seed    uint64
}

// DefaultOptions draw 2,000 times: the ends of a 95 % interval then rest on 50
// draws each, and repeat to about two digits under another seed.
func DefaultOptions() Options { return Options{Samples: 2000, Seed: 1} }

// Compare compares every pair of raters, and all together where there are
// more than two.
func Compare(raters []Ratings, opt Options) (Report, error) {
	report := Report{Bootstrap: Bootstrap{Samples: opt.Samples, Seed: opt.Seed, Cluster: "problem"}}
	for i := range raters {
		r := &raters[i]
		rater := Rater{Name: r.Name, Attempts: len(r.Scores)}
		for _, s := range r.Scores {
			if s == nil {
				rater.Unscored++
			}
		}
		rater.Scored = rater.Attempts - rater.Unscored
		report.Raters = append(report.Raters, rater)
		for j := range raters[:i] {
			p, err := comparePair(&raters[j], r, opt)
			if err != nil {
				return Report{}, fmt.Errorf("compare %s and %s: %w", raters[j].Name, r.Name, err)
			}
			report.Pairs = append(report.Pairs, p)
		}
	}
	if len(raters) > 2 {
		var err error
		if report.Panel, err = comparePanel(raters, opt); err != nil {
			return Report{}, fmt.Errorf("compare all raters: %w", err)
		}
	}
	return report, nil
}

func comparePair(a, b *Ratings, opt Options) (Pair, error) {
	p := Pair{A: a.Name, B: b.Name}
	units := byCluster(a.Scores, func(key Key, x *float64) ([]float64, bool) {
		y, shared := b.Scores[key]
		switch {
		case !shared:
			p.OnlyA++
			return nil, false
		case x == nil:
			p.AUnscored++
		}
		if p.Shared++; y == nil {
			p.BUnscored++
		}
		if x == nil || y == nil {
			return nil, false
		}
		p.N++
		return []float64{*x, *y}, true
	})
	p.OnlyB = len(b.Scores) - p.Shared
	if p.Shared == 0 {
		return p, errors.New("they have no attempt in common")
	}
	p.Coverage = float64(p.N) / float64(p.Shared)
	var err error
	if p.Levels, err = levels(units); err != nil {
		return p, err
	}
	clusters := tabulate(units, p.Levels)
	p.Problems = len(clusters)
	p.Confusion = clusters.confusion(len(p.Levels))
	figures := clusters.figures(p.Levels, opt, pairStatistics)
	p.Exact, p.Kappa, p.WeightedKappa, p.Bias = figures[0], figures[1], figures[2], figures[3]
	p.Alpha = Alpha{figures[4], figures[5], figures[6]}
	return p, nil
}

func comparePanel(raters []Ratings, opt Options) (*Panel, error) {
	scores := map[Key][]float64{}
	for i := range raters {
		for key, s := range raters[i].Scores {
			all := scores[key]
			if s != nil {
				all = append(all, *s)
			}
			scores[key] = all
		}
	}
	p := &Panel{Attempts: len(scores)}
	units := byCluster(scores, func(_ Key, all []float64) ([]float64, bool) {
		if len(all) < 2 {
			return nil, false
		}
		p.N++
		return all, true
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

// cluster is what an attempt is drawn with: its problem, or itself where that
// is not known.
func (k Key) cluster() string {
	if k.Problem == "" {
		return "\x00" + k.Run
	}
	return k.Problem
}

// byCluster gives what of makes of each key, where it makes anything, in one order
// and cluster by cluster.
func byCluster[V, T any](m map[Key]V, of func(Key, V) (T, bool)) (all [][]T) {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Step, b.Step))
	})
	last := ""
	for _, key := range keys {
		one, has := of(key, m[key])
		if !has {
			continue
		}
		if cluster := key.cluster(); all == nil || cluster != last {
			last, all = cluster, append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], one)
	}
	return all
}
