package export_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/internal/digest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func harness() arena.Harness {
	return arena.Harness{Name: "test", System: "Help.", Tools: []arena.Raw{
		`{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"any":{},"":{}}}}}`}}
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

// requested is the content of a test's corpus: each dialogue has a request of its own.
type requested struct {
	requests  []string
	dialogues []arena.Dialogue
}

func (r *requested) add(request string, d arena.Dialogue) {
	r.requests, r.dialogues = append(r.requests, request), append(r.dialogues, d)
}

func corpusOf(t *testing.T, dialogues []arena.Dialogue) string {
	t.Helper()
	var r requested
	for _, d := range dialogues {
		r.add("buy \xff this", d)
	}
	return r.corpus(t)
}

// corpus writes rows of every config. The request is also in the prompts, the specifications and
// the answers of the configs without dialogues.
func (r *requested) corpus(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	ok(t, err)
	stream := func(config, profile string) corpus.Stream {
		return corpus.Stream{Config: config, Profile: profile, Split: corpus.SplitTrain}
	}
	sft := corpus.NewShards[rows.SFT](p, stream("sft", corpus.ProfileHFJSON))
	rl := corpus.NewShards[rows.RL](p, stream("rl", corpus.ProfileVerlRL))
	pref := corpus.NewShards[rows.Pref](p, stream("pref", corpus.ProfilePref))
	kto := corpus.NewShards[rows.KTO](p, stream("kto", corpus.ProfileKTO))
	scored := corpus.NewShards[rows.Outcome](p, corpus.Stream{Table: "outcomes"})
	for i, d := range r.dialogues {
		f := &rows.Facts{Harness: harness(), Category: arena.CategoryShop, Split: corpus.SplitTrain, Counter: rows.Bytes4{},
			Origin: rows.Origin{ProblemID: fmt.Sprint("p", i), Cluster: fmt.Sprint("c", i)}}
		row, _, err := rows.NewSFT(&arena.Record{Trace: &arena.Trace{ID: fmt.Sprint("run/p", i), Query: r.requests[i]}, Dialogue: d}, f)
		ok(t, err)
		ok(t, sft.Add(&row))
		request := strings.ToValidUTF8(r.requests[i], "\uFFFD")
		truth, err := json.Marshal(request)
		ok(t, err)
		problem := rows.NewRL(&arena.Problem{Query: request, Rewards: []arena.Reward{{Raw: arena.Raw(truth)}}}, f, rows.Tally{Attempts: 2, Successes: 1}, int64(i))
		ok(t, rl.Add(&problem))
		prompt, _ := rows.SplitCompletion([]chat.Message{{Role: chat.User, Content: request}}, row.Tools)
		answer := []rows.Msg{{Role: "assistant", Content: request}}
		ok(t, pref.Add(&rows.Pref{Prompt: prompt, Chosen: answer, Rejected: []rows.Msg{{Role: "assistant"}}, Origin: f.Origin}))
		session := fmt.Sprint("run/p", i)
		ok(t, kto.Add(&rows.KTO{Prompt: prompt, Completion: append(answer, rows.Msg{Role: "user", Content: "[]"}, answer[0]), SessionID: session, Origin: f.Origin}))
		rule := float64(i) / 8
		if i%2 == 1 { // every second attempt has a score
			ok(t, scored.Add(&rows.Outcome{TraceID: session, Scored: true, Success: i == 1, Rule: &rule}))
		}
	}
	for _, closing := range []func() error{sft.Close, rl.Close, pref.Close, kto.Close, scored.Close, p.Close} {
		ok(t, closing())
	}
	dir := filepath.Join(root, "corpus")
	ok(t, corpus.Assemble(context.Background(), corpus.Disk{}, dir, corpus.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpus.Manifest{Configuration: []byte("{}")}}))
	return dir
}

func exported(t *testing.T, source string, workers int) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	_, err := export.Run(context.Background(), corpus.Disk{}, source, out, export.All(), &export.Options{Sessions: 1000}, workers)
	ok(t, err)
	verified(t, out)
	return out
}

func verified(t *testing.T, dir string) {
	t.Helper()
	report, err := verify.Corpus(context.Background(), corpus.Disk{}, dir)
	if err != nil || len(report) > 0 {
		t.Fatalf("verify %s: %v %v", dir, report, err)
	}
}

// TestOutputDoesNotDependOnWorkers exports with one and with eight workers and compares the files.
func TestOutputDoesNotDependOnWorkers(t *testing.T) {
	t.Parallel()
	source := nastyRows().corpus(t)
	if diff := cmp.Diff(tree(t, exported(t, source, 1)), tree(t, exported(t, source, 8))); diff != "" {
		t.Fatal(diff)
	}
}

