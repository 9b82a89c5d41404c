package slicesx_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// TestSortLikeStandardLibrary compares both functions with those of the standard library on
// items of which many are equal under the comparison, so that their order shows the algorithm.
func TestSortLikeStandardLibrary(t *testing.T) {
	t.Parallel()

	type item struct {
		key   int
		place int
	}
	byKey := func(a, b item) int { return cmp.Compare(a.key, b.key) }
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		items := make([]item, n)
		for i := range items {
			items[i] = item{random.IntN(1 + n/4), i}
		}

		want := slices.Clone(items)
		got := slices.Clone(items)
		slices.SortFunc(want, byKey)
		slicesx.SortFunc(got, byKey)
		if !slices.Equal(got, want) {
			t.Fatalf("SortFunc of %d items differs from that of slices", n)
		}

		want = slices.Clone(items)
		got = items
		slices.SortStableFunc(want, byKey)
		slicesx.SortStableFunc(got, byKey)
		if !slices.Equal(got, want) {
			t.Fatalf("SortStableFunc of %d items differs from that of slices", n)
		}
	}
}
