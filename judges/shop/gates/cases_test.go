package gates_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// The labelled cases of testdata/cases.txt are written in a small language of lines. A case begins
// with "case name score kind language". "request R" is the customer's request, "think …" a step's
// thinking (a tab continues it), "find L" a search that returns the list L, and "view ID…", "pick
// ID…" and "end" are the other calls of that step. "note …" adds a text to the first listing.
// "tokens N…", "attempts N…" and "no inference" set the content of the proxy log, which
// otherwise holds one completion of 60 tokens.

type goods struct {
	requests, lists, items map[string]string
}

type labelled struct {
	name, kind, language string
	score                float64
	trace                *arena.Trace
	dialogue             *arena.Dialogue
}

func readGoods(t testing.TB, file string) goods {
	t.Helper()
	g := goods{map[string]string{}, map[string]string{}, map[string]string{}}
	for _, line := range textLines(t, file) {
		if request, ok := strings.CutPrefix(line, "request "); ok {
			name, text, _ := strings.Cut(request, ": ")
			g.requests[name] = text
		} else if list, ok := strings.CutPrefix(line, "list "); ok {
			name, ids, _ := strings.Cut(list, ": ")
			g.lists[name] = ids
		} else if id, suffix, ok := strings.Cut(line, "|"); ok {
			g.items[id] = suffix
		}
	}
	return g
}

func textLines(t testing.TB, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// product is one document in the shape of the search's hits, or of a page.
func (g goods) product(id string, page bool, note string) map[string]any {
	f := strings.Split(g.items[id], "|")
	price, _ := strconv.ParseFloat(f[2], 64)
	sold, _ := strconv.Atoi(f[4])
	if !page {
		return map[string]any{"product_id": id, "shop_id": f[0], "title": strings.TrimSpace(f[1] + " " + note), "price": price,
			"service": strings.Split(f[3], ","), "sold_count": sold}
	}
	attributes := map[string][]string{}
	for pair := range strings.FieldsSeq(f[5]) {
		key, values, _ := strings.Cut(pair, "=")
		attributes[key] = strings.Split(strings.ReplaceAll(values, "~", " "), ",")
	}
	return map[string]any{"product_id": id, "short_description": "", "attributes": attributes, "sku_options": map[string]any{}}
}

func (g goods) result(ids []string, page bool, note string) arena.Raw {
	list := []any{}
	for i, id := range ids {
		if i > 0 {
			note = ""
		}
		list = append(list, g.product(id, page, note))
	}
	return arena.Raw(must(json.Marshal(list)))
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

func readCases(t testing.TB, file string, g goods) []labelled {
	t.Helper()
	var cases []labelled
	var b *builder
	finish := func() {
		if b != nil {
			cases = append(cases, b.done())
		}
	}
	for _, line := range textLines(t, file) {
		if head, ok := strings.CutPrefix(line, "case "); ok {
			finish()
			b = newBuilder(t, g, strings.Fields(head))
			continue
		}
		if b != nil && line != "" && line[0] != '#' {
			b.line(line)
		}
	}
	finish()
	return cases
}

// builder builds one attempt from its lines.
type builder struct {
	testing.TB
	goods
	labelled
	note    string
	proxies []arena.ProxyCall
	log     bool
}

func newBuilder(t testing.TB, g goods, head []string) *builder {
	score, err := strconv.ParseFloat(head[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return &builder{TB: t, goods: g, log: true, labelled: labelled{name: head[0], score: score, kind: head[2], language: head[3],
		trace: &arena.Trace{HasDialogue: true, Source: arena.Source{HasProxyLog: true}}, dialogue: &arena.Dialogue{}}}
}

func (b *builder) line(line string) {
	word, suffix, _ := strings.Cut(line, " ")
	switch word {
	case "request":
		b.trace.Query = b.requests[suffix]
	case "note":
		b.note = suffix
	case "no":
		b.log = false
	case "tokens", "attempts":
		for n := range strings.FieldsSeq(suffix) {
			b.proxies = append(b.proxies, chat(n, word == "attempts"))
		}
	case "think":
		b.turn().Think = suffix
	case "find":
		b.call("find_product", `{"q":"`+suffix+`"}`, b.result(strings.Fields(b.lists[suffix]), false, b.note))
	case "view":
		b.call("view_product_information", `{"product_ids":"`+suffix+`"}`, b.result(strings.Split(suffix, ","), true, ""))
	case "pick":
		b.call("recommend_product", `{"product_ids":"`+suffix+`"}`, arena.Raw(`"Having recommended the products to the user: `+suffix+`."`))
	case "end":
		b.call("terminate", `{}`, `"ended"`)
	default:
		if line[0] != '\t' {
			b.Fatalf("%s: cannot read %q", b.name, line)
		}
		last := &b.dialogue.Turns[len(b.dialogue.Turns)-1]
		last.Think += "\n" + line[1:]
	}
}

func chat(tokens string, attempt bool) arena.ProxyCall {
	return arena.ProxyCall{Attempt: attempt, Path: "/inference/chat/completions", Status: 200,
		Response: arena.Raw(`{"choices":[],"usage":{"prompt_tokens":900,"completion_tokens":` + tokens + `}}`)}
}

// turn opens a step.
func (b *builder) turn() *arena.Turn {
	n := len(b.dialogue.Turns)
	b.trace.Steps = append(b.trace.Steps, arena.Step{Number: n + 1})
	b.dialogue.Turns = append(b.dialogue.Turns, arena.Turn{Step: n})
	return &b.dialogue.Turns[n]
}

// call adds a call to the open step; a call after another of a step that
// thinks nothing opens one of its own.
func (b *builder) call(name, arguments string, result arena.Raw) {
	n := len(b.dialogue.Turns)
	if n == 0 || len(b.dialogue.Turns[n-1].Calls) > 0 {
		b.turn()
		n++
	}
	last := &b.dialogue.Turns[n-1]
	last.Calls = append(last.Calls, arena.Call{ID: fmt.Sprint("call_", n), Name: name, Arguments: arena.Raw(arguments), Result: result})
}

func (b *builder) done() labelled {
	if b.proxies == nil && b.log {
		b.proxies = []arena.ProxyCall{chat("60", false)}
	}
	if len(b.trace.Steps) > 0 {
		b.trace.Steps[0].Proxy = b.proxies
	}
	return b.labelled
}