// TestBytesArePinned fails when any byte of any profile changes: the same rows must produce the
// same files on every machine and in every run. If a new version of a library writes other bytes,
// update the hashes.
func TestBytesArePinned(t *testing.T) {
	t.Parallel()
	source := corpusOf(t, []arena.Dialogue{conversation(`{"any":"é \u2028"}`, `[]`), conversation(`{}`, `{"a":1}`), conversation(`{"any":null}`, `"x"`)})
	var lines []string
	for path, sum := range tree(t, exported(t, source, 3)) {
		// the card and the reports are prose, and the manifest contains their hashes
		if folder, _, nested := strings.Cut(path, "/"); nested && folder != "reports" || path == "dataset_info.json" {
			lines = append(lines, sum+"  "+path)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	golden(t, "bytes.golden", strings.Join(lines, "\n")+"\n")
}

// golden compares text with a file of testdata, or updates the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		ok(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	ok(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
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
		out[path] = digest.SHA256(b)
		return err
	}))
	return out
}

// TestSplitTurnsWeighsTheLastTurn checks sft_turns: one row for each assistant turn, without earlier
// reasoning, with weight 1 on the last turn alone.
func TestSplitTurnsWeighsTheLastTurn(t *testing.T) {
	t.Parallel()
	out := exported(t, corpusOf(t, []arena.Dialogue{conversation(`{"any":1}`, `[]`)}), 1)
	got := readRows[rows.SFT](t, filepath.Join(out, "data/sft_turns/train-00000-of-00001.parquet"))
	if len(got) != 3 {
		t.Fatalf("%d rows of 3 turns", len(got))
	}
	for i, r := range got {
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

// TestMaskedTurnsStayOut holds that no profile trains on a turn that its author masked: it has no
// row of its own and the weight 0, and a profile without weights leaves the attempt out.
func TestMaskedTurnsStayOut(t *testing.T) {
	t.Parallel()
	masked := conversation(`{"any":1}`, `"x"`)
	masked.Turns[0].Masked = true
	out := exported(t, corpusOf(t, []arena.Dialogue{masked, conversation(`{"any":2}`, `"y"`)}), 1)
	turns := readRows[rows.SFT](t, filepath.Join(out, "data/sft_turns/train-00000-of-00001.parquet"))
	if len(turns) != 5 {
		t.Errorf("%d rows of five turns and a masked one", len(turns))
	}
	weighted := readRows[rows.Weighted](t, filepath.Join(out, "data/sft_weighted/train-00000-of-00001.parquet"))
	if len(weighted) != 2 || !slices.Equal(weighted[0].Train, []bool{false, true, true}) {
		t.Errorf("weighted rows %+v", weighted)
	}
	uncut := readRows[rows.SFT](t, filepath.Join(out, "data/hf-json/train-00000-of-00001.parquet"))
	if len(uncut) != 2 || !strings.Contains(strings.Join(uncut[0].Messages, ""), `"weight": 0`) && !strings.Contains(strings.Join(uncut[0].Messages, ""), `"weight":0`) {
		t.Errorf("rows %+v", uncut)
	}
	for _, profile := range []string{"text"} {
		if texts := readRows[rows.Text](t, filepath.Join(out, "data", profile, "train-00000-of-00001.parquet")); len(texts) != 1 {
			t.Errorf("%s: %d rows", profile, len(texts))
		}
	}
}

// TestUnfitRowsAreDroppedFromOneProfile checks that a row that one profile cannot contain is counted there
// and stays in the others.
func TestUnfitRowsAreDroppedFromOneProfile(t *testing.T) {
	t.Parallel()
	goesOn := conversation(`{"any":1}`, `"x"`)
	goesOn.Turns = slices.Insert(goesOn.Turns, 1, arena.Turn{User: "in red"})
	source := corpusOf(t, []arena.Dialogue{conversation(`{"any":1}`, `""`), conversation(`{"any":1}`, `"x"`), goesOn})
	text, _, _ := export.ByName("text")
	share, _, _ := export.ByName("sharegpt")
	counts, err := export.Run(context.Background(), corpus.Disk{}, source, filepath.Join(t.TempDir(), "out"), []export.Profile{text, share}, &export.Options{}, 2)
	ok(t, err)
	if counts[0].Out != 3 || counts[2].Out != 1 || counts[2].Dropped["empty_result"] != 1 || counts[2].Dropped["roles_out_of_order"] != 1 {
		t.Fatalf("counts %+v", counts)
	}
}

// TestUnfitRowIsLeftOutOfCopies exports a corpus with one broken row without conversion: the other
// rows are written again.
func TestUnfitRowIsLeftOutOfCopies(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	ok(t, err)
	sft := corpus.NewShards[rows.SFT](p, corpus.Stream{Config: "sft", Profile: corpus.ProfileHFJSON, Split: corpus.SplitTrain})
	for i, last := range []string{"assistant", "user", "assistant"} {
		ok(t, sft.Add(&rows.SFT{Messages: []string{`{"role":"user","content":"q"}`, `{"role":"` + last + `","content":"a"}`}, Metadata: "{}",
			Scalars: rows.Scalars{NSteps: int64(i)}, Origin: rows.Origin{ProblemID: fmt.Sprint(i), Cluster: fmt.Sprint(i)}}))
	}
	ok(t, sft.Close())
	ok(t, p.Close())
	source := filepath.Join(root, "corpus")
	out := filepath.Join(root, "out")
	ok(t, corpus.Assemble(context.Background(), corpus.Disk{}, source, corpus.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpus.Manifest{Configuration: []byte("{}")}}))
	hfJSON, _, _ := export.ByName("hf-json")
	counts, err := export.Run(context.Background(), corpus.Disk{}, source, out, []export.Profile{hfJSON}, &export.Options{}, 1)
	ok(t, err)
	if c := counts[0]; c.In != 3 || c.Out != 2 || c.Rows != 2 || c.Dropped["no_assistant_turn"] != 1 {
		t.Errorf("counts %+v", c)
	}
	got := readRows[rows.SFT](t, filepath.Join(out, "data/hf-json/train-00000-of-00001.parquet"))
	if len(got) != 2 || got[0].NSteps != 0 || got[1].NSteps != 2 {
		t.Errorf("%d rows are left: %+v", len(got), got)
	}
}

// columns names the top-level columns of the rows of type T, in order.
func columns[T any]() (names []string) {
	for _, f := range parquet.SchemaOf(new(T)).Fields() {
		names = append(names, f.Name())
	}
	return names
}

func fingerprintOf[T any]() string { return shard.Fingerprint(parquet.SchemaOf(new(T))) }

// TestSchemasArePinned fails when a column of an exported format changes: that
// is another schema version.
func TestSchemasArePinned(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string][]string{
		"sharegpt": columns[rows.ShareGPT](), "prompts": columns[rows.Prompts](), "verl-sft": columns[rows.VerlSFT](), "text": columns[rows.Text](),
		"axes": columns[rows.Axes](), "sft_weighted": columns[rows.Weighted](),
	} {
		golden(t, "columns_"+name+".golden", strings.Join(columns, "\n")+"\n")
	}
}

