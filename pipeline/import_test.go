package pipeline_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline"
)

// imports reads traces from a folder or file into a corpus.
func imports(t *testing.T, src string) (dir string, s *pipeline.Summary) {
	t.Helper()
	m := newImport(t, src, filepath.Join(t.TempDir(), "corpus"))
	s = build(t, m)
	verified(t, m.Out)
	return m.Out, s
}

// readRows are the rows of a Parquet file of a corpus.
func readRows[T any](t *testing.T, dir, path string) (out []T) {
	t.Helper()
	if err := corpus.ReadRows(corpus.Disk{}, filepath.Join(dir, path), func(r *T) error {
		out = append(out, *r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestImportAccountsForEveryRecord finds each record of the sample in the
// ledger, with the reason where it is no row.
func TestImportAccountsForEveryRecord(t *testing.T) {
	t.Parallel()
	dir, s := imports(t, filepath.Join("testdata", "import"))
	got := map[string]int{}
	for _, a := range readRows[rows.Attempt](t, dir, "tables/attempts.parquet") {
		got[a.Fate+" "+a.Reason]++
	}
	want := map[string]int{"kept ": 4, "dropped no_assistant_turn": 1, "failed unsupported_schema": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int64{"ending": 2, "system_step": 1, "unread:info.task.user_id": 1}, s.Lost); diff != "" {
		t.Error(diff)
	}
}
