package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard/rows"
)

type object = map[string]any

// What is held out in the matrix: a problem, and by it its twin in the day, which asks
// for the same product in words of its own.
const (
	matrixHeld = `{"id":"mat","query":"I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos.","reward":{"product_id":"9876543210","title":["Brasko folding camping stove titanium nordic original"]}}`
	matrixTwin = `{"problem_id":"7d1f3c52-8c1e-4a7b-9a55-0f6f1c2b3d4e","query":"Something to boil soup on in the mountains, nothing heavier than 512 grams, and cash on delivery.","category":"Product","reward":{"product_id":"9876543210","title":["Brasko folding camping stove titanium nordic original"]}}`
)

// matrixForms are the texts that are planted.
var matrixForms = map[string]string{
	"verbatim":   "I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos.",
	"inside":     "Please note: I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos. So it was yesterday.",
	"paraphrase": "Could you find me an olive brasko camp stove in titanium? I do not want to pay more than 2416 pesos.",
	"twin":       "Something to boil soup on in the mountains, nothing heavier than 512 grams, and cash on delivery.",
	"id":         "See number 9876543210 there.",
	"title":      "It is the Brasko folding camping stove titanium nordic original, really.",
}

// cell is a text in a place of a row of messages, of an attempt of a day, or of an
// episode. Its mark stands in the row beside the text.
type cell struct{ of, place, form, mark string }

func (c *cell) String() string { return c.of + ", " + c.place + ", " + c.form }

// matrix is all cells, planted.
type matrix struct {
	cells []cell
	next  map[string]int
}

// plant gives the cells of one kind round and round, each time with a mark of its own.
func (m *matrix) plant(of string, places []string) cell {
	forms := slices.Sorted(maps.Keys(matrixForms))
	n := m.next[of]
	m.next[of]++
	c := cell{of, places[n%len(places)], forms[n/len(places)%len(forms)], fmt.Sprintf("zq%03dx", len(m.cells))}
	m.cells = append(m.cells, c)
	return c
}

// matrixRoutes are all commands that write rows, in the order in which they run. DAY, ROWS
// and HELD are what was planted and what is held out; the other words are corpora of
// routes before. The first three know of nothing held out: they show which cells can
// reach a row. A route with refused has lost the protection on the way, and must say so.
var matrixRoutes = []struct{ out, command, refused string }{
	{"open", "build DAY EPISODES", ""},
	{"loose", "import ROWS --unguarded", ""},
	{"both", "mix open loose", ""},

	{"guarded", "build DAY EPISODES --held-out HELD", ""},
	{"staged", "build DAY EPISODES --held-out HELD --plan plan --shards 2", ""},
	{"", "stage map --plan plan --work w --shard 0/2", ""},
	{"", "stage map --plan plan --work w --shard 1/2", ""},
	{"", "stage group --plan plan --work w", ""},
	{"", "stage write --plan plan --work w --shard 0/2", ""},
	{"", "stage write --plan plan --work w --shard 1/2", ""},
	{"next", "build DAY EPISODES --bank guarded/bank.json", ""},
	{"imported", "import ROWS --held-out guarded", ""},
	{"mixed", "mix guarded both", ""},
	{"mixed-file", "mix both --held-out guarded", ""},
	{"mixed-again", "mix mixed both", ""},
	{"recipe", "recipe sft --corpus both --held-out guarded", ""},
	{"public", "publish both --held-out guarded", ""},
	{"exported", "export mixed --profile openai-jsonl --profile hf-json --profile sharegpt", ""},
	{"converted", "convert mixed --to openai", ""},

	// The run without the flag that a run before had.
	{"guarded", "build DAY EPISODES --force", "are not given"},
	{"imported", "import ROWS --unguarded --force", "are not given"},
	{"mixed", "mix open loose --force", "are not given"},
	{"recipe", "recipe sft --corpus open --force", "are not given"},
	{"public", "publish open --force", "are not given"},
	// The file that was named is gone, or the bank of a source.
	{"next2", "build DAY EPISODES --bank nowhere/bank.json", "nowhere"},
	{"", "stage map --plan plan-lost --work w2 --shard 0/2", "lost.jsonl"},
	{"mixed2", "mix bankless both", "bank"},
	{"recipe2", "recipe sft --corpus bankless", "bank"},
	{"public2", "publish bankless", "bank"},
}

