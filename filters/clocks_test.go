package filters_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// skews are the differences between the clock of the model server and that of the shop, in
// milliseconds by the number of the entry.
var skews = map[string]func(n int) int64{
	"behind by 50 ms":           func(int) int64 { return -50 },
	"ahead by 50 ms":            func(int) int64 { return 50 },
	"behind by 3 s":             func(int) int64 { return -3000 },
	"ahead by 3 s":              func(int) int64 { return 3000 },
	"ahead, 40 ms more each":    func(n int) int64 { return int64(40 * n) },
	"behind, 40 ms more each":   func(n int) int64 { return int64(-40 * n) },
	"ahead by a minute and off": func(n int) int64 { return 60_000 - int64(100*n) },
}

// skewed is a trace whose model server has another clock.
func skewed(tr *arena.Trace, offset func(n int) int64) *arena.Trace {
	c := rewrite(tr, func(s string) string { return s })
	n := 0
	for i := range c.Steps {
		for j := range c.Steps[i].Proxy {
			if p := &c.Steps[i].Proxy[j]; strings.HasSuffix(p.Path, "completions") {
				p.AtMS += offset(n)
				n++
			}
		}
	}
	return c
}

// TestOtherClocksChangeNoAuthor holds that if the model server has another clock, at most 1 % of
// the honest attempts of a set are scripted and at most 5 % of the programs' are agentic. It reads
// the labelled day, simulated families, and real trajectories.
func TestOtherClocksChangeNoAuthor(t *testing.T) {
	if !longtest.Tests {
		t.Skip("days under many clocks: go test -tags long")
	}
	t.Parallel()
	sets := map[string][]labelled{"labelled day": readDay(t, longtest.Shared(t, "data/day"))}
	for _, family := range []string{"honest plain", "honest native", "honest commands in brackets", "honest parallel", "replies written afterwards", "narrates"} {
		sets["simulated"] = append(sets["simulated"], playDays(familyNamed(family), many(6000))...)
	}
	for _, l := range readDay(t, longtest.Shared(t, "data/axis")) {
		author, _, _ := strings.Cut(l.family, "-")
		sets[author] = append(sets[author], l)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %-26s %6s %9s %8s %9s %16s\n", "set", "model server's clock", "honest", "scripted", "unknown", "programs", "called agentic")
	for _, set := range []string{"labelled day", "simulated", "webshop", "hotpot", "fever", "tau", "toolbench", "reference", "program"} {
		for _, skew := range append([]string{"true"}, slices.Sorted(maps.Keys(skews))...) {
			honest := map[arena.Axis]int{}
			programs := map[arena.Axis]int{}
			day := make([]labelled, len(sets[set]))
			for i, l := range sets[set] {
				day[i] = l
				if skew != "true" {
					day[i].trace = skewed(l.trace, skews[skew])
				}
			}
			for _, j := range judgeDay(t, day) {
				if j.agentic {
					honest[j.after.Axis]++
				} else {
					programs[j.after.Axis]++
				}
			}
			n := total(honest)
			allPrograms := total(programs)
			fmt.Fprintf(&b, "%-14s %-26s %6d %9d %8d %9d %16d\n", set, skew, n, honest[arena.AxisScripted], honest[arena.AxisUnknown], allPrograms, programs[arena.AxisAgentic])
			if 100*honest[arena.AxisScripted] > n || 20*programs[arena.AxisAgentic] > allPrograms {
				t.Errorf("%s, %s: honest %v, programs %v", set, skew, honest, programs)
			}
		}
	}
	golden(t, "clocks.txt", b.String())
}

func total(n map[arena.Axis]int) int {
	return n[arena.AxisAgentic] + n[arena.AxisScripted] + n[arena.AxisUnknown]
}
