//go:build !race

package filters_test

import (
	"testing"

	"github.com/trajectory-arena/arena/filters"
)

// TestNoAllocationPerStep checks that a kept attempt three times as long needs the same number of
// allocations. It does not run under the race detector, which empties pools at random.
func TestNoAllocationPerStep(t *testing.T) {
	f := newFilter(t)
	for _, style := range []string{"list", "native"} {
		allocs := func(turns int) float64 {
			tr := attemptOf(t, style, turns)
			return testing.AllocsPerRun(50, func() {
				d := filters.Normalise(tr)
				f.Check(tr, &d)
			})
		}
		short := allocs(4)
		long := allocs(12)
		if long > short {
			t.Errorf("%s: %v allocations for 9 steps, %v for 25", style, short, long)
		}
	}
}
