package gates_test

import (
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/judges/shop/probe"
)

// comparing are the probes that add a sentence which a real thought may contain: a day of such
// thoughts is flagged instead. passing is the number of cases that another probe may raise: words
// after a pasted listing, in its line, cite it, and a short choice repeated twice names more.
var (
	comparing = []string{"made_datum", "made_comparison", "template", "false_comparison", "translated_comparison"}
	passing   = map[string]int{"padding": 4, "said_twice": 2}
)

// TestProbesNeverRaise holds that text which a program adds to an attempt does not raise its score,
// except in as many cases as passing allows and for the probes in comparing. Without the tag long
// it tests every third attempt.
func TestProbesNeverRaise(t *testing.T) {
	t.Parallel()
	var cases []labelled
	for _, set := range sets {
		cases = append(cases, casesOf(t, set)...)
	}
	if longtest.SharedFolder() != "" {
		cases = append(cases, sharedCases(t, longtest.Shared(t, "data/judge"))...)
	}
	before := make([]float64, len(cases))
	for i, c := range cases {
		before[i] = score(c)
	}
	for _, p := range probe.All() {
		var raised []string
		for i, c := range cases {
			if i%longtest.Pick(1, 3) > 0 {
				continue
			}
			if *gates.Judge(c.trace, p.Apply(c.dialogue)).Score > before[i] {
				raised = append(raised, c.name)
			}
		}
		t.Logf("%-22s raises %d of %d", p.Name, len(raised), len(cases))
		if len(raised) > passing[p.Name] && !slices.Contains(comparing, p.Name) {
			t.Errorf("%s raises %q", p.Name, raised)
		}
	}
}
