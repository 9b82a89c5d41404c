package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard/rows"
)

// What is held out in the matrix, and the forms in which it is planted in a build's
// own traces.
const matrixHeld = `{"id":"mat","query":"I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos.","reward":{"product_id":"9876543210","title":["Brasko folding camping stove titanium nordic original"]}}`

var matrixForms = []string{
	"I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos.",
	"Could you find me an olive brasko camp stove in titanium? I don't want to pay more than 2416 pesos.",
	"See number 9876543210 there.",
	"It is the Brasko folding camping stove titanium nordic original, really.",
}

// matrixPlaces put a text into an attempt as OpenAI messages; all of them reach rows.
var matrixPlaces = map[string]func(messages []map[string]any, text string) []map[string]any{
	"later message": func(m []map[string]any, text string) []map[string]any {
		last := len(m) - 1
		for m[last]["role"] != "assistant" {
			last--
		}
		return slices.Insert(m, last, map[string]any{"role": "assistant", "content": "Is there anything else?"}, map[string]any{"role": "user", "content": text})
	},
	"thinking": func(m []map[string]any, text string) []map[string]any {
		m[1]["reasoning_content"] = fmt.Sprint(m[1]["reasoning_content"], " ", text)
		m[1]["content"] = strings.Replace(fmt.Sprint(m[1]["content"]), "</think>", " "+text+"</think>", 1)
		return m
	},
	"arguments": func(m []map[string]any, text string) []map[string]any {
		f := m[1]["tool_calls"].([]any)[0].(map[string]any)["function"].(map[string]any)
		f["arguments"] = strings.Replace(fmt.Sprint(f["arguments"]), `"q": "`, `"q": "`+text+" ", 1)
		m[1]["content"] = strings.Replace(fmt.Sprint(m[1]["content"]), `\"q\": \"`, `\"q\": \"`+text+" ", 1)
		return m
	},
}

// TestNothingHeldOutReachesTrainingOfABuild plants what is held out in every place
// of the sample day's attempts from which text reaches rows, in every form, and
// builds it in one process and by stages, also with the protection lost on the way.
func TestNothingHeldOutReachesTrainingOfABuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the day four times")
	}
	t.Parallel()
	arena, dir := program(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put(t, in("held.jsonl"), []byte(matrixHeld+"\n"))
	day := converted(t, arena, testDay, "openai")
	run := func(wantErr string, args ...string) {
		t.Helper()
		b, err := exec.Command(arena, append(args, "-q")...).CombinedOutput()
		if (err != nil) != (wantErr != "") || !strings.Contains(string(b), wantErr) {
			t.Fatalf("%v: %v, want %q\n%s", args, err, wantErr, b)
		}
	}
	set := []string{"--set", "filter.unknown=keep", "--set", "guard.seed=2"}
	build := func(to string, more ...string) []string {
		return slices.Concat([]string{"build", day, "-o", in(to)}, set, more)
	}
	held := []string{"--held-out", in("held.jsonl")}
	marks := plantMatrix(t, filepath.Join(day, "traces", "day.jsonl"))

	run("", build("open")...)
	run("", build("guarded", held...)...)
	run("", build("staged", append(slices.Clone(held), "--plan", in("plan"), "--shards", "2")...)...)
	for _, step := range []string{"map 0/2", "map 1/2", "group", "write 0/2", "write 1/2"} {
		name, shard, _ := strings.Cut(step, " ")
		args := []string{"stage", name, "--plan", in("plan"), "--work", in("w")}
		if shard != "" {
			args = append(args, "--shard", shard)
		}
		run("", args...)
	}
	run("", build("next", "--bank", in("guarded/bank.json"))...)
	open := matrixRows(t, in("open"), marks)
	places := map[string]bool{}
	for mark := range open {
		places[marks[mark]] = true
	}
	if len(places) < len(matrixPlaces)*len(matrixForms) {
		t.Errorf("%d of %d plants are in an open corpus, in these cells alone: %v", len(open), len(marks), places)
	}
	for _, name := range []string{"guarded", "staged", "next"} {
		for mark, n := range matrixRows(t, in(name), marks) {
			t.Errorf("%s: %d rows hold %s", name, n, marks[mark])
		}
	}
	run("are not given", build("guarded", "--force")...) // the protection is lost
	if err := os.Remove(in("held.jsonl")); err != nil {
		t.Fatal(err)
	}
	run("held.jsonl", "stage", "map", "--plan", in("plan"), "--work", in("w2"), "--shard", "0/2")
}

// plantMatrix puts one cell into each attempt, round and round, each with a mark of
// its own; the result names the cells by mark.
func plantMatrix(t *testing.T, path string) map[string]string {
	t.Helper()
	marks := map[string]string{}
	places := []string{"arguments", "later message", "thinking"}
	n, attempts := 0, 0
	err := rewrite(path, func(line string) string {
		if attempts++; attempts%3 == 0 {
			return line // some stay honest
		}
		var attempt map[string]any
		if err := json.Unmarshal([]byte(line), &attempt); err != nil {
			t.Fatal(err)
		}
		var messages []map[string]any
		for _, m := range attempt["messages"].([]any) {
			messages = append(messages, m.(map[string]any))
		}
		if len(messages) < 4 || messages[1]["tool_calls"] == nil {
			return line
		}
		place, form, mark := places[n%3], n/3%len(matrixForms), fmt.Sprintf("zq%03dx", n)
		n++
		marks[mark] = fmt.Sprintf("%s, form %d", place, form)
		attempt["messages"] = matrixPlaces[place](messages, mark+". "+matrixForms[form])
		b, err := json.Marshal(attempt)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	})
	if err != nil {
		t.Fatal(err)
	}
	return marks
}

// matrixRows counts the rows of the train splits by the marks in them.
func matrixRows(t *testing.T, corpus string, marks map[string]string) map[string]int {
	t.Helper()
	out := map[string]int{}
	paths, err := filepath.Glob(filepath.Join(corpus, "data", "*", "train-*.parquet"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no train split: %v", corpus, err)
	}
	for _, path := range paths {
		err := rows.Each(path, func(r rows.Row) error {
			for mark := range marks {
				if strings.Contains(r.JSON, mark) {
					out[mark]++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
