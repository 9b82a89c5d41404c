package pipeline_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline"
)

// copyDay copies the sample day; rename returns the new name of each run's folder.
func copyDay(t *testing.T, rename func(string) string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(sampleDay)); err != nil {
		t.Fatal(err)
	}
	runs, err := os.ReadDir(filepath.Join(dir, "traces"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		oldPath := filepath.Join(dir, "traces", r.Name())
		newPath := filepath.Join(dir, "traces", rename(r.Name()))
		if oldPath == newPath {
			continue
		}
		if err := os.Rename(oldPath, newPath); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func unchanged(s string) string { return s }

func sameFiles(t *testing.T, label string, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s: %s differs", label, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d files, want %d", label, len(got), len(want))
		}
	}
}

func TestSameBytesForAnyWorkersAndNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	builtSample(t, first)
	want := sums(t, first)
	for _, workers := range longtest.Pick([]int{1, 8}, []int{8}) {
		r := newRun(t, sampleDay, filepath.Join(dir, fmt.Sprint("workers", workers)))
		r.Config.Workers = workers
		build(t, r)
		sameFiles(t, fmt.Sprintf("%d workers", workers), sums(t, r.Out), want)
	}
	renamed := newRun(t, copyDay(t, reverse), filepath.Join(dir, "renamed"))
	build(t, renamed)
	sameFiles(t, "renamed and shuffled files", sums(t, renamed.Out), want)
}

func TestStagesWriteWhatABuildWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fullDir := filepath.Join(dir, "whole")
	builtSample(t, fullDir)
	out := filepath.Join(dir, "stages")
	step := func() *pipeline.Run { return newRun(t, sampleDay, out) }
	ctx := t.Context()
	for i := range 4 {
		if err := step().Map(ctx, pipeline.Shard{Index: i, Count: 4}); err != nil {
			t.Fatalf("map %d: %v", i, err)
		}
	}
	if _, err := step().Group(ctx, 1); err != nil {
		t.Fatalf("group: %v", err)
	}
	for i := range 4 {
		s, err := step().Write(ctx, pipeline.Shard{Index: i, Count: 4})
		if err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		if finished := s != nil; finished != (i == 3) {
			t.Errorf("write %d: finished is %v", i, finished)
		}
	}
	sameFiles(t, "stages", sums(t, out), sums(t, fullDir))
}

func TestWriteRefusesAPlanOfOtherInputs(t *testing.T) {
	t.Parallel()
	r := newRun(t, sampleDay, filepath.Join(t.TempDir(), "corpus"))
	if err := r.Map(t.Context(), pipeline.Unsharded); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Group(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	r.Config.Select.Top = 1
	if _, err := r.Write(t.Context(), pipeline.Unsharded); err == nil || !strings.Contains(err.Error(), "group step") {
		t.Errorf("write with another configuration: %v", err)
	}
}

func TestAChangedInputRedoesItsBlockAlone(t *testing.T) {
	t.Parallel()
	day := copyDay(t, unchanged)
	out := filepath.Join(t.TempDir(), "corpus")
	build(t, newRun(t, day, out))
	file := oneInput(t, day)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// a second gzip member with an empty line changes the file, not the attempts
	if err := os.WriteFile(file, append(b, gzipped(t, "\n")...), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, day, out)
	var mu sync.Mutex
	var reasons []string
	r.Progress = func(e pipeline.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Why != "" {
			reasons = append(reasons, e.Why)
		}
	}
	build(t, r)
	if len(reasons) != 1 || reasons[0] != file+": input_mismatch" {
		t.Errorf("blocks made again: %q, want only %s with input_mismatch", reasons, file)
	}
}

func TestANewThresholdMakesNoBlockAgain(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	r := newRun(t, sampleDay, out)
	r.Config.Select.Top = 1
	r.Judge = nil // a block that is made again would call it
	build(t, r)
}

func TestTwoCopiesOfAnAttemptCountOnce(t *testing.T) {
	t.Parallel()
	day := copyDay(t, unchanged)
	file := oneInput(t, day)
	again := filepath.Join(filepath.Dir(file), "again.jsonl.gz")
	if err := os.Link(file, again); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	twice := newRun(t, day, filepath.Join(dir, "twice"))
	once := filepath.Join(dir, "once")
	a := build(t, twice)
	b := builtSample(t, once)
	extra := a.Funnel[0].In - b.Funnel[0].In
	if got := a.Funnel[0].Dropped["duplicate_attempt"]; got == 0 || got != extra {
		t.Errorf("%d attempts dropped as duplicates, %d are", got, extra)
	}
	for name, sum := range sums(t, once) {
		if strings.HasPrefix(name, "data/") && sums(t, twice.Out)[name] != sum {
			t.Errorf("%s changed by a duplicate file", name)
		}
	}
}

func TestVerifyFindsWhatWasBroken(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	shard := filepath.Join(out, "data", "sft", "train-00000-of-00001.parquet")
	b, err := os.ReadFile(shard)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err = os.WriteFile(shard, b, 0o644); err != nil {
		t.Fatal(err)
	}
	findings, err := verify.Corpus(t.Context(), corpus.Disk{}, out)
	if err != nil || len(findings) == 0 || !strings.Contains(findings[0].Path, "sft/train") {
		t.Errorf("verify after a flipped byte: %v, %v", findings, err)
	}
}
