package index

import (
	"cmp"
	"slices"
)

// best keeps the best hits: twice as many as are wanted at most, sorted whenever
// there are so many.
type best struct {
	limit int
	hits  []Hit
	// worst is the lowest score of the best once there are enough: what has none higher
	// ranks behind it, since it comes later. No score is below 0.
	worst float32
}

// ranking orders by score, the highest first, then by number: of equal scores the
// lower number is the better one.
func ranking(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
}

// push takes the hits in the order of their numbers.
func (t *best) push(h Hit) {
	if h.Score <= t.worst {
		return
	}
	if t.hits = append(t.hits, h); len(t.hits) >= 2*t.limit {
		t.cut()
		t.worst = t.hits[t.limit-1].Score
	}
}

// cut leaves the best, in their order.
func (t *best) cut() {
	slices.SortFunc(t.hits, ranking)
	t.hits = t.hits[:min(t.limit, len(t.hits))]
}
