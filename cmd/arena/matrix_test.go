package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

type object = map[string]any

// The held-out texts of the matrix: a problem, and through it its twin in the day, which asks for
// the same product in other words.
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

// cell is a text in one place of a row of messages, of an attempt of a day, or of an episode. Its
// mark is a unique word in the same row.
type cell struct{ text, place, form, mark string }

func (c *cell) String() string { return c.text + ", " + c.place + ", " + c.form }

// matrix is all cells, planted.
type matrix struct {
	cells []cell
	next  map[string]int
}

// plant returns the next cell of one kind in rotation, each with a mark of its own.
func (m *matrix) plant(text string, places []string) cell {
	forms := slices.Sorted(maps.Keys(matrixForms))
	n := m.next[text]
	m.next[text]++
	c := cell{text, places[n%len(places)], forms[n/len(places)%len(forms)], markOf(len(m.cells))}
	m.cells = append(m.cells, c)
	return c
}

// The ways in which the protection is lost before a command: a source has no list of held-out
// texts, the command runs again without the flag, or the named file is missing.
const (
	unguarded = "a source knows of nothing held out"
	needsFlag = "run again without the flag"
	fileGone  = "the file or the bank is gone"
)

// markOf returns a word of letters alone. A number that occurs once only would count as an
// invention.
func markOf(n int) string {
	return "zq" + string([]rune{rune('a' + n/676), rune('a' + n/26%26), rune('a' + n%26)}) + "x"
}

