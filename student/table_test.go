package student

import (
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/student/rollout"
)

// TestFailureIsNotUnknown checks that a rollout which did not solve its problem has success false
// and quality 0 in the table, and that one without a score has neither.
func TestFailureIsNotUnknown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "results.parquet")
	file, err := atomicfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	solved := true
	failed := false
	none := 0.0
	full := 1.0
	out := newTable(file, row{})
	for _, r := range []rollout.Result{{Success: &solved, Quality: &full}, {Success: &failed, Quality: &none}, {}} {
		if err = out.add(&row{Result: r, Length: r.Quality}); err != nil {
			t.Fatal(err)
		}
	}
	if err = out.close(); err != nil {
		t.Fatal(err)
	}
	type columns struct {
		Success *bool    `parquet:"success,optional"`
		Quality *float64 `parquet:"quality,optional"`
		Length  *float64 `parquet:"length,optional"`
	}
	got, err := parquet.ReadFile[columns](path)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	for i, want := range []columns{{&solved, &full, &full}, {&failed, &none, &none}} {
		if g := got[i]; g.Success == nil || *g.Success != *want.Success || g.Quality == nil || *g.Quality != *want.Quality || g.Length == nil || *g.Length != *want.Length {
			t.Errorf("rollout %d: success %v, quality %v, length %v", i, g.Success, g.Quality, g.Length)
		}
	}
	if got[2] != (columns{}) {
		t.Errorf("not scored: %+v", got[2])
	}
}