// The places of a row of messages, of an attempt of a day, and of an episode. Of an
// attempt the harness's own prompt and tools come into the row, so that the last four
// never reach one.
var (
	rowPlaces     = []string{"first", "second", "system", "developer", "answer", "thinking", "arguments", "tool", "parameter"}
	attemptPlaces = []string{"later", "answer", "thinking", "arguments"}
	unseenPlaces  = []string{"system", "developer", "tool", "parameter"}
	episodePlaces = []string{"tool", "parameter"}
)

// TestNothingHeldOutReachesTraining plants what is held out in every place where a
// text can stand, in every form, and takes it through every command that writes
// rows, also with the protection lost on the way: no such row is trained on, or
// the command refuses.
func TestNothingHeldOutReachesTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the day four times")
	}
	t.Parallel()
	arena, dir := program(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	m := &matrix{next: map[string]int{}}
	put(t, in("held.jsonl"), []byte(matrixHeld+"\n"))
	day := converted(t, arena, testDay, "openai")
	problems, err := os.ReadFile(filepath.Join(day, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(day, "problems.jsonl"), append(problems, matrixTwin+"\n"...))
	m.plantDay(t, filepath.Join(day, "traces", "day.jsonl"))
	m.plantEpisodes(t, in("episodes"))
	m.plantRows(t, in("rows.jsonl"))

	run := func(args ...string) (said string, err error) {
		c := exec.Command(arena, args...)
		c.Dir = dir
		b, err := c.CombinedOutput()
		return string(b), err
	}
	paths := map[string]string{"DAY": day, "ROWS": in("rows.jsonl"), "HELD": in("held.jsonl"), "EPISODES": in("episodes")}
	for i, r := range matrixRoutes {
		if r.out == "guarded" && r.refused != "" { // all routes that know are behind us
			m.lose(t, dir, func(args ...string) (string, error) {
				return run(append([]string{"build", day, in("episodes")}, args...)...)
			})
		}
		var args []string
		for _, word := range strings.Fields(r.command) {
			if path, is := paths[word]; is {
				word = path
			}
			args = append(args, word)
		}
		if r.out != "" {
			args = append(args, "-o", r.out)
		}
		if args[0] == "build" {
			args = append(args, "--set", "filter.unknown=keep", "--set", "guard.seed=2")
		}
		said, err := run(append(args, "-q")...)
		if (err != nil) != (r.refused != "") || !strings.Contains(said, r.refused) {
			t.Fatalf("%s: %v, want %q\n%s", r.command, err, r.refused, said)
		}
		if _, err := os.Stat(in(r.out)); r.out == "" || os.IsNotExist(err) {
			continue
		}
		found, honest := m.trained(t, in(r.out))
		if honest == 0 {
			t.Errorf("%s: the honest rows are gone", r.command)
		}
		if i < 3 {
			m.shown(t, r.out, found)
			m.verified(t, r.out, found, func() (string, error) { return run("verify", r.out, "--held-out", in("held.jsonl")) })
			continue
		}
		for _, c := range found {
			t.Errorf("%s: a row holds %s", r.command, &c)
		}
	}
}

// lose makes a plan whose held-out file is gone, and a corpus whose bank is.
func (m *matrix) lose(t *testing.T, dir string, build func(args ...string) (string, error)) {
	t.Helper()
	lost := filepath.Join(dir, "lost.jsonl")
	put(t, lost, []byte(matrixHeld+"\n"))
	if said, err := build("--held-out", lost, "--plan", "plan-lost", "--shards", "2", "-q", "-o", "staged-lost"); err != nil {
		t.Fatal(err, said)
	}
	if err := os.CopyFS(filepath.Join(dir, "bankless"), os.DirFS(filepath.Join(dir, "guarded"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{lost, filepath.Join(dir, "bankless", "bank.json")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// shown holds the rows of an unguarded corpus against the cells that can reach one.
func (m *matrix) shown(t *testing.T, name string, found []cell) {
	t.Helper()
	got, want := map[string]bool{}, map[string]bool{}
	for _, c := range found {
		got[c.String()] = true
	}
	for _, c := range m.cells {
		if strings.Contains(map[string]string{"open": "attempt episode", "loose": "row", "both": "attempt episode row"}[name], c.of) {
			want[c.String()] = true
		}
	}
	for c := range want {
		if !got[c] {
			t.Errorf("%s: without protection too no row holds %s: nothing is shown", name, c)
		}
	}
}

// verified holds what verify says of an unguarded corpus against the cells in it. Each
// row of messages holds one. Only the day's problems tell that a twin asks for the same
// product, and verify is not given them.
func (m *matrix) verified(t *testing.T, name string, found []cell, verify func() (string, error)) {
	t.Helper()
	leaks, want := 0, 0
	for _, c := range found {
		if c.of == "row" && c.form != "twin" {
			want++
		}
	}
	said, err := verify()
	if _, told, is := strings.Cut(said, " leak: "); is {
		_, _ = fmt.Sscan(told, &leaks) // 0 where it says otherwise
	}
	if err == nil || leaks < max(want, 1) {
		t.Errorf("verify finds %d of %d cells in %s: %v", leaks, want, name, err)
	}
}

// plantRows writes rows of messages, a cell each, and honest ones.
func (m *matrix) plantRows(t *testing.T, path string) {
	t.Helper()
	var lines bytes.Buffer
	encode := json.NewEncoder(&lines)
	for n := range len(rowPlaces)*len(matrixForms) + 3 {
		c := cell{mark: fmt.Sprintf("honest%d", n)}
		if n >= 3 {
			c = m.plant("row", rowPlaces)
		}
		if err := encode.Encode(rowOf(&c)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, path, lines.Bytes())
}

// rowOf is a row with a text in one place.
func rowOf(c *cell) object {
	at := func(place, other string) string {
		if place == c.place {
			return matrixForms[c.form]
		}
		return other
	}
	message := func(role, content string) object { return object{"role": role, "content": content} }
	call := object{"id": "c", "type": "function", "function": object{"name": "look", "arguments": fmt.Sprintf("{\"q\":%q}", at("arguments", "bus"))}}
	messages := []object{
		message("system", at("system", "You help people.")), message("developer", at("developer", "Be brief.")), message("user", at("first", "Which bus goes to "+c.mark+"?")),
		{"role": "assistant", "content": "", "reasoning_content": at("thinking", "A bus."), "tool_calls": []object{call}},
		{"role": "tool", "tool_call_id": "c", "content": "nine"}, message("assistant", at("answer", "The nine.")),
		message("user", at("second", "And back?")), message("assistant", "The ten, "+c.mark+"."),
	}
	parameters := object{"type": "object", "properties": object{"q": object{"type": "string", "description": at("parameter", "What is looked for.")}}}
	tools := []object{{"type": "function", "function": object{"name": "look", "description": at("tool", "Looks for a bus."), "parameters": parameters}}}
	return object{"id": c.mark, "messages": messages, "tools": tools}
}

// plantDay puts a cell into two of three attempts of a day of OpenAI messages.
func (m *matrix) plantDay(t *testing.T, path string) {
	t.Helper()
	attempts := 0
	err := rewrite(path, func(line string) string {
		var attempt object
		if attempts++; json.Unmarshal([]byte(line), &attempt) != nil {
			t.Fatal(line)
		}
		var messages []object
		for _, one := range attempt["messages"].([]any) {
			messages = append(messages, one.(object))
		}
		if attempts%7 == 0 || len(messages) < 4 || messages[1]["tool_calls"] == nil {
			return line // some stay honest
		}
		var c cell
		if attempts%5 != 0 {
			c = m.plant("attempt", attemptPlaces)
		} else {
			c = m.plant("unseen", unseenPlaces)
		}
		plantAttempt(attempt, messages, &c)
		b, err := json.Marshal(attempt)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	})
	if err != nil {
		t.Fatal(err)
	}
}

// plantAttempt puts a mark into the first thinking of an attempt, and the text of the cell
// into its place.
func plantAttempt(attempt object, messages []object, c *cell) {
	text, first := matrixForms[c.form], messages[1]
	last := len(messages) - 1
	for messages[last]["role"] != "assistant" {
		last--
	}
	think := c.mark
	switch c.place {
	case "later":
		messages = slices.Insert(messages, last, object{"role": "assistant", "content": "Is there anything else?"}, object{"role": "user", "content": text})
	case "answer":
		messages = slices.Insert(messages, last, object{"role": "assistant", "content": text}, object{"role": "user", "content": "Go on, please."})
	case "thinking":
		think += " " + text
	case "arguments":
		f := first["tool_calls"].([]any)[0].(object)["function"].(object)
		f["arguments"] = strings.Replace(fmt.Sprint(f["arguments"]), `"q": "`, `"q": "`+text+" ", 1)
		first["content"] = strings.Replace(fmt.Sprint(first["content"]), `\"q\": \"`, `\"q\": \"`+text+" ", 1)
	case "system", "developer":
		messages = slices.Insert(messages, 0, object{"role": c.place, "content": text})
	case "tool", "parameter":
		of := map[string]string{c.place: text}
		attempt["tools"] = []object{{"type": "function", "function": object{"name": "find_product", "description": of["tool"],
			"parameters": object{"type": "object", "properties": object{"q": object{"type": "string", "description": of["parameter"]}}}}}}
	}
	first["reasoning_content"] = fmt.Sprint(first["reasoning_content"], " ", think)
	first["content"] = strings.Replace(fmt.Sprint(first["content"]), "</think>", " "+think+"</think>", 1)
	attempt["messages"] = messages
}

// plantEpisodes writes episodes of an environment pack, whose rows have the tools that
// each declares: a task and a request of its own for each cell.
func (m *matrix) plantEpisodes(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile("../../traces/testdata/episodes/a-0-00.json")
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	things := strings.Fields("kettle lamp scarf hose tripod blanket clock tent wallet grinder mat cooker mirror violin saddle drill anchor quilt whistle ladder sieve compass hammock candle")
	for n, thing := range things { // two of each cell, since some requests are drawn for evaluation
		c := m.plant("episode", episodePlaces)
		d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(string(text), "w0-t0", fmt.Sprint("w0-cell", n))))
		d.UseNumber()
		var episode object
		if err = d.Decode(&episode); err != nil {
			t.Fatal(err)
		}
		episode["query"], episode["evaluation_run_id"] = fmt.Sprintf("Please bring me a %s, for at most %d pesos.", thing, 311+97*n), fmt.Sprint("run-e", n)
		f := episode["tools"].([]any)[0].(object)["function"].(object)
		f["description"] = "View one product, " + c.mark + "."
		if c.place == "tool" {
			f["description"] = fmt.Sprint(f["description"], " ", matrixForms[c.form])
		} else {
			f["parameters"].(object)["properties"].(object)["id"].(object)["description"] = matrixForms[c.form]
		}
		var ledger bytes.Buffer // as the runtime's canonical form: keys in order, nothing escaped
		encode := json.NewEncoder(&ledger)
		encode.SetEscapeHTML(false)
		if err = encode.Encode(episode["ledger"].(object)["episode"]); err != nil {
			t.Fatal(err)
		}
		canonical := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSpace(ledger.String()))
		sum := sha256.Sum256([]byte(canonical))
		episode["verdict"].(object)["ledger_sha256"] = hex.EncodeToString(sum[:])
		b, err := json.Marshal(episode)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, fmt.Sprintf("episode-%d.json", n)), b)
	}
}

// trained are the cells whose text stands in a row to train on, and how many rows have
// none: of a corpus those of its train splits, of other folders and files all. A row of two
// attempts is named by both.
func (m *matrix) trained(t *testing.T, path string) (found []cell, honest int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "data", "*", "train-*.parquet"))
	if len(files) == 0 && err == nil {
		files, err = rows.Files(path)
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no rows: %v", path, err)
	}
	for _, file := range files {
		err := rows.Each(file, func(r rows.Row) error {
			in := m.in(r.JSON)
			if found = append(found, in...); len(in) == 0 {
				honest++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found, honest
}

// in are the cells whose mark and text stand in a row; a row of two attempts has the mark
// of either. A text without a mark is a cell without a place.
func (m *matrix) in(row string) (found []cell) {
	for _, c := range m.cells {
		if strings.Contains(row, c.mark) && strings.Contains(row, matrixForms[c.form]) {
			found = append(found, c)
		}
	}
	for form, text := range matrixForms {
		if len(found) == 0 && strings.Contains(row, text) {
			found = append(found, cell{form: form})
		}
	}
	return found
}
