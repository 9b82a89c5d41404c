package index

import "slices"

// best keeps the best hits in a heap whose root is the worst of them.
type best struct {
	limit int
	hits  []Hit
}

// worse orders by score, then by number: of equal scores the lower number is
// the better one.
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.Document > b.Document
}

func (t *best) push(h Hit) {
	if len(t.hits) < t.limit {
		t.hits = append(t.hits, h)
		t.rise(len(t.hits) - 1)
		return
	}
	if worse(t.hits[0], h) {
		t.hits[0] = h
		t.sink()
	}
}

func (t *best) rise(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !worse(t.hits[i], t.hits[parent]) {
			return
		}
		t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
		i = parent
	}
}

func (t *best) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(t.hits) {
			return
		}
		if child+1 < len(t.hits) && worse(t.hits[child+1], t.hits[child]) {
			child++
		}
		if !worse(t.hits[child], t.hits[i]) {
			return
		}
		t.hits[i], t.hits[child] = t.hits[child], t.hits[i]
		i = child
	}
}

// ranked gives a copy of the hits, best first.
func (t *best) ranked() []Hit {
	hits := slices.Clone(t.hits)
	slices.SortFunc(hits, func(a, b Hit) int {
		if worse(b, a) {
			return -1
		}
		return 1
	})
	return hits
}
