package export_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/export"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nasty are values that formats and loaders are known to bend.
var nasty = map[string]string{
	"null":         `{"any":null}`,
	"empty":        `{"any":""}`,
	"long integer": `{"any":12345678901234567890}`,
	"separators":   "{\"any\":\"a\u2028b\u2029c\"}",
	"emoji":        `{"any":"🛒👩‍👩‍👧"}`,
	"empty list":   `{"any":[]}`,
	"empty object": `{}`,
	"escapes":      `{"any":"\u0000\t\"\\/<b>&"}`,
	"nested":       `{"any":{"a":[{"b":[null,1.50,{}]}]}}`,
}

func harness() arena.Harness {
	return arena.Harness{Name: "test", System: "Help.", Tools: []arena.Raw{
		`{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"any":{}}}}}`}}
}

// conversation makes a dialogue of one nasty call, its result, two calls at
// once and an end.
func conversation(args, result string) arena.Dialogue {
	c := func(id, result string) arena.Call {
		return arena.Call{ID: id, Name: "find", Arguments: arena.Raw(args), Result: arena.Raw(result)}
	}
	return arena.Dialogue{Turns: []arena.Turn{
		{Think: "why \u2028 not", Calls: []arena.Call{c("a", result)}},
		{Think: "two", Text: "aloud", Calls: []arena.Call{c("b", result), c("c", `"x"`)}},
		{Text: "done"},
	}}
}

func corpus(t *testing.T, dialogues []arena.Dialogue) string {
	t.Helper()
	root := t.TempDir()
	p, err := corpora.NewPart(corpora.Disk{}, filepath.Join(root, "part"), corpora.DefaultLimits)
	ok(t, err)
	sft := corpora.NewShards[corpora.SFT](p, corpora.Stream{Config: "sft", Profile: corpora.ProfileHFJSON, Split: corpora.SplitTrain})
	rl := corpora.NewShards[corpora.RL](p, corpora.Stream{Config: "rl", Profile: corpora.ProfileVerlRL, Split: corpora.SplitTrain})
	pref := corpora.NewShards[corpora.Pref](p, corpora.Stream{Config: "pref", Profile: corpora.ProfilePref, Split: corpora.SplitTrain})
	kto := corpora.NewShards[corpora.KTO](p, corpora.Stream{Config: "kto", Profile: corpora.ProfileKTO, Split: corpora.SplitTrain})
	for i, d := range dialogues {
		f := &corpora.Facts{Harness: harness(), Category: arena.CategoryShop, Split: corpora.SplitTrain, Counter: corpora.Bytes4{},
			Origin: corpora.Origin{ProblemID: fmt.Sprint("p", i), Cluster: fmt.Sprint("c", i)}}
		row, err := corpora.NewSFT(&arena.Record{Trace: &arena.Trace{ID: fmt.Sprint("run/", i), Query: "buy \xff this"}, Dialogue: d}, f)
		ok(t, err)
		ok(t, sft.Add(&row))
		problem, err := corpora.NewRL(&arena.Problem{Query: "q", Rewards: []arena.Reward{{Raw: `{"product_id":"1"}`}}}, f, corpora.Tally{Attempts: 2, Successes: 1}, int64(i))
		ok(t, err)
		ok(t, rl.Add(&problem))
		ok(t, pref.Add(&corpora.Pref{Prompt: []corpora.Msg{{Role: "user", Content: "q"}}, Chosen: []corpora.Msg{{Role: "assistant", Content: "a"}}, Rejected: []corpora.Msg{{Role: "assistant", Content: ""}}, Origin: f.Origin}))
		ok(t, kto.Add(&corpora.KTO{Prompt: []corpora.Msg{{Role: "user", Content: "q"}}, Completion: []corpora.Msg{{Role: "assistant", Content: "a\u2028"}}, Origin: f.Origin}))
	}
	ok(t, sft.Close())
	ok(t, rl.Close())
	ok(t, pref.Close())
	ok(t, kto.Close())
	ok(t, p.Close())
	dir := filepath.Join(root, "corpus")
	ok(t, corpora.Assemble(context.Background(), corpora.Disk{}, dir, corpora.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpora.Manifest{Configuration: []byte("{}")}}))
	return dir
}

func exported(t *testing.T, from string, workers int) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "out")
	_, err := export.Run(context.Background(), corpora.Disk{}, from, to, export.All(), &export.Options{Sessions: 100}, workers)
	ok(t, err)
	found, err := corpora.Verify(context.Background(), corpora.Disk{}, to)
	if err != nil || len(found) > 0 {
		t.Fatalf("verify: %v %v", found, err)
	}
	return to
}

