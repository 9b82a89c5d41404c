package corpus_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// readArrow reads a shard with the second, independent implementation.
func readArrow(t *testing.T, path string) arrow.Table {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(table.Release)
	return table
}

func column(t *testing.T, table arrow.Table, name string) arrow.Array {
	t.Helper()
	indices := table.Schema().FieldIndices(name)
	if len(indices) != 1 {
		t.Fatalf("column %s: %v", name, indices)
	}
	return table.Column(indices[0]).Data().Chunk(0)
}

// TestListsOfJSONValuesAreNotEmpty checks such lists, which the writer's path for structs silently
// writes empty, as the first half shows.
func TestListsOfJSONValuesAreNotEmpty(t *testing.T) {
	t.Parallel()
	row, _, err := rows.NewSFT(record(0), facts(corpus.SplitTrain, 0))
	if err != nil {
		t.Fatal(err)
	}
	var direct bytes.Buffer
	w := parquet.NewGenericWriter[rows.SFT](&direct)
	_, err = w.Write([]rows.SFT{row})
	ok(t, err)
	ok(t, w.Close())
	back, err := parquet.Read[rows.SFT](bytes.NewReader(direct.Bytes()), int64(direct.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(back[0].Messages) == len(row.Messages) {
		t.Log("the writer's struct path keeps lists of JSON values now; Deconstruct may no longer be needed")
	}

	s, err := write(t, corpus.Disk{}, t.TempDir(), 2)
	if err != nil {
		t.Fatal(err)
	}
	lists := column(t, readArrow(t, filepath.Join(s.dir, "data/sft/train-00000-of-00001.parquet")), "messages").(*array.List)
	start, end := lists.ValueOffsets(0)
	if int(end-start) != len(row.Messages) {
		t.Fatalf("%d messages in the shard, %d in the row", end-start, len(row.Messages))
	}
}

// columns names the top-level columns of the rows of type T, in order.
func columns[T any]() (names []string) {
	for _, f := range parquet.SchemaOf(new(T)).Fields() {
		names = append(names, f.Name())
	}
	return names
}

// TestNoColumnIsReserved checks the names of columns: trainers infer the kind of a row from them,
// and a column prompt next to messages makes SFTTrainer fail.
func TestNoColumnIsReserved(t *testing.T) {
	t.Parallel()
	reserved := []string{"prompt", "completion", "chosen", "rejected", "text", "label", "image", "images", "chat_template_kwargs",
		"input_ids", "labels", "completion_mask", "assistant_masks", "seq_lengths"}
	for name, names := range map[string][]string{
		"sft": columns[rows.SFT](), "text": columns[rows.Text](), "verl-sft": columns[rows.VerlSFT]()} {
		for _, c := range names {
			if slices.Contains(reserved, c) || c == "tools" && name != "sft" {
				t.Errorf("%s has a column %s", name, c)
			}
		}
	}
}

// TestCardOmitsJSONLines checks that a card lists no JSONL: datasets chooses one reader for all listed files
// and would load nothing.
func TestCardOmitsJSONLines(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "part")
	ok(t, writePart(t, corpus.Disk{}, dir, 0, 2))
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "lines"), corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{"jsonl", "jsonl.zst"} {
		l := corpus.NewLines(p, corpus.Stream{Config: ext, Profile: "openai-jsonl", Split: corpus.SplitTrain}, ext)
		ok(t, l.Add([]byte(`{"messages":[]}`)))
		ok(t, l.Close())
	}
	ok(t, p.Close())
	out := filepath.Join(root, "out")
	err = corpus.Assemble(context.Background(), corpus.Disk{}, out, corpus.Assembly{Parts: []string{dir, filepath.Join(root, "lines")},
		Manifest: corpus.Manifest{Configuration: []byte("{}")}})
	if err != nil {
		t.Fatal(err)
	}
	card, err := os.ReadFile(filepath.Join(out, corpus.CardName))
	if err != nil {
		t.Fatal(err)
	}
	front, _, _ := bytes.Cut(card[4:], []byte("\n---"))
	if bytes.Contains(front, []byte("jsonl")) || !bytes.Contains(front, []byte("data/sft/train-00000-of-00001.parquet")) {
		t.Fatalf("card:\n%s", front)
	}
}

