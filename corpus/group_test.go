package corpus_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestAppendKeepsTheOrderOfGroups encodes groups of a stream, closes the later ones first, and reads back
// every row in order, in files below their limit.
func TestAppendKeepsTheOrderOfGroups(t *testing.T) {
	t.Parallel()
	const pieces, each = 14, 5
	dir := filepath.Join(t.TempDir(), "part")
	limits := corpus.Limits{Group: 100_000, Shard: 400_000}
	p, err := corpus.NewPart(corpus.Disk{}, dir, limits)
	ok(t, err)
	s := corpus.NewShards[rows.SFT](p, corpus.Stream{Config: "sft", Profile: corpus.ProfileHFJSON, Split: corpus.SplitTrain})
	var want []rows.SFT
	dice := rand.New(rand.NewPCG(1, 2))
	groups := make([]*corpus.Group[rows.SFT], pieces)
	for i := range groups {
		groups[i] = s.Group()
		for k := range each {
			row := rows.SFT{Goal: noise(dice, 20_000), Messages: []string{"{}"}, Tools: []string{}, Metadata: "{}", Scalars: rows.Scalars{NSteps: int64(i*each + k)}}
			ok(t, groups[i].Add(&row))
			want = append(want, row)
		}
	}
	for i := range groups {
		ok(t, groups[pieces-1-i].Close())
	}
	empty := s.Group()
	ok(t, empty.Close())
	for _, g := range append(groups, empty) {
		ok(t, s.Append(g))
	}
	ok(t, s.Close())
	ok(t, p.Close())
	files, err := corpus.ReadPart(corpus.Disk{}, dir)
	ok(t, err)
	if len(files) < 2 {
		t.Errorf("all rows are in one file of %d bytes", files[0].Bytes)
	}
	var got []rows.SFT
	for i, f := range files {
		if f.Path != fmt.Sprintf("data/sft/train-%05d.parquet", i) || f.Bytes > limits.Shard {
			t.Errorf("file %d is %s of %d bytes", i, f.Path, f.Bytes)
		}
		ok(t, corpus.ReadRows(corpus.Disk{}, filepath.Join(dir, f.Path), func(r *rows.SFT) error {
			got = append(got, *r)
			return nil
		}))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// noise is text that cannot be compressed to less than three quarters.
func noise(dice *rand.Rand, size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(' ' + dice.IntN(64))
	}
	return string(b)
}
