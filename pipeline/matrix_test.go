package pipeline_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/foreign"
	"github.com/trajectory-arena/arena/pipeline/mix"
	"github.com/trajectory-arena/arena/pipeline/public"
	"github.com/trajectory-arena/arena/pipeline/recipe"
	"github.com/trajectory-arena/arena/traces"
)

// What is held out in the matrix, and the forms in which it is planted.
const matrixHeld = `{"id":"mat","query":"I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos.","reward":{"product_id":"9296068591","title":["Brasko folding camping stove titanium nordic original"]}}`

var forms = map[string]string{
	"verbatim":   "I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos.",
	"inside":     "Please note: I am looking for a camping stove by brasko, made of titanium, colour olive, for at most 2416 pesos. So it was yesterday.",
	"paraphrase": "Could you find me an olive brasko camp stove in titanium? I don't want to pay more than 2416 pesos.",
	"id":         "See number 9296068591 there.",
	"title":      "It is the Brasko folding camping stove titanium nordic original, really.",
}

var places = []string{"first", "second", "system", "developer", "answer", "thinking", "arguments", "tool", "parameter"}

// cell is a row with a text in one place.
func cell(id, place, text string) []byte {
	type object = map[string]any
	at := func(p, other string) string {
		if p == place {
			return text
		}
		return other
	}
	message := func(role, content string) object { return object{"role": role, "content": content} }
	call := object{"id": "c", "type": "function", "function": object{"name": "look", "arguments": fmt.Sprintf("{\"q\":%q}", at("arguments", "bus"))}}
	messages := []object{
		message("system", at("system", "You help people.")), message("developer", at("developer", "Be brief.")), message("user", at("first", "Which bus goes to "+id+"?")),
		{"role": "assistant", "content": "", "reasoning_content": at("thinking", "A bus."), "tool_calls": []object{call}},
		{"role": "tool", "tool_call_id": "c", "content": "nine"}, message("assistant", at("answer", "The nine.")),
		message("user", at("second", "And back?")), message("assistant", "The ten."),
	}
	parameters := object{"type": "object", "properties": object{"q": object{"type": "string", "description": at("parameter", "What is looked for.")}}}
	tools := []object{{"type": "function", "function": object{"name": "look", "description": at("tool", "Looks for a bus."), "parameters": parameters}}}
	b, err := json.Marshal(object{"id": id, "messages": messages, "tools": tools})
	if err != nil {
		panic(err) // strings and maps always encode
	}
	return append(b, '\n')
}

// TestNothingHeldOutReachesTraining plants what is held out in every place where a
// text can stand, in every form, and takes it through every command that writes
// rows, also with the protection lost on the way: no such row is trained on, or
// the command refuses.
func TestNothingHeldOutReachesTraining(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, b []byte) string {
		if err := os.WriteFile(in(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	held := write("held.jsonl", []byte(matrixHeld+"\n"))
	lines, ids := cell("honest", "", ""), []string{}
	for _, place := range places {
		for form, text := range forms {
			ids = append(ids, place+"-"+form)
			lines = append(lines, cell(place+"-"+form, place, text)...)
		}
	}
	inputs, err := traces.Discover(write("rows.jsonl", lines))
	if err != nil {
		t.Fatal(err)
	}
	to := func(name string) finish.Target {
		return finish.Target{FS: corpus.Disk{}, Out: in(name), Version: "test"}
	}
	imported := func(name string, heldOut ...string) error {
		m := foreign.Import{Inputs: inputs, HeldOut: heldOut, Workers: 2, Target: to(name)}
		_, failed := m.Run(t.Context())
		return failed
	}
	mixed := func(name string, heldOut []string, sources ...string) error {
		m := mix.Mix{HeldOut: heldOut, Config: mix.Defaults(), Workers: 2, Target: to(name)}
		for _, s := range sources {
			m.Sources = append(m.Sources, mix.Source{Dir: in(s), Weight: 1})
		}
		_, failed := m.Run(t.Context())
		return failed
	}
	build(t, newRun(t, sampleDay, in("open")))
	guarded := newRun(t, sampleDay, in("guarded"))
	guarded.Sources.HeldOut = []string{held}
	build(t, guarded)
	stage, err := recipe.Named("sft")
	if err != nil {
		t.Fatal(err)
	}
	stageOf := func(from, name string) error {
		_, failed := stage.Write(t.Context(), to(name), recipe.Input{Corpus: in(from), HeldOut: []string{held}}, in(name+".work"))
		return failed
	}
	publish := func(from, name string) error {
		p := public.Publication{Corpus: in(from), HeldOut: []string{held}, Target: to(name)}
		_, failed := p.Run(t.Context())
		return failed
	}
	if err = errors.Join(imported("unguarded"), mixed("both", nil, "open", "unguarded")); err != nil {
		t.Fatal(err)
	}
	if n := trained(t, in("both"), ids...); n < len(ids)/2 {
		t.Fatalf("%d rows of %d cells in an unguarded corpus: nothing is shown", n, len(ids))
	}
	err = errors.Join(imported("import", held), mixed("mix-bank", nil, "guarded", "unguarded"), mixed("mix-file", []string{held}, "open", "unguarded"),
		mixed("again", nil, "mix-bank", "both"), stageOf("both", "recipe"), publish("both", "public"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"import", "mix-bank", "mix-file", "again", "recipe", "public"} {
		if n := trained(t, in(name), ids...); n > 0 {
			t.Errorf("%s: %d rows hold what is held out", name, n)
		}
		if name != "recipe" && trained(t, in(name), "honest") == 0 {
			t.Errorf("%s: the honest row is gone", name)
		}
	}
	known, err := finish.Gather(nil, []string{held})
	if err != nil {
		t.Fatal(err)
	}
	leaks, source := 0, opened(t, in("unguarded"))
	if err = known.Leaks(t.Context(), source, func(string, string) { leaks++ }); err != nil || leaks != len(ids) {
		t.Errorf("verify finds %d of %d cells: %v", leaks, len(ids), err)
	}
	if err = os.Remove(in("guarded/bank.json")); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"a mixture of a corpus whose bank is gone": mixed("lost", nil, "guarded", "unguarded"),
		"an import over a guarded one":             imported("import"),
		"a mixture over a guarded one":             mixed("mix-bank", nil, "open", "unguarded"),
	} {
		if !errors.Is(err, finish.ErrNotProtected) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func opened(t *testing.T, dir string) *finish.Source {
	t.Helper()
	s, err := finish.Open(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
