package filters_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/longtest"
)

var update = flag.Bool("update", false, "write golden files")

// atLeast checks that a family reaches 0.95, unless docs/measured/filter.md explains why it cannot.
func atLeast(t *testing.T, judged []judgement) {
	t.Helper()
	explained := map[string]bool{
		"honest all replies cut": true, "puppet shuffles words": true, "honest in loops of code": true,
		"honest drafts and refines": true, "honest outvoted": true, "honest changes its form": true,
		"honest cut log": true, "honest falls back": true,
	}
	for family, r := range rights(judged) {
		if share := float64(r.right) / float64(r.total); share < 0.95 && !explained[family] {
			t.Errorf("%s: %.3f of the axes are right, want 0.95", family, share)
		}
	}
}

type rightOf struct{ right, total int }

func rights(judged []judgement) map[string]rightOf {
	out := map[string]rightOf{}
	for _, j := range judged {
		r := out[j.family]
		r.total++
		if (j.after.Axis == arena.AxisAgentic) == j.agentic {
			r.right++
		}
		out[j.family] = r
	}
	return out
}

// TestFamilyTable holds agents that were written to be hard against the axis and
// keeps the table that docs/measured/filter.md quotes: every family, those that
// weights were set on and those left out.
func TestFamilyTable(t *testing.T) {
	if !longtest.Tests {
		t.Skip("a simulation of many days: go test -tags long")
	}
	t.Parallel()
	set := judgeDay(t, play(setOn))
	leftJudgements := judgeDay(t, play(leftOut))
	atLeast(t, set)
	atLeast(t, leftJudgements)
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %-8s %-9s %4s %10s %11s %15s %6s\n", "family", "weights", "truth", "n", "first pass", "both passes", "95 %", "Brier")
	for _, half := range []struct {
		name   string
		judged []judgement
	}{{"set on", set}, {"left out", leftJudgements}} {
		writeRows(&b, half.name, half.judged)
	}
	writeReliability(&b, leftJudgements)
	golden(t, "families.txt", b.String())
}

// writeReliability compares the claims on left-out families with the right answers; unknown
// attempts claim a half.
func writeReliability(b *strings.Builder, judged []judgement) {
	edges := [...]float64{0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.01}
	fmt.Fprintf(b, "\n%-28s %5s %8s %6s\n", "left out, claim of agentic", "n", "claimed", "true")
	brier := 0.0
	for i, lo := range edges[:len(edges)-1] {
		n := 0
		claimed := 0.0
		actual := 0.0
		for _, j := range judged {
			if p := agenticClaim(j); p >= lo && p < edges[i+1] {
				n, claimed, actual = n+1, claimed+p, actual+truth(j)
				brier += math.Pow(p-truth(j), 2) / float64(len(judged))
			}
		}
		if n > 0 {
			fmt.Fprintf(b, "%.2f to %.2f                 %5d %8.3f %6.3f\n", lo, min(edges[i+1], 1), n, claimed/float64(n), actual/float64(n))
		}
	}
	fmt.Fprintf(b, "Brier %.4f\n", brier)
}

// agenticClaim returns the confidence of the filter that the model decided.
func agenticClaim(j judgement) float64 {
	if j.after.Axis == arena.AxisScripted {
		return 1 - j.after.Confidence
	}
	return j.after.Confidence
}

func writeRows(b *strings.Builder, half string, judged []judgement) {
	byFamily := map[string][]judgement{}
	for _, j := range judged {
		byFamily[j.family] = append(byFamily[j.family], j)
	}
	for _, name := range slices.Sorted(maps.Keys(byFamily)) {
		rows := byFamily[name]
		first := 0
		both := 0
		brier := 0.0
		for _, j := range rows {
			first += right(j.before.Axis, j.agentic)
			both += right(j.after.Axis, j.agentic)
			brier += math.Pow(agenticClaim(j)-truth(j), 2) / float64(len(rows))
		}
		lo, hi := habits.Ratio{Part: both, Whole: len(rows)}.Interval()
		truth := "scripted"
		if rows[0].agentic {
			truth = "agentic"
		}
		fmt.Fprintf(b, "%-28s %-8s %-9s %4d %10.3f %11.3f %7.3f-%6.3f %6.3f\n", name, half, truth, len(rows),
			float64(first)/float64(len(rows)), float64(both)/float64(len(rows)), lo, hi, brier)
	}
}

func right(axis arena.Axis, agentic bool) int {
	if (axis == arena.AxisAgentic) == agentic {
		return 1
	}
	return 0
}

func truth(j judgement) float64 {
	if j.agentic {
		return 1
	}
	return 0
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}