// matrixRoutes lists all commands that write rows, in the order in which they run. DAY, ROWS, PLAIN
// and HELD are the planted inputs and the held-out file, SHOP is a student and REASONER a model
// whose own replies contain held-out texts; the other words are corpora of earlier routes. Routes
// with shows have no held-out list: they show which cells can reach a row (some of them where the
// command takes a share of the input). A route with refused must print that text; no row of any
// other route may hold a cell.
var matrixRoutes = []struct{ out, command, lost, refused, shows string }{
	{"open", "build DAY EPISODES", "", "", "attempt episode"},
	{"loose", "import ROWS --unguarded", "", "", "row shape"},
	{"both", "mix open loose", "", "", "attempt episode row shape"},
	{"plain", "build PLAIN", "", "", "logged"},
	{"rolled", "recipe rft --corpus plain SHOP", "", "", "some"},
	{"taught", "recipe teacher --corpus plain SHOP", "", "", "rollout"},
	{"labelled", "recipe kto --corpus plain --run rolled.work/run CATALOG", "", "", "rollout"},
	{"paired", "recipe pref --corpus plain --run rolled.work/run CATALOG", "", "", "some"},
	{"stepped", "recipe steps --corpus plain --run rolled.work/run --teacher taught.work/run CATALOG", "", "", "rollout"},
	{"reasoned", "recipe rewrite PLAIN --corpus plain REASONER", "", "", "logged"},

	{"guarded", "build DAY EPISODES --held-out HELD", unguarded, "", ""},
	{"staged", "build DAY EPISODES --held-out HELD --plan plan --shards 2", unguarded, "", ""},
	{"", "stage map --plan plan --work w --shard 0/2", unguarded, "", ""},
	{"", "stage map --plan plan --work w --shard 1/2", unguarded, "", ""},
	{"", "stage group --plan plan --work w", unguarded, "", ""},
	{"", "stage write --plan plan --work w --shard 0/2", unguarded, "", ""},
	{"", "stage write --plan plan --work w --shard 1/2", unguarded, "", ""},
	{"next", "build DAY EPISODES --bank guarded/bank.json", unguarded, "", ""},
	{"imported", "import ROWS --held-out guarded", unguarded, "", ""},
	{"mixed", "mix guarded both", unguarded, "", ""},
	{"mixed-file", "mix both --held-out guarded", unguarded, "", ""},
	{"mixed-again", "mix mixed both", unguarded, "", ""},
	{"recipe", "recipe sft --corpus both --held-out guarded", unguarded, "", ""},
	{"rft", "recipe rft --corpus plain --held-out guarded SHOP", unguarded, "", ""},
	{"rft-run", "recipe rft --corpus plain --held-out guarded --run rolled.work/run CATALOG", unguarded, "", ""},
	{"teacher", "recipe teacher --corpus plain --held-out guarded SHOP", unguarded, "", ""},
	{"kto", "recipe kto --corpus plain --held-out guarded --run rolled.work/run CATALOG", unguarded, "", ""},
	{"pref", "recipe pref --corpus plain --held-out guarded --run rolled.work/run CATALOG", unguarded, "", ""},
	{"steps", "recipe steps --corpus plain --held-out guarded --run rolled.work/run --teacher taught.work/run CATALOG", unguarded, "", ""},
	{"rewrite", "recipe rewrite PLAIN --corpus plain --held-out guarded REASONER", unguarded, "", ""},
	{"public", "publish both --held-out guarded", unguarded, "", ""},
	{"exported", "export mixed --profile openai-jsonl --profile hf-json --profile sharegpt", unguarded, "", ""},
	{"converted", "convert mixed --to openai", unguarded, "", ""},
	{"label", "label mixed", unguarded, "", ""},
	{"sample", "label guarded", unguarded, "", ""},
	{"pages", "view guarded --public", unguarded, "", ""},
	{"", "inspect guarded --head 100", unguarded, "", ""},
	{"", "verify public --public --held-out guarded", unguarded, "", ""},

	{"guarded", "build DAY EPISODES --force", needsFlag, "are not given", ""},
	{"staged", "build DAY EPISODES --plan plan-bare --shards 2", needsFlag, "are not given", ""},
	{"", "stage map --plan plan-bare --work w3 --shard 0/2", needsFlag, "plan-bare", ""},
	{"imported", "import ROWS --unguarded --force", needsFlag, "are not given", ""},
	{"imported2", "import ROWS", needsFlag, "nothing is held out", ""},
	{"mixed", "mix open loose --force", needsFlag, "are not given", ""},
	{"recipe", "recipe sft --corpus open --force", needsFlag, "are not given", ""},
	{"rft", "recipe rft --corpus plain --force SHOP", needsFlag, "are not given", ""},
	{"teacher", "recipe teacher --corpus plain --force SHOP", needsFlag, "are not given", ""},
	{"kto", "recipe kto --corpus plain --run rolled.work/run --force CATALOG", needsFlag, "are not given", ""},
	{"pref", "recipe pref --corpus plain --run rolled.work/run --force CATALOG", needsFlag, "are not given", ""},
	{"steps", "recipe steps --corpus plain --run rolled.work/run --teacher taught.work/run --force CATALOG", needsFlag, "are not given", ""},
	{"rewrite", "recipe rewrite PLAIN --corpus plain --force REASONER", needsFlag, "are not given", ""},
	{"public", "publish open --force", needsFlag, "are not given", ""},
	{"exported", "export both --profile hf-json --force", needsFlag, "are not given", ""},
	{"converted", "convert mixed-file --to openai", needsFlag, "", ""},

	{"label-bare", "label open", needsFlag, "", ""},
	{"pages-bare", "view open --public --held-out HELD", needsFlag, "", ""},
	{"", "inspect mixed --head 100", needsFlag, "", ""},
	{"", "verify open --public --held-out HELD", needsFlag, "what is protected", ""},

	{"next2", "build DAY EPISODES --bank nowhere/bank.json", fileGone, "nowhere", ""},
	{"", "stage map --plan plan-lost --work w2 --shard 0/2", fileGone, "lost.jsonl", ""},
	{"imported3", "import ROWS --held-out nowhere.jsonl", fileGone, "nowhere", ""},
	{"imported4", "import ROWS --held-out bankless", fileGone, "bank", ""},
	{"mixed2", "mix bankless both", fileGone, "bank", ""},
	{"recipe2", "recipe sft --corpus bankless", fileGone, "bank", ""},
	{"rft2", "recipe rft --corpus bankless SHOP", fileGone, "bank", ""},
	{"teacher2", "recipe teacher --corpus bankless SHOP", fileGone, "bank", ""},
	{"kto2", "recipe kto --corpus bankless --run rolled.work/run CATALOG", fileGone, "bank", ""},
	{"pref2", "recipe pref --corpus bankless --run rolled.work/run CATALOG", fileGone, "bank", ""},
	{"steps2", "recipe steps --corpus bankless --run rolled.work/run --teacher taught.work/run CATALOG", fileGone, "bank", ""},
	{"rewrite2", "recipe rewrite PLAIN --corpus bankless REASONER", fileGone, "bank", ""},
	{"public2", "publish bankless", fileGone, "bank", ""},
	{"exported2", "export bankless --profile openai-jsonl --profile hf-json --profile sharegpt", fileGone, "bank", ""},
	{"converted2", "convert bankless --to openai", fileGone, "", ""},
	{"label2", "label bankless", fileGone, "bank", ""},
	{"pages2", "view bankless --public", fileGone, "bank", ""},
	{"", "inspect bankless --head 100", fileGone, "", ""},
	{"", "verify public --public --held-out bankless", fileGone, "bank", ""},
}