// TestFingerprintsArePinned fails when a type of any exported row changes, in
// its columns, their types or their encodings: the same rows would then give
// other bytes under the same schema version.
func TestFingerprintsArePinned(t *testing.T) {
	t.Parallel()
	got := strings.Join([]string{
		"hf-json, sft_turns " + fingerprintOf[rows.SFT](), "text " + fingerprintOf[rows.Text](),
		"sharegpt " + fingerprintOf[rows.ShareGPT](), "prompts " + fingerprintOf[rows.Prompts](),
		"verl-rl " + fingerprintOf[rows.RL](), "verl-sft " + fingerprintOf[rows.VerlSFT](),
		"pref " + fingerprintOf[rows.Pref](), "kto " + fingerprintOf[rows.KTO](),
		"stepwise " + fingerprintOf[rows.Steps](), "axes " + fingerprintOf[rows.Axes](),
		"sft_weighted " + fingerprintOf[rows.Weighted](),
	}, "\n") + "\n"
	golden(t, "fingerprints.golden", got)
}

// TestAxesLabelEveryTurn checks that axes has a row for each turn of the model with the scores of the
// full attempt, and that attempts without a score are counted.
func TestAxesLabelEveryTurn(t *testing.T) {
	t.Parallel()
	source := corpusOf(t, []arena.Dialogue{conversation(`{}`, `[]`), conversation(`{}`, `{}`), conversation(`{}`, `1`)})
	p, _, _ := export.ByName("axes")
	out := filepath.Join(t.TempDir(), "out")
	counts, err := export.Run(t.Context(), corpus.Disk{}, source, out, []export.Profile{p}, &export.Options{}, 1)
	ok(t, err)
	if c := counts[0]; c.In != 3 || c.Out != 1 || c.Rows != 2 || c.Dropped["not_scored"] != 2 {
		t.Errorf("counts %+v", c)
	}
	for i, r := range readRows[rows.Axes](t, filepath.Join(out, "data/axes/train-00000-of-00001.parquet")) {
		if r.SessionID != "run/p1" || r.Turn != int64(i+1) || r.Turns != 2 || len(r.Completion) != 2*i+1 || !r.Success || *r.Rule != 0.125 || r.Shop != nil {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}