// TestArrowReadsEveryRowType compares the writer with a second implementation: rows, columns and nulls of
// every row type.
func TestArrowReadsEveryRowType(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "part")
	p, err := corpus.NewPart(corpus.Disk{}, dir, corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	emit(t, p, "sft", rows.SFT{Messages: []string{"{}"}, Tools: []string{"{}"}, Metadata: "{}"})
	emit(t, p, "rl", rows.RL{Prompt: []rows.Msg{{Role: "user"}}})
	emit(t, p, "pref", rows.Pref{Chosen: []rows.Msg{{Role: "assistant", Content: "x"}}})
	emit(t, p, "kto", rows.KTO{Label: true})
	emit(t, p, "steps", rows.Steps{Labels: []bool{true, false}, Completions: []string{"a", ""}})
	emit(t, p, "text", rows.Text{})
	emit(t, p, "sharegpt", rows.ShareGPT{})
	emit(t, p, "prompts", rows.Prompts{})
	emit(t, p, "verl-sft", rows.VerlSFT{})
	emit(t, p, "axes", rows.Axes{})
	emit(t, p, "sft_weighted", rows.Weighted{Train: []bool{true}, SFT: rows.SFT{Messages: []string{"{}"}, Tools: []string{"{}"}, Metadata: "{}"}})
	emit(t, p, "attempts", rows.Attempt{})
	emit(t, p, "verdicts", rows.Verdict{Reasons: []string{"a"}, Features: []rows.Feature{{Name: "x", Value: 1}}})
	emit(t, p, "outcomes", rows.Outcome{})
	emit(t, p, "judgements", rows.Judgement{Gates: []bool{true}})
	emit(t, p, "leaks", rows.Leak{})
	ok(t, p.Close())
	files, err := corpus.ReadPart(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 16 {
		t.Fatalf("%d files", len(files))
	}
	for _, f := range files {
		table := readArrow(t, filepath.Join(dir, filepath.FromSlash(f.Path)))
		if table.NumRows() != 2 || int(table.NumCols()) != len(f.Columns) {
			t.Errorf("%s: %d rows, %d columns, want 2 and %d", f.Path, table.NumRows(), table.NumCols(), len(f.Columns))
		}
		for i, c := range f.Columns {
			if got := table.Schema().Field(i).Name; got != c.Name {
				t.Errorf("%s: column %d is %s, not %s", f.Path, i, got, c.Name)
			}
		}
	}
}

func emit[T any](t *testing.T, p *corpus.Part, table string, row T) {
	t.Helper()
	s := corpus.NewShards[T](p, corpus.Stream{Table: table})
	for range 2 {
		ok(t, s.Add(&row))
	}
	if err := s.Close(); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
}

func TestEmptyAndNullSurvive(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "part")
	p, err := corpus.NewPart(corpus.Disk{}, dir, corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	s := corpus.NewShards[rows.Judgement](p, corpus.Stream{Table: "judgements"})
	for _, row := range []rows.Judgement{{}, {Score: &zero, Gates: []bool{}}} {
		ok(t, s.Add(&row))
	}
	ok(t, s.Close())
	table := readArrow(t, filepath.Join(dir, "tables/judgements.parquet"))
	score := column(t, table, "score")
	model := column(t, table, "model")
	if !score.IsNull(0) || score.IsNull(1) || model.IsNull(0) {
		t.Fatalf("score %v, model %v", score, model)
	}
}

// TestLoadingSnippetsRunInTheFolder checks that the snippets of a card need no name that
// they do not define, and do not load ".", which the datasets library rejects.
func TestLoadingSnippetsRunInTheFolder(t *testing.T) {
	t.Parallel()
	s, err := write(t, corpus.Disk{}, t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	card, err := os.ReadFile(filepath.Join(s.dir, corpus.CardName))
	if err != nil {
		t.Fatal(err)
	}
	_, loading, ok := bytes.Cut(card, []byte("\n## Loading\n"))
	if !ok {
		t.Fatal("the card has no section Loading")
	}
	loading, _, _ = bytes.Cut(loading, []byte("\n## "))
	if !bytes.Contains(loading, []byte(`load_dataset(os.getcwd(), "sft", split="train")`)) || bytes.Contains(loading, []byte("CORPUS")) {
		t.Errorf("section Loading:\n%s", loading)
	}
}
