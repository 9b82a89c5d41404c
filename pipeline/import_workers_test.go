package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// newImport is a build of a folder's attempts as they were recorded.
func newImport(t *testing.T, src, out string) *pipeline.Run {
	t.Helper()
	r := newRun(t, src, out)
	r.Config = r.Config.AsRecorded()
	r.Config.MaxUnreadable = 1
	r.Sources.AnyNetwork = true
	return r
}

// TestImportIsTheSameForAnyWorkersAndOrder imports the sample day with secrets in it, and with the
// tag long also unchanged.
func TestImportIsTheSameForAnyWorkersAndOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	days := map[string]string{"planted": plantDay(t, canary.All())}
	if longtest.Tests {
		days["plain"] = sampleDay
	}
	for name, day := range days {
		var want map[string]string
		for _, workers := range longtest.Pick([]int{1, 2, 5}, []int{1, 5}) {
			m := newImport(t, day, filepath.Join(dir, fmt.Sprint(name, workers)))
			m.Config.Workers = workers
			build(t, m)
			verified(t, m.Out)
			if got := sums(t, m.Out); want == nil {
				want = got
			} else {
				sameFiles(t, fmt.Sprintf("%s, %d workers", name, workers), got, want)
			}
		}
	}
}

// TestCanariesReachNoImport imports a day with secrets: no file of the corpus has one, and each row
// states its number of tokens.
func TestCanariesReachNoImport(t *testing.T) {
	t.Parallel()
	secrets := canary.All()
	m := newImport(t, plantDay(t, secrets), filepath.Join(t.TempDir(), "corpus"))
	build(t, m)
	verified(t, m.Out)
	if where := canary.Find(t, secrets, m.Out); len(where) > 0 {
		t.Errorf("%d canaries are left, the first %v", len(where), where[0])
	}
	countsHold(t, filepath.Join(m.Out, "data/sft/train-00000-of-00001.parquet"))
	manifest, err := corpus.ReadManifest(corpus.Disk{}, m.Out)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(manifest.Redaction.Counts["sft"]); n < 15 { // of several issuers the rule for any token finds most
		t.Errorf("config sft lost %d kinds of secrets: %v", n, manifest.Redaction.Counts["sft"])
	}
}

func TestEachFailingStepLeavesNoImport(t *testing.T) {
	t.Parallel()
	day := smallDay(t)
	failEachStep(t, 20, func(fsys corpus.FS, out string) error {
		m := newImport(t, day, out)
		m.FS = fsys
		_, err := m.Build(t.Context())
		return err
	})
}

// TestStoppedImportContinues stops an import at every input. The next run takes what is finished, and
// writes the same corpus.
func TestStoppedImportContinues(t *testing.T) {
	t.Parallel()
	whole := newImport(t, sampleDay, filepath.Join(t.TempDir(), "corpus"))
	build(t, whole)
	want := sums(t, whole.Out)
	for _, i := range []int{1, 2, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		m := newImport(t, sampleDay, filepath.Join(t.TempDir(), "corpus"))
		m.Config.Workers = 1
		m.Progress = func(e pipeline.Event) {
			if e.Stage == "map" && e.Done == i {
				cancel()
			}
		}
		if _, err := m.Build(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped at input %d the import ends with %v", i, err)
		}
		if _, err := os.Stat(m.Out); err == nil {
			t.Errorf("stopped at input %d the import leaves %s", i, m.Out)
		}
		m.Progress = nil
		forecast, err := m.Forecast(t.Context())
		if err != nil || forecast.Blocks[block.Equal] != i {
			t.Errorf("stopped at input %d, the next run takes %v, %v", i, forecast.Blocks, err)
		}
		build(t, m)
		sameFiles(t, fmt.Sprintf("stopped at input %d", i), sums(t, m.Out), want)
	}
}
