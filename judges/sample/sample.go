// Package sample draws attempts of a day for people to label, and says from their
// labels how right filter, judge and guard are on that day.
package sample

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/dice"
)

// Item is an attempt of a day with what the instruments say of it.
type Item struct {
	Run     string `json:"eval_run_id"`
	Problem string `json:"problem_id"`
	// Axis is the filter's answer: agentic, scripted or unknown.
	Axis string `json:"axis"`
	// Score is the judge's grade; nil where it gave none.
	Score *float64 `json:"score"`
	// Leak reports whether the guard held the attempt against a protected problem;
	// nil where it was not asked.
	Leak *bool `json:"leak"`
	// Probability is that of being drawn, from LeastProbability to 1.
	Probability float64 `json:"probability"`
}

// ID names the attempt: run and problem.
func (it *Item) ID() string { return it.Run + "/" + it.Problem }

// stratum is what the instruments say, in a word: attempts of which they say the
// same are drawn with the same probability.
func (it *Item) stratum() string {
	score, leak := "-", "-"
	if it.Score != nil {
		score = fmt.Sprint(*it.Score)
	}
	if it.Leak != nil {
		leak = fmt.Sprint(*it.Leak)
	}
	return it.Axis + " " + score + " " + leak
}

// Draw draws n of the items at most, each with its probability, in an order that
// says nothing of the instruments' answers. Of each stratum as many are drawn as
// the square root of its size tells, and two at least: rare answers are as much in
// doubt as common ones. The same items and seed give the same sample, whatever
// their order.
func Draw(items []Item, n int, seed uint64) []Item {
	strata := map[string][]Item{}
	for _, it := range items {
		strata[it.stratum()] = append(strata[it.stratum()], it)
	}
	names := slices.Sorted(maps.Keys(strata))
	var drawn []Item
	for i, k := range allot(names, strata, n) {
		all := strata[names[i]]
		shuffle(all, seed)
		for _, it := range all[:k] {
			it.Probability = float64(k) / float64(len(all))
			drawn = append(drawn, it)
		}
	}
	shuffle(drawn, seed+1)
	return drawn
}

// leastDrawn is how many of a stratum are drawn at least: of one nothing is known
// of its spread.
const leastDrawn = 2

// LeastProbability is less than that of any attempt of a day.
const LeastProbability = 1e-9

// allot shares n out among strata, one by one to whichever has the fewest for its size (Webster).
func allot(names []string, strata map[string][]Item, n int) []int {
	counts, roots := make([]int, len(names)), make([]float64, len(names))
	for i, name := range names {
		counts[i] = min(leastDrawn, len(strata[name]))
		n -= counts[i]
		roots[i] = math.Sqrt(float64(len(strata[name])))
	}
	for ; n > 0; n-- {
		best, most := -1, 0.0
		for i, name := range names {
			if lacks := roots[i] / float64(counts[i]+1); counts[i] < len(strata[name]) && lacks > most {
				best, most = i, lacks
			}
		}
		if best < 0 {
			break
		}
		counts[best]++
	}
	return counts
}

func shuffle(items []Item, seed uint64) {
	place := func(it *Item) uint64 {
		h := fnv.New64a()
		h.Write([]byte(it.ID()))
		return dice.New(seed, h.Sum64()).Next()
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), cmp.Compare(a.ID(), b.ID()))
	})
}
