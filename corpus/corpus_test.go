package corpus_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/verify"
)

// sample is a finished corpus of a few rows in every config of a build.
type sample struct {
	dir   string
	parts []string
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func harness() arena.Harness {
	return arena.Harness{Name: "test", System: "Help the customer shop.", SHA256: "00", Tools: []arena.Raw{
		`{"type":"function","function":{"name":"find_product","parameters":{"type":"object","properties":{"q":{"type":"string"},"page":{"type":["integer","null"]}}}}}`,
		`{"type":"function","function":{"name":"terminate","parameters":{"type":"object","properties":{"status":{"type":"string"}}}}}`,
	}}
}

func record(i int) *arena.Record {
	score := 0.7
	return &arena.Record{
		Trace: &arena.Trace{ID: fmt.Sprintf("run/%d", i), Query: "a spatula", Status: arena.StatusSuccess, Agent: arena.Agent{StartedAt: "2026-06-01T00:00:00Z"}},
		Dialogue: arena.Dialogue{Turns: []arena.Turn{
			{Think: fmt.Sprintf("search %d", i), Calls: []arena.Call{{ID: "a", Name: "find_product", Arguments: `{"q":"spatula","page":null}`, Result: `[{"product_id":"1"}]`}}},
			{Think: "done", Text: "here", Calls: []arena.Call{{ID: "b", Name: "terminate", Arguments: `{"status":"success"}`, Result: `"bye"`}}},
		}},
		Outcome:   arena.Outcome{Success: i%2 == 0, Scores: &arena.Scores{Axes: &arena.Axes{Rule: 0.5}}},
		Judgement: arena.Judgement{Score: &score},
		Structure: arena.Structure{Axis: arena.AxisAgentic, Keep: true},
	}
}

func facts(split string, i int) *rows.Facts {
	return &rows.Facts{Harness: harness(), Category: arena.CategoryProduct, Split: split, PipelineVersion: "v0", Counter: rows.Bytes4{},
		Origin: rows.Origin{ProblemID: fmt.Sprintf("%s-%d", split, i), Cluster: fmt.Sprintf("%s-%d", split, i)}}
}

func write(t *testing.T, fsys corpus.FS, root string, n int) (sample, error) {
	t.Helper()
	return written(t, fsys, root, n, false)
}

// written is the sample of n rows, its parts' files moved into place or copied.
func written(t *testing.T, fsys corpus.FS, root string, n int, move bool) (sample, error) {
	t.Helper()
	s := sample{dir: filepath.Join(root, "corpus"), parts: []string{filepath.Join(root, "work", "part-0"), filepath.Join(root, "work", "part-1")}}
	for i, dir := range s.parts {
		if err := writePart(t, fsys, dir, i, n); err != nil {
			return s, err
		}
	}
	return s, corpus.Assemble(context.Background(), fsys, s.dir, corpus.Assembly{
		Parts:    s.parts,
		Move:     move,
		Extra:    map[string][]byte{"reports/funnel.json": []byte("{}\n")},
		Manifest: corpus.Manifest{Pipeline: "v0", Configuration: []byte("{}"), Funnel: []corpus.Stage{{Name: "read", In: int64(n), Out: int64(n)}}},
		Card:     corpus.Card{Title: "A day", License: "apache-2.0", Tags: []string{"agent"}, Default: "sft"},
	})
}

func writePart(t *testing.T, fsys corpus.FS, dir string, i, n int) error {
	t.Helper()
	p, err := corpus.NewPart(fsys, dir, corpus.DefaultLimits)
	if err != nil {
		return err
	}
	split := []string{corpus.SplitTrain, corpus.SplitEval}[i]
	sft := corpus.NewShards[rows.SFT](p, corpus.Stream{Config: "sft", Profile: corpus.ProfileHFJSON, Split: split})
	kto := corpus.NewShards[rows.KTO](p, corpus.Stream{Config: "kto", Profile: corpus.ProfileKTO, Split: split})
	for j := range n {
		row, _, err := rows.NewSFT(record(j), facts(split, j))
		if err != nil {
			t.Fatal(err)
		}
		if err := sft.Add(&row); err != nil {
			return err
		}
		k := rows.KTO{Prompt: []rows.Msg{{Role: "user", Content: "q"}}, Completion: []rows.Msg{{Role: "assistant", Content: "a"}}, Origin: facts(split, j).Origin}
		if err := kto.Add(&k); err != nil {
			return err
		}
	}
	if i == 0 {
		if err := corpus.NewShards[rows.Leak](p, corpus.Stream{Table: "leak"}).Close(); err != nil {
			return err
		}
	}
	if err := sft.Close(); err != nil {
		return err
	}
	if err := kto.Close(); err != nil {
		return err
	}
	return p.Close()
}

func TestCorpusIsVerifiedFromItsFiles(t *testing.T) {
	t.Parallel()
	s, err := write(t, corpus.Disk{}, t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	report, err := verify.Corpus(context.Background(), corpus.Disk{}, s.dir)
	if err != nil || len(report) > 0 {
		t.Fatalf("verify: %v %v", report, err)
	}
}
