package corpus_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// FuzzBrokenShardIsAnError checks that reading a changed or truncated shard returns rows or an error and
// never panics.
func FuzzBrokenShardIsAnError(f *testing.F) {
	dir := f.TempDir()
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(dir, "part"), corpus.DefaultLimits)
	if err != nil {
		f.Fatal(err)
	}
	s := corpus.NewShards[rows.KTO](p, corpus.Stream{Table: "kto"})
	for i := range 20 {
		row := rows.KTO{Prompt: []rows.Msg{{Role: "user", Content: "q"}}, Score: float64(i)}
		if err = s.Add(&row); err != nil {
			f.Fatal(err)
		}
	}
	if err = s.Close(); err != nil {
		f.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "part", "tables", "kto.parquet"))
	if err != nil {
		f.Fatal(err)
	}
	for offset := 0; offset < len(content); offset += 97 {
		f.Add(offset, byte(0xff), 0)
	}
	f.Add(0, byte(0), 9)
	f.Add(len(content)-5, byte(0xed), 0) // the greatest byte of the footer's length
	f.Fuzz(func(t *testing.T, offset int, flip byte, cut int) {
		b := bytes.Clone(content)
		if cut > 0 && cut < len(b) {
			b = b[:cut]
		}
		if offset >= 0 && offset < len(b) {
			b[offset] ^= flip
		}
		path := filepath.Join(t.TempDir(), "x.parquet")
		ok(t, os.WriteFile(path, b, 0o600))
		_ = corpus.ReadRows(corpus.Disk{}, path, func(*rows.KTO) error { return nil })
		_ = corpus.Inspect(corpus.Disk{}, path, 3, io.Discard)
	})
}

// TestAnEarlierVersionsTableIsRead reads a table that lacks a column that a later version added. Only
// optional columns at the end may be missing.
func TestAnEarlierVersionsTableIsRead(t *testing.T) {
	t.Parallel()
	type earlier struct {
		Name string   `parquet:"name"`
		Tags []string `parquet:"tags,list"`
	}
	type later struct {
		Name  string   `parquet:"name"`
		Tags  []string `parquet:"tags,list"`
		OneIn *int64   `parquet:"one_in,optional"`
	}
	type required struct {
		Name  string   `parquet:"name"`
		Tags  []string `parquet:"tags,list"`
		OneIn int64    `parquet:"one_in"`
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	written := []earlier{{"a", []string{"x", "y"}}, {"b", nil}}
	ok(t, parquet.WriteFile(path, written))
	var got []later
	ok(t, corpus.ReadRows(corpus.Disk{}, path, func(r *later) error {
		got = append(got, *r)
		return nil
	}))
	if len(got) != 2 || got[0].OneIn != nil || len(got[0].Tags) != 2 || got[1].Name != "b" {
		t.Errorf("%+v", got)
	}
	if err := corpus.ReadRows(corpus.Disk{}, path, func(*required) error { return nil }); err == nil {
		t.Error("a required column is missing, and the file is read")
	}
	ok(t, parquet.WriteFile(path, []later{{Name: "a"}}))
	if err := corpus.ReadRows(corpus.Disk{}, path, func(*earlier) error { return nil }); err == nil {
		t.Error("a later version's file is read without its column")
	}
}

// TestALineIsReadWithinALimit reads a file of a few KB that decompresses to one line of 4 GiB, of which
// only the permitted part is read.
func TestALineIsReadWithinALimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	encoder, err := zstd.NewWriter(nil)
	ok(t, err)
	frame := encoder.EncodeAll(bytes.Repeat([]byte{'a'}, 8<<20), nil)
	ok(t, os.WriteFile(filepath.Join(dir, "x.jsonl.zst"), bytes.Repeat(frame, 512), 0o600))
	err = corpus.VisitTexts(corpus.Disk{}, dir, "x.jsonl.zst", func(where, _ string) error {
		t.Errorf("read %s", where)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "x.jsonl.zst: line 1: longer than") {
		t.Errorf("error %v", err)
	}
}
