// Package sample draws attempts of a day for people to label. From the labels it estimates the
// precision and recall of filter, judge and guard on that day.
package sample

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Item is an attempt of a day with the results of filter, judge and guard.
type Item struct {
	Run     string `json:"eval_run_id"`
	Problem string `json:"problem_id"`
	// Axis is the filter's result: agentic, scripted or unknown.
	Axis string `json:"axis"`
	// Score is the judge's grade, nil if there is none.
	Score *float64 `json:"score"`
	// OneIn is the N of an attempt that was drawn for grading from N that cannot become rows, nil
	// for all others.
	OneIn *int64 `json:"one_in,omitempty"`
	// Leak reports whether the guard found a leak of a protected problem. It is nil if the guard
	// did not check the attempt.
	Leak *bool `json:"leak"`
	// Probability is the probability with which the attempt is sampled, from MinProbability to
	// 1.
	Probability float64 `json:"probability"`
}

// ID returns the run and the problem of the attempt, separated by a slash.
func (it *Item) ID() string { return it.Run + "/" + it.Problem }

// stratum returns the stratum from which an attempt is sampled for labelling: a text with what
// filter, judge and guard found on it, such as "agentic 0.5 false". All attempts with the same text
// are sampled with the same probability. The text ends in " drawn" if the attempt cannot become a
// training row and was graded only because it was drawn at random from such attempts.
func (it *Item) stratum() string {
	score := "-"
	if it.Score != nil {
		score = fmt.Sprint(*it.Score)
	}
	leak := "-"
	if it.Leak != nil {
		leak = fmt.Sprint(*it.Leak)
	}
	stratum := it.Axis + " " + score + " " + leak
	if it.OneIn != nil {
		stratum += " drawn"
	}
	return stratum
}

// Draw returns a sample of n items, each with its probability, in an order that does not depend on
// the results of filter, judge and guard. The number of items from a stratum is proportional to the
// square root of its size, and at least two, so that rare results are estimated about as precisely
// as common ones. The sample has all items if there are at most n, and more than n if two of each
// stratum are more. It depends on items and seed, not on the order of the items.
func Draw(items []Item, n int, seed uint64) []Item {
	strata := map[string][]Item{}
	for _, it := range items {
		strata[it.stratum()] = append(strata[it.stratum()], it)
	}
	names := slicesx.SortedKeys(strata)
	var sample []Item
	for i, count := range allocate(names, strata, n) {
		stratum := strata[names[i]]
		shuffle(stratum, seed)
		for _, it := range stratum[:count] {
			it.Probability = float64(count) / float64(len(stratum))
			sample = append(sample, it)
		}
	}
	shuffle(sample, seed+1)
	return sample
}

// minPerStratum is the minimum number of items sampled from a stratum. A single item would have
// no variance.
const minPerStratum = 2

// MinProbability is a lower bound of the sampling probability of every attempt.
const MinProbability = 1e-9

// allocate divides n among the strata and returns the number of items of each stratum, in the order
// of names. Each stratum gets minPerStratum, or all its items if there are fewer, even if these are
// more than n together. The remaining items are added one by one, each to the stratum with the
// largest quotient of the square root of its size and its number of items plus one (Jefferson's
// method).
func allocate(
	names []string,
	strata map[string][]Item,
	n int,
) []int {
	counts := make([]int, len(names))
	roots := make([]float64, len(names))
	for i, name := range names {
		counts[i] = min(minPerStratum, len(strata[name]))
		n -= counts[i]
		roots[i] = math.Sqrt(float64(len(strata[name])))
	}
	for ; n > 0; n-- {
		best := -1
		highest := 0.0
		for i, name := range names {
			priority := roots[i] / float64(counts[i]+1)
			if counts[i] < len(strata[name]) && priority > highest {
				best = i
				highest = priority
			}
		}
		if best < 0 {
			break
		}
		counts[best]++
	}
	return counts
}

// shuffle sorts items in a pseudo-random order that depends only on their ids and the seed.
func shuffle(items []Item, seed uint64) {
	rank := func(it *Item) uint64 {
		h := fnv.New64a()
		h.Write([]byte(it.ID()))
		return dice.New(seed, h.Sum64()).Next()
	}
	slicesx.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.ID(), b.ID()))
	})
}
