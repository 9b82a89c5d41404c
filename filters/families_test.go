package filters_test

import (
	"testing"

	"github.com/trajectory-arena/arena"
)

// TestFamilies holds agents that were written to be hard against the axis. A
// family must reach 0.95, unless docs/filter.md says why it cannot.
func TestFamilies(t *testing.T) {
	t.Parallel()
	judged := judgeDay(t, playAll(1))
	report(t, judged)
	right, all := map[string]int{}, map[string]int{}
	for _, j := range judged {
		all[j.family]++
		if (j.after.Axis == arena.AxisAgentic) == j.agentic {
			right[j.family]++
		}
	}
	for family, n := range all {
		if share := float64(right[family]) / float64(n); share < 0.95 {
			t.Errorf("%s: %.3f of the axes are right, want 0.95", family, share)
		}
	}
}
