package filters_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestAgentsOfOtherAuthors holds the axis to real trajectories, to the subnet's
// reference client and to published programs: of honest attempts at most 1 % are
// called scripted, 3 % of one source, and 15 % unknown; no program's is called
// agentic.
func TestAgentsOfOtherAuthors(t *testing.T) {
	t.Parallel()
	honest := map[arena.Axis]int{}
	programs := map[arena.Axis]int{}
	sources := map[string]map[arena.Axis]int{}
	for _, j := range judgeDay(t, readDay(t, longtest.Shared(t, "data/axis"))) {
		if sources[j.family] == nil {
			sources[j.family] = map[arena.Axis]int{}
		}
		sources[j.family][j.after.Axis]++
		if j.agentic {
			honest[j.after.Axis]++
		} else {
			programs[j.after.Axis]++
		}
		if !j.agentic && j.after.Axis == arena.AxisAgentic {
			t.Errorf("%s %s: a program is called agentic", j.family, j.trace.ID)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		t.Logf("%-18s %v", name, sources[name])
	}
	t.Logf("honest %v, programs %v", honest, programs)
	atMost := func(family string, n map[arena.Axis]int, axis arena.Axis, percent int) {
		if total := n[arena.AxisAgentic] + n[arena.AxisScripted] + n[arena.AxisUnknown]; 100*n[axis] > percent*total {
			t.Errorf("%s: %d of %d are %s, want at most %d %%", family, n[axis], total, axis, percent)
		}
	}
	atMost("honest", honest, arena.AxisScripted, 1)
	atMost("honest", honest, arena.AxisUnknown, 15)
	for _, name := range []string{"fever-native", "fever-text", "hotpot-native", "hotpot-text", "reference-cite", "reference-first",
		"tau-mapped", "toolbench-mapped", "webshop-merged", "webshop-native", "webshop-silent", "webshop-text"} {
		atMost(name, sources[name], arena.AxisScripted, 3)
	}
}