// matrixSample are the outputs of the routes that run without the tag long. Of the routes with
// needsFlag only the builds run then, and verify and leak check the output loose only.
var matrixSample = strings.Fields("open loose both guarded sample pages imported imported2 imported3 imported4 mixed next2")

// The places of a row of messages, of an attempt of a day, of an episode, and of a student's
// replies. The row of an attempt has the system prompt and the tools of the harness, but not the
// metadata and not the system prompt of an episode. Therefore the texts in unseen and unread places
// never reach a row.
var (
	rowPlaces     = []string{"first", "second", "system", "developer", "answer", "thinking", "arguments", "tool", "parameter", "name"}
	attemptPlaces = []string{"later", "answer", "thinking", "arguments"}
	unseenPlaces  = []string{"system", "developer", "tool", "parameter", "metadata"}
	episodePlaces = []string{"tool", "parameter", "name", "start", "reply", "arguments"}
	unreadPlaces  = []string{"system", "metadata"}
	rolloutPlaces = []string{"answer", "thinking", "arguments"}
)

// TestNothingHeldOutReachesTraining plants held-out texts in every place of a row and in every
// form, and passes them through every command that writes rows, also with the protection lost
// between two commands: no such row is in a training split, or the command refuses. Without the tag
// long it tests a sample of the commands.
func TestNothingHeldOutReachesTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds the day four times")
	}
	t.Parallel()
	arena := program(t)
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	m := &matrix{next: map[string]int{}}
	put(t, inDir("held.jsonl"), []byte(matrixHeld+"\n"))
	day := converted(t, arena, testDay, "openai")
	problems, err := os.ReadFile(filepath.Join(day, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(day, "problems.jsonl"), append(problems, matrixTwin+"\n"...))
	m.plantDay(t, filepath.Join(day, "traces", "day.jsonl"))
	m.plantEpisodes(t, inDir("episodes"))
	m.plantRows(t, inDir("rows.jsonl"))
	m.plantLog(t, inDir("plain-day"))
	catalog := "--catalog " + inDir("plain-day/catalog.jsonl")
	run := func(args ...string) (output string, err error) {
		c := exec.Command(arena, args...)
		c.Dir = dir
		b, err := c.CombinedOutput()
		return string(b), err
	}
	words := map[string]string{
		"DAY": day, "ROWS": inDir("rows.jsonl"), "HELD": inDir("held.jsonl"), "EPISODES": inDir("episodes"), "PLAIN": inDir("plain-day"), "CATALOG": catalog,
		"SHOP": catalog + " -k 12 --model m --endpoint " + studentURL(t, m.student(t)), "REASONER": "--model m --ledger ledger --endpoint " + m.reasoner(t),
	}
	for _, r := range matrixRoutes {
		isRepeated := r.lost == needsFlag && !strings.HasPrefix(r.command, "build")
		isSampled := slices.Contains(matrixSample, r.out) && !isRepeated
		if !longtest.Tests && !isSampled {
			continue
		}
		if _, err := os.Stat(inDir("bankless")); err != nil && r.lost == needsFlag { // all routes with protection have run
			m.lose(t, dir, func(args ...string) (string, error) {
				return run(append([]string{"build", day, inDir("episodes")}, args...)...)
			})
		}
		var args []string
		for _, word := range strings.Fields(r.command) {
			args = append(args, strings.Fields(cmp.Or(words[word], word))...)
		}
		if r.out != "" {
			args = append(args, "-o", r.out)
		}
		if args[0] == "build" || args[0] == "recipe" && !slices.Contains(args, "rewrite") {
			args = append(args, strings.Fields("--set filter.unknown=keep --set guard.seed=2 --set guard.shares.eval=0.03 --set guard.shares.never_touch=0.03")...)
		}
		if !slices.Contains([]string{"label", "view", "inspect"}, args[0]) {
			args = append(args, "-q")
		}
		output, err := run(args...)
		if (err != nil) != (r.refused != "") || !strings.Contains(output, r.refused) {
			t.Errorf("%s, %s: %v, want %q\n%s", r.command, r.lost, err, r.refused, output)
			continue
		}
		if args[0] == "inspect" {
			for _, c := range m.cellsIn(output) {
				t.Errorf("%s: the output has the cell %s", r.command, &c)
			}
		}
		if _, err := os.Stat(inDir(r.out)); r.out == "" || os.IsNotExist(err) {
			continue
		}
		read := m.trained
		if slices.Contains([]string{"sample", "pages", "pages-bare"}, r.out) {
			read = m.paged
		}
		cells, honest := read(t, inDir(r.out))
		if honest == 0 {
			t.Errorf("%s: no honest row remains", r.command)
		}
		if r.shows != "" {
			m.checkShown(t, r.command, r.shows, cells)
			if r.out != "loose" && !longtest.Tests {
				continue
			}
			m.verified(t, r.out, cells, func(command ...string) (string, error) {
				return run(append(command, r.out, "--held-out", inDir("held.jsonl"))...)
			})
			continue
		}
		for _, c := range cells {
			t.Errorf("%s: a row holds %s", r.command, &c)
		}
	}
}

