package pipeline_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// TestGroupIsTheSameForSeveralWorkers compares several numbers of workers, with damaged blocks too: the
// error is that of the first input, though its block is the last that is read.
func TestGroupIsTheSameForSeveralWorkers(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	r := newRun(t, sampleDay, out)
	grouped := func(workers int) (string, error) {
		r.Config.Workers = workers
		_, err := r.Group(t.Context(), 1)
		return readFile(t, filepath.Join(r.Work, "plan.json")), err
	}
	want, err := grouped(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 16} {
		if plan, err := grouped(workers); err != nil || plan != want {
			t.Errorf("%d workers: another plan, or %v", workers, err)
		}
	}
	markers := markersOf(t, r.Work)
	index := filepath.Join(filepath.Dir(markers[0]), "index")
	writeFile(t, index, readFile(t, index)+" ")
	for _, marker := range markers[1:] {
		if err := os.Remove(marker); err != nil {
			t.Fatal(err)
		}
	}
	_, singleErr := grouped(1)
	if singleErr == nil || !strings.Contains(singleErr.Error(), "corrupt") {
		t.Fatalf("one worker: %v", singleErr)
	}
	for range 20 {
		if _, err := grouped(16); err == nil || err.Error() != singleErr.Error() {
			t.Fatalf("16 workers: %v, one: %v", err, singleErr)
		}
	}
}

// markersOf are the markers of blocks in the order of their inputs' content.
func markersOf(t *testing.T, work string) []string {
	t.Helper()
	markers, err := filepath.Glob(filepath.Join(work, "blocks", "*", "done.json"))
	if err != nil || len(markers) < 2 {
		t.Fatalf("%d markers, %v", len(markers), err)
	}
	input := map[string]string{}
	for _, path := range markers {
		var m struct{ Key block.Key }
		if err := corpus.ReadJSON(corpus.Disk{}, path, 1<<20, &m); err != nil {
			t.Fatal(err)
		}
		input[path] = m.Key.Input
	}
	slices.SortFunc(markers, func(a, b string) int { return cmp.Compare(input[a], input[b]) })
	return markers
}
