package sample

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Answer is a person's labels of an attempt. A nil field means that there is no such label.
type Answer struct {
	Agentic *bool    `json:"agentic"`
	Score   *float64 `json:"score"`
	Leak    *bool    `json:"leak"`
}

// Figure is an estimated share of all attempts of a day. Each label is weighted by 1 over the
// probability with which its attempt was sampled.
type Figure struct {
	Instrument string
	Measure    string
	// N is the number of labels that count for the share. Share is nil if there are none.
	Share *float64
	Low   float64
	High  float64
	N     int
}

const instrumentJudge = "judge"

// measure is a share that is estimated from people's labels, such as the precision of the filter.
// counts selects the attempts of which the share is taken (the denominator), hits those of them
// that have the property (the numerator).
type measure struct {
	instrument, name string
	counts, hits     func(*Item, *Answer) bool
}

// Figures computes estimates of the precision and recall of filter, judge and guard from a person's labels.
func Figures(items []Item, answers map[string]Answer) []Figure {
	figures := make([]Figure, 0, len(measures))
	for _, m := range measures {
		figures = append(figures, m.figure(items, answers))
	}
	return figures
}

func (m *measure) figure(items []Item, answers map[string]Answer) Figure {
	f := Figure{Instrument: m.instrument, Measure: m.name}
	strata := map[string][]label{}
	for i := range items {
		item := &items[i]
		a, ok := answers[item.ID()]
		if !ok || a == (Answer{}) {
			continue
		}
		l := label{
			weight: m.weight(item),
			counts: m.counts(item, &a),
		}
		if l.counts {
			f.N++
			l.hits = m.hits(item, &a)
		}
		strata[item.stratum()] = append(strata[item.stratum()], l)
	}
	rate, interval := estimateShare(strata)
	f.Share = stats.FiniteOrNil(rate)
	f.Low = interval.Low
	f.High = interval.High
	return f
}

// weight returns the number of attempts of the day that a labelled one represents.
func (m *measure) weight(it *Item) float64 {
	if m.instrument == instrumentJudge && it.OneIn != nil {
		return float64(*it.OneIn) / it.Probability
	}
	return 1 / it.Probability
}

// label is a person's label of one attempt, reduced to what is needed to estimate a share. weight
// is the number of attempts that the labelled one represents. counts reports whether the attempt is
// in the denominator of the share, hits whether it is in the numerator.
type label struct {
	weight       float64
	counts, hits bool
}

// residual returns the deviation of a label from a share: 1 - rate if it is in the numerator,
// -rate if it is in the denominator only, and 0 otherwise.
func (l label) residual(rate float64) float64 {
	switch {
	case l.hits:
		return 1 - rate
	case l.counts:
		return -rate
	default:
		return 0
	}
}

// estimateShare returns a share, estimated from labels: of the labelled attempts with counts set,
// the share with hits set, each weighted by the number of attempts that it represents. The labels
// are grouped by stratum. It also returns a 95 % interval: Wilson's for an effective number of
// labels, from the linearised variance of a ratio under stratified sampling without replacement
// (Cochran 1977, section 6.11), or, if no label or every label hits, for Kish's effective sample
// size. The share is NaN if no label counts.
func estimateShare(strata map[string][]label) (float64, stats.Interval) {
	var hits, sum, squares float64
	labels := 0
	for _, name := range slicesx.SortedKeys(strata) {
		for _, l := range strata[name] {
			labels++
			if l.counts {
				sum += l.weight
				squares += float64(l.weight * l.weight)
			}
			if l.hits {
				hits += l.weight
			}
		}
	}
	if sum == 0 {
		return math.NaN(), stats.Interval{Low: 0, High: 1}
	}
	rate := hits / sum
	if v := variance(strata, rate) / (sum * sum); v > 0 {
		return rate, stats.WilsonRate(rate, min(rate*(1-rate)/v, float64(labels)))
	}
	return rate, stats.WilsonRate(rate, sum*sum/squares)
}

// variance returns the estimated variance of a total: the sum, over all attempts of the day, of the
// deviations from the share rate (see label.residual). It is estimated from the labels of each
// stratum, and is the numerator's part of the variance of a ratio.
func variance(strata map[string][]label, rate float64) float64 {
	v := 0.0
	for _, name := range slicesx.SortedKeys(strata) {
		labels := strata[name]
		if len(labels) < 2 {
			continue
		}
		n := float64(len(labels))
		size := float64(n * labels[0].weight) // of the stratum
		residuals := slicesx.Map(labels, func(l label) float64 {
			return l.residual(rate)
		})
		v += float64(size * (size - n) / n * stat.Variance(residuals, nil))
	}
	return v
}

// measures are the shares that Figures estimates from people's labels, each with what it describes:
// the filter, the judge or the guard. An example is the precision of "agentic": of the attempts
// that the filter calls agentic, the share that people call so too.
var measures = []measure{
	{"filter", "precision of agentic", onAxis("agentic"), isAgentic(true)},
	{"filter", "recall of agentic", isAgentic(true), onAxis("agentic")},
	{"filter", "precision of scripted", onAxis("scripted"), isAgentic(false)},
	{"filter", "recall of scripted", isAgentic(false), onAxis("scripted")},
	{instrumentJudge, "same grade", isGraded, func(it *Item, a *Answer) bool {
		return *it.Score == *a.Score
	}},
	{instrumentJudge, "grade too high", isGraded, func(it *Item, a *Answer) bool {
		return *it.Score > *a.Score
	}},
	{"guard", "precision of drops", isDropped, isLeak},
	{"guard", "recall of drops", isLeak, isDropped},
}

// onAxis returns a function that selects the attempts that the filter classified as axis (agentic
// or scripted). It selects only those that a person labelled as agentic or not.
func onAxis(axis string) func(*Item, *Answer) bool {
	return func(it *Item, a *Answer) bool {
		return a.Agentic != nil && it.Axis == axis
	}
}

// isAgentic returns a function that selects the attempts that a person labelled as agentic or,
// if want is false, as not agentic.
func isAgentic(want bool) func(*Item, *Answer) bool {
	return func(_ *Item, a *Answer) bool {
		return a.Agentic != nil && *a.Agentic == want
	}
}

func isGraded(it *Item, a *Answer) bool { return it.Score != nil && a.Score != nil }

func isDropped(it *Item, a *Answer) bool {
	return it.Leak != nil && *it.Leak && a.Leak != nil
}

func isLeak(it *Item, a *Answer) bool { return it.Leak != nil && a.Leak != nil && *a.Leak }
