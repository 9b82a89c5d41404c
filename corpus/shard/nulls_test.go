package shard_test

import (
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestNullIsReadBackAsNull writes a row with null optional scalars and a row with zero
// ones.
func TestNullIsReadBackAsNull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	zero := 0.0
	part, err := corpus.NewPart(corpus.Disk{}, dir, corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	out := corpus.NewShards[rows.SFT](part, corpus.Stream{Config: "sft", Profile: corpus.ProfileHFJSON, Split: corpus.SplitTrain})
	for _, score := range []*float64{nil, &zero} {
		row := rows.SFT{Messages: []string{`{"role":"user"}`}, Tools: []string{}, Metadata: "{}"}
		row.JudgeScore = score
		row.OutcomeScore = score
		if err = out.Add(&row); err != nil {
			t.Fatal(err)
		}
	}
	if err = out.Close(); err != nil {
		t.Fatal(err)
	}
	if err = part.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := corpus.ReadPart(corpus.Disk{}, dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("read part: %v, %v", files, err)
	}
	var set []bool
	err = corpus.ReadRows(corpus.Disk{}, filepath.Join(dir, filepath.FromSlash(files[0].Path)), func(r *rows.SFT) error {
		set = append(set, r.JudgeScore != nil, r.OutcomeScore != nil, r.RunDate != nil)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []bool{false, false, false, true, true, false}
	for i := range want {
		if i >= len(set) || set[i] != want[i] {
			t.Fatalf("set fields are %v, want %v", set, want)
		}
	}
}
