package pipeline_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/public"
)

// TestPublicationHasTheLedgerOfItsAttempts publishes a corpus with declared outcomes. The ledger of
// each published attempt is unchanged, except the guard's findings, which are withheld.
func TestPublicationHasTheLedgerOfItsAttempts(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	writeHarborJob(t, day)
	r := newForeignRun(t, day, "")
	build(t, r)
	out := filepath.Join(t.TempDir(), "public")
	p := public.Publication{Corpus: r.Out, Target: finish.Target{Out: out, Version: "test", FS: corpus.Disk{}}}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := linesByID(t, r.Out)
	published := linesByID(t, out)
	places := 0
	rewards := 0
	hidden := cmp.Options{cmpopts.IgnoreUnexported(where.Line{}), cmpopts.IgnoreFields(where.Line{}, "Leak")}
	for id, line := range published {
		if line.Place != nil {
			places++
		}
		if line.Declared != nil {
			rewards++
		}
		if diff := cmp.Diff(lines[id], line, hidden); diff != "" {
			t.Errorf("%s (-whole, +published): %s", id, diff)
		}
	}
	if places == 0 || rewards == 0 {
		t.Errorf("%d published attempts have a place and %d a declared reward: nothing is shown", places, rewards)
	}
}

func linesByID(t *testing.T, dir string) map[string]*where.Line {
	t.Helper()
	lines, err := where.Read(corpus.Disk{}, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*where.Line{}
	for _, l := range lines {
		out[l.Attempt.TraceID] = l
	}
	return out
}
