package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus/rows"
)

func requestRow(id, request string) string {
	return fmt.Sprintf(`{"id":%q,"messages":[{"role":"system","content":"Sell lamps."},{"role":"user","content":%q}],`+
		`"tools":[{"type":"function","name":"find","parameters":{"type":"object","properties":{"q":{"type":"string"}}}}]}`, id, request)
}

func predicted(id, thought string) string {
	call := `{"name":"find","arguments":{"q":"lamp"}}`
	return fmt.Sprintf(`{"id":%q,"raw_text":%q,"tool_calls":[%s],"error":null}`, id, "<think>\n"+thought+"\n</think>\n\n<tool_call>\n"+call+"\n</tool_call>", call)
}

// lines writes files of lines into a folder.
func lines(t *testing.T, files map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, rows := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAnswersAreJoinedToTheirPrompts imports prompts and predictions of two files: each answer
// follows the prompt of its id, and a record without a counterpart, or with several, is counted by
// its reason. The order of the files, and of the records in them, does not matter.
func TestAnswersAreJoinedToTheirPrompts(t *testing.T) {
	t.Parallel()
	prompts := []string{requestRow("one", "A red lamp."), requestRow("two", "A blue lamp."), requestRow("both", "A lamp."), requestRow("both", "A lamp at night.")}
	lists := []string{predicted("one", "first try"), predicted("one", "second try"), predicted("both", "which?"), predicted("none", "to whom?")}
	want := map[string]int{"kept ": 2, "dropped joined_prompt": 1, "dropped no_assistant_turn": 3, "dropped answer_to_several_prompts": 1, "dropped answer_without_prompt": 1}
	for _, files := range []map[string][]string{
		{"a.jsonl": prompts, "b.jsonl": lists}, {"a.jsonl": lists, "b.jsonl": prompts}, {"a.jsonl": append(lists[:4:4], prompts...)},
	} {
		dir, _ := imports(t, lines(t, files))
		got := map[string]int{}
		for _, a := range readRows[rows.Attempt](t, dir, "tables/attempts.parquet") {
			got[a.Fate+" "+a.Reason]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, r := range readRows[rows.SFT](t, dir, "data/sft/train-00000-of-00001.parquet") {
			last := gjson.Parse(r.Messages[len(r.Messages)-1])
			if r.Goal != "A red lamp." || len(r.Messages) != 3 || len(r.Tools) != 1 || !strings.HasSuffix(last.Get("reasoning_content").Str, " try") ||
				last.Get("tool_calls.0.function.arguments.q").Str != "lamp" {
				t.Errorf("row: %q %q", r.Goal, r.Messages)
			}
		}
	}
}

// TestABuildJoinsAnswersToTheirPrompts builds twelve prompts and their answers, which state rewards, in
// files of their own: each pair is one attempt with the reward of its answer.
func TestABuildJoinsAnswersToTheirPrompts(t *testing.T) {
	t.Parallel()
	streets := []string{"Oak", "Hill", "Mill", "Church", "Station", "River", "Garden", "Market", "School", "Tower", "Bridge", "Forest"}
	var prompts, answers []string
	for i, street := range streets {
		prompts = append(prompts, requestRow(street, fmt.Sprintf("Which lamp suits the house in %s Street %d?", street, 3*i)))
		answers = append(answers, fmt.Sprintf(`{"id":%q,"reward":%d,"raw_text":"<think>\n%s is old.\n</think>\n\nA tall one.","tool_calls":[],"error":null}`, street, min(i%3, 1), street))
	}
	r := newForeignRun(t, lines(t, map[string][]string{"a.jsonl": answers, "b.jsonl": prompts}), "")
	build(t, r)
	verified(t, r.Out)
	got := map[string]int{}
	for _, a := range readRows[rows.Attempt](t, r.Out, "tables/attempts.parquet") {
		got[a.Reason]++
	}
	if got["joined_prompt"] != len(streets) || got["unsuccessful"] != 4 || got["unanswered_call"] > 0 {
		t.Errorf("reasons: %v", got)
	}
	for _, o := range readRows[rows.Outcome](t, r.Out, "tables/outcomes.parquet") {
		got[fmt.Sprint(o.Scored, o.Success)]++
	}
	if got["true true"] != 8 || got["true false"] != 4 {
		t.Errorf("outcomes: %v", got)
	}
}

// TestAnImportHoldsOutWhatTheCorpusOfItsRowsProtects imports the rows of a built corpus: no row is at a
// problem of the pools eval and never-touch, and the ledger says so.
func TestAnImportHoldsOutWhatTheCorpusOfItsRowsProtects(t *testing.T) {
	t.Parallel()
	r := newRun(t, "../testdata/agents", filepath.Join(t.TempDir(), "corpus"))
	build(t, r)
	dir, _ := imports(t, filepath.Join(r.Out, "data", "sft"))
	got := map[string]int{}
	for _, a := range readRows[rows.Attempt](t, dir, "tables/attempts.parquet") {
		got[a.Fate+" "+a.Reason]++
	}
	n := len(readRows[rows.SFT](t, dir, "data/sft/train-00000-of-00001.parquet"))
	if got["dropped held_out"] == 0 || got["kept "] != n {
		t.Errorf("%d rows, and the ledger has %v", n, got)
	}
}

// TestTheOrderOfFilesDoesNotDecide imports and builds prompts with the same request and other tools,
// and requests of several domains, in files of different names: the corpora are the same.
func TestTheOrderOfFilesDoesNotDecide(t *testing.T) {
	t.Parallel()
	prompt := requestRow("one", "A red lamp.")
	other := strings.ReplaceAll(prompt, `"name":"find"`, `"name":"seek"`)
	files := [][]string{{prompt}, {other}, {predicted("one", "first try"), predicted("one", "second try")}}
	var want map[string]string
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		named := map[string][]string{}
		for i, k := range order {
			named[fmt.Sprintf("%d.jsonl", i)] = files[k]
		}
		dir, _ := imports(t, lines(t, named))
		if got := sums(t, dir); want == nil {
			want = got
		} else {
			sameFiles(t, fmt.Sprintf("files in the order %v", order), got, want)
		}
	}
}
