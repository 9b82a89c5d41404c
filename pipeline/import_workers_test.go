package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/foreign"
	"github.com/trajectory-arena/arena/traces"
)

// newImport imports a folder, redacted.
func newImport(t *testing.T, src, out string) *foreign.Import {
	t.Helper()
	inputs, err := traces.Discover(src)
	if err != nil {
		t.Fatal(err)
	}
	redactor := redact.New(redact.Options{})
	return &foreign.Import{Inputs: inputs, Limits: traces.DefaultLimits(), MaxUnreadable: 1, Workers: 2, Target: finish.Target{Out: out, FS: corpus.Disk{}, Version: "v0", Redact: redactor}}
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
			m.Workers = workers
			if workers == 5 {
				slices.Reverse(m.Inputs)
			}
			if _, err := m.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
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
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
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
		_, err := m.Run(t.Context())
		return err
	})
}

// TestInterruptedImportLeavesNothing interrupts an import at every input.
func TestInterruptedImportLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, i := range []int{1, 2, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		m := newImport(t, sampleDay, filepath.Join(t.TempDir(), "corpus"))
		m.Progress = func(e pipeline.Event) {
			if e.Done == i {
				cancel()
			}
		}
		if _, err := m.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted at input %d the import ends with %v", i, err)
		}
		leftovers, err := os.ReadDir(filepath.Dir(m.Out))
		if err != nil || len(leftovers) > 0 {
			t.Errorf("interrupted at input %d the import leaves %v, %v", i, leftovers, err)
		}
	}
}
