package sample

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Answer is what a person says of an attempt; nil where they do not say.
type Answer struct {
	Agentic *bool    `json:"agentic"`
	Score   *float64 `json:"score"`
	Leak    *bool    `json:"leak"`
}

// Figure is a share of the day's attempts, estimated from labels that each weigh 1
// over the probability of being drawn.
type Figure struct {
	Instrument string
	Measure    string
	// Share is nil where no label speaks of it; N counts those that do.
	Share *float64
	Low   float64
	High  float64
	N     int
}

// measure is a share: of the attempts that count, those that hit.
type measure struct {
	instrument, name string
	counts, hits     func(*Item, *Answer) bool
}

// Figures are precision and recall of filter, judge and guard by a person's
// answers, which are by attempt.
func Figures(items []Item, answers map[string]Answer) []Figure {
	out := make([]Figure, 0, len(measures))
	for _, m := range measures {
		f := Figure{Instrument: m.instrument, Measure: m.name}
		strata := map[string][]labelled{}
		for i := range items {
			a, said := answers[items[i].ID()]
			if !said || a == (Answer{}) {
				continue
			}
			l := labelled{weight: 1 / items[i].Probability, counts: m.counts(&items[i], &a)}
			if l.counts {
				f.N++
				l.hits = m.hits(&items[i], &a)
			}
			strata[items[i].stratum()] = append(strata[items[i].stratum()], l)
		}
		rate, interval := share(strata)
		f.Share, f.Low, f.High = stats.FiniteOrNil(rate), interval.Low, interval.High
		out = append(out, f)
	}
	return out
}

// labelled is one label in a share: what it stands for, whether it counts and
// whether it hits.
type labelled struct {
	weight       float64
	counts, hits bool
}

// residual is how far a label lies from a share.
func (l labelled) residual(rate float64) float64 {
	switch {
	case l.hits:
		return 1 - rate
	case l.counts:
		return -rate
	}
	return 0
}

// share is a ratio of weights with its interval: Wilson's for as many equal labels
// as would be as sure. Those are by the linearised variance of a ratio under
// stratified sampling without replacement (Cochran 1977, section 6.11); where no
// label or every label hits, by Kish's count.
func share(strata map[string][]labelled) (float64, stats.Interval) {
	hit, sum, squares, labels := 0.0, 0.0, 0.0, 0
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		for _, l := range strata[name] {
			labels++
			if l.counts {
				sum, squares = sum+l.weight, squares+float64(l.weight*l.weight)
			}
			if l.hits {
				hit += l.weight
			}
		}
	}
	if sum == 0 {
		return math.NaN(), stats.Interval{Low: 0, High: 1}
	}
	rate := hit / sum
	if v := variance(strata, rate) / (sum * sum); v > 0 {
		return rate, stats.WilsonRate(rate, min(rate*(1-rate)/v, float64(labels)))
	}
	return rate, stats.WilsonRate(rate, sum*sum/squares)
}

// variance is that of the sum of residuals over the whole day.
func variance(strata map[string][]labelled, rate float64) (v float64) {
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		all := strata[name]
		n := float64(len(all))
		residuals := slicesx.Map(all, func(l labelled) float64 { return l.residual(rate) })
		if n > 1 {
			whole := float64(n * all[0].weight)
			v += float64(whole * (whole - n) / n * stat.Variance(residuals, nil))
		}
	}
	return v
}

var measures = []measure{
	{"filter", "precision of agentic", calls("agentic"), isAgentic(true)},
	{"filter", "recall of agentic", isAgentic(true), calls("agentic")},
	{"filter", "precision of scripted", calls("scripted"), isAgentic(false)},
	{"filter", "recall of scripted", isAgentic(false), calls("scripted")},
	{"judge", "same grade", bothGrade, func(it *Item, a *Answer) bool { return *it.Score == *a.Score }},
	{"judge", "grade too high", bothGrade, func(it *Item, a *Answer) bool { return *it.Score > *a.Score }},
	{"guard", "precision of drops", dropped, isLeak},
	{"guard", "recall of drops", isLeak, dropped},
}

// calls counts attempts that the filter gives an axis, where a person said one.
func calls(axis string) func(*Item, *Answer) bool {
	return func(it *Item, a *Answer) bool { return a.Agentic != nil && it.Axis == axis }
}

func isAgentic(is bool) func(*Item, *Answer) bool {
	return func(_ *Item, a *Answer) bool { return a.Agentic != nil && *a.Agentic == is }
}

func bothGrade(it *Item, a *Answer) bool { return it.Score != nil && a.Score != nil }

func dropped(it *Item, a *Answer) bool {
	return it.Leak != nil && *it.Leak && a.Leak != nil
}

func isLeak(it *Item, a *Answer) bool { return it.Leak != nil && a.Leak != nil && *a.Leak }