// TestNastyValuesComeBackFromEveryProfile sends each value as argument and as
// result through every profile and reads it back.
func TestNastyValuesComeBackFromEveryProfile(t *testing.T) {
	t.Parallel()
	var names []string
	var dialogues []arena.Dialogue
	for _, name := range sorted(nasty) {
		names = append(names, name)
		dialogues = append(dialogues, conversation(nasty[name], nasty[name]))
	}
	names = append(names, "ten megabytes")
	dialogues = append(dialogues, conversation(`{"any":1}`, `"`+strings.Repeat("long ", 2<<20)+`"`))
	names = append(names, "invalid utf-8")
	dialogues = append(dialogues, conversation(`{"any":1}`, "\"a\xffb\""))
	from := corpus(t, dialogues)
	to := exported(t, from, 4)
	want := calls(t, rowsOf(t, filepath.Join(from, "data/sft/train-00000-of-00001.parquet")))
	for profile, got := range map[string][][]string{
		"hf-json":          calls(t, rowsOf(t, filepath.Join(to, "data/hf-json/train-00000-of-00001.parquet"))),
		"openai-jsonl":     lineCalls(t, filepath.Join(to, "jsonl/openai-jsonl/train-00000-of-00001.jsonl")),
		"openai-jsonl-zst": lineCalls(t, filepath.Join(to, "jsonl/openai-jsonl-zst/train-00000-of-00001.jsonl.zst")),
		"sharegpt":         shareCalls(t, filepath.Join(to, "data/sharegpt/train/00000-of-00001.parquet")),
		"text":             textCalls(t, filepath.Join(to, "data/text/train-00000-of-00001.parquet")),
		"atif":             atifCalls(t, filepath.Join(to, "atif/train.jsonl")),
	} {
		for i := range want {
			if diff := cmp.Diff(want[i], got[i]); diff != "" {
				t.Errorf("%s, %s: %.600s", profile, names[i], diff)
			}
		}
	}
}

// TestWorkersDoNotShow exports with one and with eight workers: the same bytes.
func TestWorkersDoNotShow(t *testing.T) {
	t.Parallel()
	from := corpus(t, []arena.Dialogue{conversation(`{"any":1}`, `[]`), conversation(`{}`, `{"a":1}`)})
	if diff := cmp.Diff(tree(t, exported(t, from, 1)), tree(t, exported(t, from, 8))); diff != "" {
		t.Fatal(diff)
	}
}

// tree hashes every file of a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	ok(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = corpora.SHA256(b)
		return err
	}))
	return out
}

// TestTurnsLearnFromTheLastAlone checks sft_turns: one row per assistant turn,
// no earlier reasoning, weight 1 on the last.
func TestTurnsLearnFromTheLastAlone(t *testing.T) {
	t.Parallel()
	to := exported(t, corpus(t, []arena.Dialogue{conversation(`{"any":1}`, `[]`)}), 1)
	rows := rowsOf(t, filepath.Join(to, "data/sft_turns/train-00000-of-00001.parquet"))
	if len(rows) != 3 {
		t.Fatalf("%d rows of 3 turns", len(rows))
	}
	for i, r := range rows {
		turn := 0
		for k, m := range r.Messages {
			if gjson.Get(m, "role").String() != "assistant" {
				continue
			}
			last := k == len(r.Messages)-1
			if got := gjson.Get(m, "weight").Int() == 1; got != last {
				t.Errorf("row %d: weight of message %d is %v", i, k, got)
			}
			if !last && gjson.Get(m, "reasoning_content").Exists() {
				t.Errorf("row %d: message %d keeps its reasoning", i, k)
			}
			turn++
		}
		if turn != i+1 {
			t.Errorf("row %d has %d turns", i, turn)
		}
	}
}

// TestRowsOfAnotherTargetAreDropped drops for one target alone and counts.
func TestRowsOfAnotherTargetAreDropped(t *testing.T) {
	t.Parallel()
	from := corpus(t, []arena.Dialogue{conversation(`{"any":1}`, `""`), conversation(`{"any":1}`, `"x"`)})
	text, _, _ := export.Named("text")
	share, _, _ := export.Named("sharegpt")
	counts, err := export.Run(context.Background(), corpora.Disk{}, from, filepath.Join(t.TempDir(), "out"), []export.Profile{text, share}, &export.Options{}, 2)
	ok(t, err)
	if counts[0].Out != 2 || counts[2].Out != 1 || counts[2].Dropped["empty_message"] != 1 {
		t.Fatalf("counts %+v", counts)
	}
}

// TestSchemasArePinned fails when a column of an exported format changes: that
// is another schema version.
func TestSchemasArePinned(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string][]string{
		"sharegpt": corpora.Columns[corpora.ShareGPT](), "prompts": corpora.Columns[corpora.Prompts](), "verl-sft": corpora.Columns[corpora.VerlSFT](), "text": corpora.Columns[corpora.Text](),
	} {
		path := filepath.Join("testdata", "columns_"+name+".golden")
		want, err := os.ReadFile(path)
		got := strings.Join(columns, "\n") + "\n"
		if *update {
			ok(t, os.WriteFile(path, []byte(got), 0o600))
			continue
		}
		ok(t, err)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
