package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/pipeline"
)

// TestGroupIsTheSameWithinAnyMemory groups the attempts of several days with the records of each round
// in memory and in a file, in one and in several pieces, and by several processes at once.
func TestGroupIsTheSameWithinAnyMemory(t *testing.T) {
	t.Parallel()
	const copies = 4
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	r := newRun(t, sampleDay, out)
	heads := filepath.Join(t.TempDir(), "heads")
	if err := pipeline.WriteHeads(t.Context(), r, heads, copies); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(r.Work, "plan.json")
	want := ""
	for _, tt := range []struct{ pieces, processes, limit int }{
		{1, 1, 1 << 30}, {1, 1, 50_000}, {1, 1, 1}, {2, 1, 1 << 30}, {5, 1, 50_000}, {256, 1, 1 << 30}, {5, 3, 1 << 30}, {2, 4, 50_000},
	} {
		if err := os.Remove(plan); err != nil {
			t.Fatal(err)
		}
		var processes sync.WaitGroup
		for range tt.processes {
			processes.Go(func() {
				if err := pipeline.GroupHeads(t.Context(), newRun(t, sampleDay, out), heads, copies, tt.pieces, tt.limit); err != nil {
					t.Errorf("%+v: %v", tt, err)
				}
			})
		}
		processes.Wait()
		got := readFile(t, plan)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%+v: another plan", tt)
		}
		if pieces, _ := filepath.Glob(filepath.Join(r.Work, "group", "*")); len(pieces) > 0 { // the pattern is valid
			t.Errorf("%+v: left over: %v", tt, pieces)
		}
	}
	if !strings.Contains(want, `"h":`) {
		t.Error("no proof holds for any attempt: the test shows little")
	}
}
