package pipeline

import (
	"context"
	"errors"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
)

// closedFS fails a test that opens a file.
type closedFS struct {
	corpus.Disk
	t *testing.T
}

func (f closedFS) Open(path string) (corpus.Source, error) {
	f.t.Errorf("%s was opened", path)
	return f.Disk.Open(path)
}

func TestCancelledUnitOpensNoBlock(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := unitWriter{session: &session{Run: &Run{FS: closedFS{t: t}}, inputs: make([]input, 1)}, unit: unit{unitContent: unitContent{Rows: make([]chosen, 1)}}}
	if err := w.eachDraft(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("read a cancelled unit: %v", err)
	}
}