// TestMatrixIsWhole holds every command of the matrix against every way of losing the
// protection.
func TestMatrixIsWhole(t *testing.T) {
	t.Parallel()
	named := map[string]map[string]bool{}
	for _, r := range matrixRoutes {
		words := strings.Fields(r.command)
		name := words[0]
		if name == "recipe" {
			name += " " + words[1]
		}
		if named[name] == nil {
			named[name] = map[string]bool{}
		}
		named[name][r.lost] = true
	}
	for name, ways := range named {
		for _, way := range []string{unguarded, needsFlag, fileGone} {
			if !ways[way] {
				t.Errorf("%s is not run where %s", name, way)
			}
		}
	}
}

// student returns a model server that plays the problems of the test day and writes a cell in three
// of four conversations.
func (m *matrix) student(t *testing.T) *script.Server {
	t.Helper()
	server := dayStudent(t, 0.8)
	requests := map[string]int64{}
	err := rows.Each(filepath.Join(testDay, "problems.jsonl"), func(r rows.Row) error {
		requests[rows.Read(r).Request] = int64(r.Line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	solve := server.Plan
	firstCell := len(m.cells)
	for range len(rolloutPlaces) * len(matrixForms) {
		m.plant("rollout", rolloutPlaces)
	}
	cells := m.cells[firstCell:len(m.cells):len(m.cells)]
	server.Plan = func(query string, seed int64) script.Plan {
		plan := slices.Clone(solve(query, seed))
		if seed%4 == 3 {
			return plan // a quarter of the conversations has no cell
		}
		c := &cells[(requests[query]*5+seed)%int64(len(cells))]
		think := c.mark
		switch text := matrixForms[c.form]; c.place {
		case "thinking":
			think += " " + text
		case "answer":
			plan[0].Content += text
		case "arguments":
			arguments, err := json.Marshal(map[string]string{"q": text})
			if err != nil {
				panic(err) // encoding a string cannot fail
			}
			plan = slices.Insert(plan, 1, script.Act{Content: "<think>Another search.</think>", Calls: []script.Call{{Name: "find_product", Arguments: string(arguments)}}})
		}
		plan[0].Content = strings.Replace(plan[0].Content, "</think>", " "+think+"</think>", 1)
		return plan
	}
	return server
}

// reasoner returns the URL of a model that writes honest reasoning for the attempts of programs. If
// the length of the request is a multiple of three and no product is shown, it adds a held-out
// text, which the rewrite rejects.
func (m *matrix) reasoner(t *testing.T) string {
	t.Helper()
	forms := slices.Sorted(maps.Keys(matrixForms))
	return modeltest.New(t, func(c modeltest.Call) modeltest.Action {
		return modeltest.Reply(script.Reason(c.Text, func(s *script.Shown) string {
			if n := len(s.Request); n%3 == 0 && len(s.Products) == 0 {
				return s.Honest() + " " + matrixForms[forms[n/3%len(forms)]]
			}
			return s.Honest()
		}))
	}).BaseURL()
}

// plantLog writes the test day with a cell in what four of five attempts search for first,
// in the dialogue and in the proxy's log.
func (m *matrix) plantLog(t *testing.T, day string) {
	t.Helper()
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(day, "traces", "*", "output.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`"parameters": \{"q": "([^"]+)"`)
	n := 0
	for _, file := range files {
		err = rewrite(file, func(line string) string {
			match := first.FindStringSubmatch(line)
			if n++; match == nil || n%5 == 0 {
				return line
			}
			c := m.plant("logged", []string{"arguments"})
			text := match[1] + " " + c.mark + " " + matrixForms[c.form]
			return strings.NewReplacer(
				`"q": "`+match[1]+`"`, `"q": "`+text+`"`, `\"q\": \"`+match[1]+`\"`, `\"q\": \"`+text+`\"`,
				`"q": "`+url.QueryEscape(match[1])+`"`, `"q": "`+url.QueryEscape(text)+`"`).Replace(line)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// lose makes a plan whose held-out file is missing, and a corpus whose bank is missing.
func (m *matrix) lose(t *testing.T, dir string, build func(args ...string) (string, error)) {
	t.Helper()
	lost := filepath.Join(dir, "lost.jsonl")
	put(t, lost, []byte(matrixHeld+"\n"))
	if output, err := build("--held-out", lost, "--plan", "plan-lost", "--shards", "2", "-q", "-o", "staged-lost"); err != nil {
		t.Fatal(err, output)
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

// checkShown compares the rows of an unguarded corpus with the cells that can reach a row.
func (m *matrix) checkShown(t *testing.T, name, kinds string, cells []cell) {
	t.Helper()
	got := map[string]bool{}
	want := map[string]bool{}
	for _, c := range cells {
		got[c.String()] = true
	}
	for _, c := range m.cells {
		if strings.Contains(kinds, c.text) {
			want[c.String()] = true
		}
	}
	for c := range want {
		if !got[c] {
			t.Errorf("%s: without protection too no row holds %s: nothing is shown", name, c)
		}
	}
}

// verified compares the findings of verify and leak for an unguarded corpus with the cells in it.
// Each row of messages holds one cell. Only the file of problems shows that a twin asks for the
// same product, and neither command reads it.
func (m *matrix) verified(t *testing.T, name string, cells []cell, ask func(command ...string) (string, error)) {
	t.Helper()
	leaks := 0
	want := 0
	for _, c := range cells {
		if c.text == "row" && c.form != "twin" || c.text == "shape" {
			want++
		}
	}
	output, err := ask("verify")
	if _, leakText, is := strings.Cut(output, " leak: "); is {
		_, _ = fmt.Sscan(leakText, &leaks) // leaks remains 0 for any other output
	}
	if err == nil || leaks < max(want, 1) {
		t.Errorf("verify finds %d of %d cells in %s: %v", leaks, want, name, err)
	}
	if output, err = ask("leak", "-q", "-o", "-"); err != nil || strings.Count(output, `"drop":true`) < max(want, 1) {
		t.Errorf("leak finds %d of %d cells in %s: %v", strings.Count(output, `"drop":true`), want, name, err)
	}
}

// plantRows writes rows of messages, a cell each, and honest ones.
func (m *matrix) plantRows(t *testing.T, path string) {
	t.Helper()
	var lines bytes.Buffer
	encode := json.NewEncoder(&lines)
	for _, place := range slices.Sorted(maps.Keys(matrixShapes)) {
		c := cell{"shape", place, "verbatim", markOf(len(m.cells))}
		m.cells = append(m.cells, c)
		if err := encode.Encode(shapeOf(&c)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range (len(rowPlaces)+1)*len(matrixForms) + 3 {
		var c cell
		switch {
		case n < 3:
			c.mark = fmt.Sprintf("honest%d", n)
		case n < 3+len(matrixForms):
			c = m.plant("unread", unreadPlaces[1:])
		default:
			c = m.plant("row", rowPlaces)
		}
		if err := encode.Encode(rowOf(&c)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, path, lines.Bytes())
}

// matrixShapes are contents of the customer's messages, each a text or a list of parts. No part
// alone holds the held-out text in plain letters.
var matrixShapes = map[string][]any{
	"two turns":         splitShape(2),
	"three turns":       splitShape(3),
	"five turns":        splitShape(5),
	"three parts":       {slicesx.Map(splitShape(3), func(text any) any { return object{"type": "text", "text": text} })},
	"percent-encoding":  {url.PathEscape(matrixForms["verbatim"])},
	"form encoding":     {"https://shop.example/?q=" + url.QueryEscape(matrixForms["verbatim"])},
	"HTML entities":     {runesShape("&#%d;")},
	"escapes":           {runesShape(`\u%04x`)},
	"base64":            {base64.StdEncoding.EncodeToString([]byte(matrixForms["verbatim"]))},
	"hexadecimal":       {hex.EncodeToString([]byte(matrixForms["verbatim"]))},
	"product link":      {"See https://shop.example/products/-i9876543210.html for that."},
	"separated digits":  {"The product is 9,876,543,210."},
	"JSON":              {`{"wish":{"text":"` + matrixForms["verbatim"] + `"}}`},
	"another language":  {"Bitte antworten Sie auf diese Anfrage: " + matrixForms["verbatim"] + " Vielen Dank!"},
	"spaced letters":    {strings.Join(strings.Split(matrixForms["verbatim"], ""), " ")},
	"invisible letters": {strings.Join(strings.Split(matrixForms["verbatim"], ""), "\u200b")},
}

// splitShape is the held-out request in parts of as many words.
func splitShape(parts int) (out []any) {
	words := strings.Fields(matrixForms["verbatim"])
	for i := range parts {
		out = append(out, strings.Join(words[i*len(words)/parts:(i+1)*len(words)/parts], " "))
	}
	return out
}

// runesShape is the held-out request with each letter written by a format.
func runesShape(format string) string {
	var b strings.Builder
	for _, r := range matrixForms["verbatim"] {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// shapeOf is a row of a shape.
func shapeOf(c *cell) object {
	var messages []object
	for i, content := range matrixShapes[c.place] {
		messages = append(messages, object{"role": "user", "content": content}, object{"role": "assistant", "content": fmt.Sprintf("Noted, %s %d.", c.mark, i)})
	}
	return object{"id": c.mark, "messages": messages}
}

// rowOf is a row with a text in one place.
func rowOf(c *cell) object {
	value := func(place, other string) string {
		if place == c.place {
			return matrixForms[c.form]
		}
		return other
	}
	message := func(role, content string) object { return object{"role": role, "content": content} }
	call := object{"id": "c", "type": "function", "function": object{"name": "look", "arguments": fmt.Sprintf("{\"q\":%q}", value("arguments", "bus"))}}
	messages := []object{
		message("system", value("system", "You help people.")), message("developer", value("developer", "Be brief.")), message("user", value("first", "Which bus goes to "+c.mark+"?")),
		{"role": "assistant", "content": "", "reasoning_content": value("thinking", "A bus."), "tool_calls": []object{call}},
		{"role": "tool", "tool_call_id": "c", "content": "nine"}, message("assistant", value("answer", "The nine.")),
		message("user", value("second", "And back?")), message("assistant", "The ten, "+c.mark+"."),
	}
	parameters := object{"type": "object", "properties": object{value("name", "q"): object{"type": "string", "description": value("parameter", "What is looked for.")}}}
	tools := []object{{"type": "function", "function": object{"name": "look", "description": value("tool", "Looks for a bus."), "parameters": parameters}}}
	return object{"id": c.mark, "messages": messages, "tools": tools, "metadata": object{"note": value("metadata", "A bus.")}}
}

// plantDay writes a cell into two of three attempts of a day of OpenAI messages.
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
			return line // a third of the attempts has no cell
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

// plantAttempt writes a mark into the first thinking of an attempt, and the text of the cell into
// its place.
func plantAttempt(attempt object, messages []object, c *cell) {
	text := matrixForms[c.form]
	first := messages[1]
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
	case "metadata":
		attempt["metadata"] = object{"note": text}
	case "system", "developer":
		messages = slices.Insert(messages, 0, object{"role": c.place, "content": text})
	case "tool", "parameter":
		texts := map[string]string{c.place: text}
		attempt["tools"] = []object{{"type": "function", "function": object{"name": "find_product", "description": texts["tool"],
			"parameters": object{"type": "object", "properties": object{"q": object{"type": "string", "description": texts["parameter"]}}}}}}
	}
	first["reasoning_content"] = fmt.Sprint(first["reasoning_content"], " ", think)
	first["content"] = strings.Replace(fmt.Sprint(first["content"]), "</think>", " "+think+"</think>", 1)
	attempt["messages"] = messages
}

// plantEpisodes writes episodes of an environment pack, whose rows have the tools that each episode
// declares: a task and a request of its own for each cell.
func (m *matrix) plantEpisodes(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile("../../traces/testdata/episodes/a-0-00.json")
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	things := strings.Fields(`kettle lamp scarf hose tripod blanket clock tent wallet grinder mat cooker mirror violin saddle drill anchor quilt
		whistle ladder sieve compass hammock candle basket bicycle bucket camera carpet chair curtain desk drum fan fork glove guitar hammer
		helmet kayak keyboard knife lantern microscope mug necklace oven paddle pencil piano pillow pump radio razor ring rope rug sandal saw
		scale scooter shovel sofa spoon stapler telescope toaster towel trumpet umbrella vase wrench
		abacus apron axe badge balloon barrel bell bench binder brush cello chisel clamp cushion dice dresser easel fiddle flag flute funnel
		globe harp hat jacket jar jug kite ladle lens lock mallet marble mop needle net pan parasol plug pot puzzle rake ruler shirt skate sled
		snorkel socket spade spear stool strap sword tray tweezers wheel wig`)
	for n, thing := range things[:longtest.Pick(len(things), 126)] { // three tasks for each cell, since some requests are assigned to the evaluation split
		recordKind := "episode"
		places := episodePlaces
		if n%7 == 6 {
			recordKind = "unread"
			places = unreadPlaces
		}
		c := m.plant(recordKind, places)
		d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(string(text), "w0-t0", fmt.Sprint("w0-cell", n))))
		d.UseNumber()
		var episode object
		if err = d.Decode(&episode); err != nil {
			t.Fatal(err)
		}
		episode["query"] = fmt.Sprintf("Please bring me a %s, for at most %d pesos.", thing, 311+97*n)
		episode["evaluation_run_id"] = fmt.Sprint("run-e", n)
		f := episode["tools"].([]any)[0].(object)["function"].(object)
		f["description"] = "View one product, " + c.mark + "."
		text := matrixForms[c.form]
		properties := f["parameters"].(object)["properties"].(object)
		switch c.place {
		case "tool":
			f["description"] = fmt.Sprint(f["description"], " ", text)
		case "parameter":
			properties["id"].(object)["description"] = text
		case "name":
			properties[text] = object{"type": "string"}
		case "system", "metadata":
			episode[c.place] = text
		default:
			setText(episode["ledger"].(object)["episode"].([]any), c.place, text)
		}
		var ledger bytes.Buffer // the runtime's canonical form: sorted keys, no escapes
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

// setText writes a text into a ledger: into the first observation of the agent, a reply of the
// simulated shopper, or a message to the shopper.
func setText(ledger []any, place, text string) {
	for _, one := range ledger {
		switch record := one.(object); {
		case place == "start" && record["kind"] == "start":
			record["observation"] = text
		case place == "reply" && record["kind"] == "reply":
			record["text"] = text
		case place == "arguments" && record["tool"] == "message_shopper":
			record["args"] = object{"text": text}
		}
	}
}

// trained returns the cells whose text is in a training row, and the number of rows without a cell.
// Of a corpus it reads the train splits, of other folders and files all rows. A row made of two
// attempts is named by both.
func (m *matrix) trained(t *testing.T, path string) (rowCells []cell, honest int) {
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
			cells := m.cellsIn(r.JSON)
			if rowCells = append(rowCells, cells...); len(cells) == 0 {
				honest++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rowCells, honest
}

// paged returns the cells whose text is in a file of pages, and the number of files.
func (m *matrix) paged(t *testing.T, dir string) (cells []cell, files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files++
		cells = append(cells, m.cellsIn(string(text))...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return cells, files
}

// cellsIn returns the cells whose mark and text are in a row. A row made of two attempts has both
// marks. A text without a mark is a cell without a place.
func (m *matrix) cellsIn(row string) (cells []cell) {
	for _, c := range m.cells {
		if strings.Contains(row, c.mark) && (c.text == "shape" || strings.Contains(row, matrixForms[c.form])) {
			cells = append(cells, c)
		}
	}
	for form, text := range matrixForms {
		if len(cells) == 0 && strings.Contains(row, text) {
			cells = append(cells, cell{form: form})
		}
	}
	return cells
}
