package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/pipeline"
)

// TestGroupIsTheSameWithinAnyMemory groups the attempts of several days with the filter's samples in
// memory and in a file.
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
	var plans []string
	for _, limit := range []int{1 << 30, 50_000, 1} {
		if err := pipeline.GroupHeads(t.Context(), r, heads, copies, limit); err != nil {
			t.Fatal(err)
		}
		plans = append(plans, readFile(t, filepath.Join(r.Work, "plan.json")))
	}
	if !strings.Contains(plans[0], `"h":`) {
		t.Error("no proof holds for any attempt: the test shows little")
	}
	for _, plan := range plans[1:] {
		if plan != plans[0] {
			t.Error("another plan where samples are in a file")
		}
	}
}
