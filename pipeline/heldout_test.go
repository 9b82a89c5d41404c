package pipeline_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/mix"
)

// Two problems of the sample day ask for the same doormat, with one gold product.
const (
	doorMat = "a8d994cf-5b3c-489f-abcc-3c8f4bbdfec7"
	twin    = "b8b81153-f77b-4f61-a25b-87eaeba4bbc4"
)

// trained counts the rows of the problems in the train split, over all configs.
func trained(t *testing.T, dir string, problems ...string) int {
	t.Helper()
	s, err := finish.Open(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	count := func(origin *rows.Origin) {
		if slices.Contains(problems, origin.ProblemID) {
			n++
		}
	}
	err = finish.Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error { count(&r.Origin); return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = finish.Rows(s, corpus.ProfileKTO, corpus.SplitTrain, func(r *rows.KTO) error { count(&r.Origin); return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = finish.Rows(s, corpus.ProfilePref, corpus.SplitTrain, func(r *rows.Pref) error { count(&r.Origin); return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = finish.Rows(s, corpus.ProfileVerlRL, corpus.SplitTrain, func(r *rows.RL) error { count(&r.Origin); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// queryOf is the request of a problem of the sample day.
func queryOf(t *testing.T, id string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sampleDay, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problemsOf(t, string(b)) {
		if p.ID == id {
			return p.Query
		}
	}
	t.Fatalf("no problem %s", id)
	return ""
}

// TestHeldOutStaysHeldOut holds that a text which was held out once is in no train split of a later
// corpus, with or without the held-out file.
func TestHeldOutStaysHeldOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	heldOut := inDir("held.jsonl")
	if err := os.WriteFile(heldOut, fmt.Appendf(nil, "{\"id\":\"mat\",\"query\":%q}\n", queryOf(t, doorMat)), 0o600); err != nil {
		t.Fatal(err)
	}
	builtSample(t, inDir("open"))
	if trained(t, inDir("open"), doorMat, twin) == 0 {
		t.Fatal("the day has no training row of the held-out problem: the test has no input")
	}
	guarded := newRun(t, sampleDay, inDir("guarded"))
	guarded.Sources.HeldOut = []string{heldOut}
	dropped := map[string]int64{}
	for _, stage := range build(t, guarded).Funnel {
		maps.Copy(dropped, stage.Dropped)
	}
	if dropped["held_out"] == 0 || dropped["leak_exact"] > 0 {
		t.Errorf("attempts at a held-out problem are named as %v, want held_out", dropped)
	}
	next := newRun(t, sampleDay, inDir("next"))
	next.Sources.Bank = inDir("guarded/bank.json")
	build(t, next)
	m := mix.Mix{Sources: []mix.Source{{Dir: inDir("guarded"), Weight: 1}, {Dir: inDir("open"), Weight: 1}}, Config: mix.Defaults(), Workers: 2,
		Target: finish.Target{FS: corpus.Disk{}, Out: inDir("mixed"), Version: "test"}}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	late := mix.Mix{Sources: []mix.Source{{Dir: inDir("open"), Weight: 1}}, HeldOut: []string{heldOut}, Config: mix.Defaults(), Workers: 2,
		Target: finish.Target{FS: corpus.Disk{}, Out: inDir("late"), Version: "test"}}
	if _, err := late.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"guarded", "next", "mixed", "late"} {
		if n := trained(t, inDir(name), doorMat, twin); n > 0 {
			t.Errorf("%s: %d training rows of the held-out problem or its twin", name, n)
		}
	}
	m.Sources = []mix.Source{{Dir: inDir("open"), Weight: 1}}
	m.Out = inDir("guarded")
	if _, err := m.Run(t.Context()); !errors.Is(err, finish.ErrNotProtected) {
		t.Errorf("the guarded corpus is replaced by an unguarded mixture: %v", err)
	}
	again := newRun(t, sampleDay, inDir("guarded"))
	if _, err := again.Build(t.Context()); !errors.Is(err, finish.ErrNotProtected) {
		t.Errorf("the guarded corpus is replaced by an unguarded one: %v", err)
	}
	again.Sources.Bank = inDir("guarded/bank.json")
	build(t, again)
}

// TestReleaseIsByName holds that a held-out group is split again only if it is named, never against
// a held-out file of the run, and that the card lists it.
func TestReleaseIsByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	heldOut := inDir("held.jsonl")
	if err := os.WriteFile(heldOut, fmt.Appendf(nil, "{\"id\":\"mat\",\"query\":%q}\n", queryOf(t, doorMat)), 0o600); err != nil {
		t.Fatal(err)
	}
	guarded := newRun(t, sampleDay, inDir("corpus"))
	guarded.Sources.HeldOut = []string{heldOut}
	build(t, guarded)
	next := newRun(t, sampleDay, inDir("corpus"))
	next.Sources.Bank = inDir("corpus/bank.json")
	next.Sources.Release = []string{"lamp"}
	if _, err := next.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "holds no problem of that name out") {
		t.Errorf("a group that is not held out is released: %v", err)
	}
	next.Sources.Release = []string{"mat"}
	next.Sources.HeldOut = []string{heldOut}
	if _, err := next.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "holds it out") {
		t.Errorf("a problem of a held-out file is released: %v", err)
	}
	next.Sources.HeldOut = nil
	build(t, next)
	card, err := os.ReadFile(inDir("corpus/README.md"))
	if err != nil || !strings.Contains(string(card), "released by name: mat.") {
		t.Errorf("the card does not name the released group: %v", err)
	}
	bank, err := guard.ReadBank(inDir("corpus"))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(bank, func(e guard.Entry) bool { return e.Bank == "held-out" }) {
		t.Error("the bank holds out what was released")
	}
}

// TestImportSearchesAllTexts holds that a held-out request, product or title is found in every text
// of an imported row, and that the corpus holds it out from then on.
func TestImportSearchesAllTexts(t *testing.T) {
	t.Parallel()
	const heldOutRow = `{"id":"mat","query":"I am looking for a door mat by kubeo, made of aluminium, for at most 1414 pesos.","reward":{"product_id":"9296068591","title":["Kubeo magnetic door mat aluminium nordic original"]}}`
	const mat = "I am looking for a door mat by kubeo, made of aluminium, for at most 1414 pesos."
	places := map[string]string{
		"none":      `{"role":"user","content":"Which bus goes to the airport?"},{"role":"assistant","content":"The nine."}`,
		"request":   `{"role":"user","content":"` + mat + `"},{"role":"assistant","content":"Yes."}`,
		"system":    `{"role":"system","content":"` + mat + `"},{"role":"user","content":"What is new?"},{"role":"assistant","content":"Nothing."}`,
		"developer": `{"role":"developer","content":"` + mat + `"},{"role":"user","content":"What is old?"},{"role":"assistant","content":"Much."}`,
		"second":    `{"role":"user","content":"Hello, who is there?"},{"role":"assistant","content":"Me."},{"role":"user","content":"` + mat + `"},{"role":"assistant","content":"Fine."}`,
		"id":        `{"role":"user","content":"Tell me a number."},{"role":"assistant","content":"Take 9296068591."}`,
		"title":     `{"role":"user","content":"Tell me a name."},{"role":"assistant","content":"Kubeo magnetic door mat aluminium nordic original"}`,
	}
	dir := t.TempDir()
	inDir := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var lines []byte
	for name, messages := range places {
		lines = fmt.Appendf(lines, "{\"id\":%q,\"messages\":[%s]}\n", name, messages)
	}
	out := filepath.Join(dir, "corpus")
	m := newImport(t, inDir("rows.jsonl", string(lines)), out)
	m.Sources.HeldOut = []string{inDir("held.jsonl", heldOutRow)}
	build(t, m)
	verified(t, out)
	for name := range places {
		if n := trained(t, out, name); n > 0 != (name == "none") {
			t.Errorf("%s: %d rows", name, n)
		}
	}
	if leaks := readRows[rows.Leak](t, out, "tables/leaks.parquet"); len(leaks) != len(places)-1 || leaks[0].Match != "mat" {
		t.Errorf("leaks: %+v", leaks)
	}
	if protected := bankOf(t, out).Protected(""); len(protected) != 1 || protected[0].Text != mat {
		t.Errorf("the bank protects %v", protected)
	}
}
