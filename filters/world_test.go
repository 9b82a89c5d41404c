package filters_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/url"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// world is a small simulated shop with seeded products and requests. Nothing
// in it is taken from any real or conformance data.
type world struct {
	rng      *rand.Rand
	products []item           // ids ascend
	byWord   map[string][]int // products whose title holds a word
}

type item struct {
	id, shop, title string
	price           float64
	words           map[string]bool
}

var (
	nouns     = []string{"kettle", "lantern", "rucksack", "blanket", "whisk", "tripod", "easel", "hammock", "goblet", "trowel"}
	materials = []string{"bamboo", "copper", "linen", "granite", "cork", "felt"}
	looks     = []string{"striped", "plain", "dotted", "rustic", "modern"}
	brands    = []string{"arvo", "belmi", "corda", "dunix", "elpro", "fanta", "gorim"}
	colours   = []string{"amber", "violet", "grey", "scarlet"}
)

func newWorld(seed int64) *world {
	w := &world{rng: rand.New(rand.NewSource(seed)), byWord: map[string][]int{}}
	for i := range 600 {
		p := item{id: fmt.Sprint(1000000000 + i*7919191 + w.rng.Intn(1000)), shop: fmt.Sprint(100000 + w.rng.Intn(40)), price: float64(w.rng.Intn(90000)) / 100}
		parts := []string{pick(w, brands), pick(w, looks), pick(w, nouns), pick(w, materials), pick(w, colours)}
		p.title = strings.Join(parts, " ")
		p.words = map[string]bool{}
		for _, x := range parts {
			p.words[x] = true
			w.byWord[x] = append(w.byWord[x], i)
		}
		w.products = append(w.products, p)
	}
	return w
}

func pick(w *world, choices []string) string { return choices[w.rng.Intn(len(choices))] }

// need is one product of a request.
type need struct {
	noun  string
	wants []string // material, look, brand or colour
	price float64  // at most; 0 is none
}

type task struct {
	id    string
	query string
	needs []need
}

func (w *world) task(i int) task {
	t := task{id: fmt.Sprintf("problem-%03d", i)}
	var sentences []string
	for range 1 + w.rng.Intn(3) {
		n := need{noun: pick(w, nouns)}
		n.wants = append(n.wants, pick(w, materials), pick(w, looks))
		if w.rng.Intn(2) == 0 {
			n.wants = append(n.wants, pick(w, brands))
		}
		if w.rng.Intn(2) == 0 {
			n.price = float64(200 + w.rng.Intn(600))
		}
		text := fmt.Sprintf("a %s made of %s, %s", n.noun, n.wants[0], strings.Join(n.wants[1:], ", "))
		if n.price > 0 {
			text += fmt.Sprintf(", for at most %.0f", n.price)
		}
		t.needs = append(t.needs, n)
		sentences = append(sentences, text)
	}
	t.query = "Please find " + strings.Join(sentences, " and ") + "."
	return t
}

// search ranks by the number of matching words, then by id, pages of ten.
func (w *world) search(args map[string]any) []item {
	q := strings.Fields(strings.ToLower(fmt.Sprint(args["q"])))
	page := 1
	if p, ok := args["page"]; ok {
		fmt.Sscan(fmt.Sprint(p), &page)
	}
	shop := ""
	if id, ok := args["shop_id"]; ok {
		shop = fmt.Sprint(id)
	}
	matches := make([]int, len(w.products))
	best := 0
	for _, x := range q {
		for _, i := range w.byWord[x] {
			matches[i]++
			best = max(best, matches[i])
		}
	}
	var hits []item
	for n := best; n > 0 && len(hits) < page*10; n-- {
		for i, p := range w.products {
			if matches[i] == n && (shop == "" || shop == p.shop) {
				hits = append(hits, p)
			}
		}
	}
	return hits[min(max(page-1, 0)*10, len(hits)):min(max(page, 0)*10, len(hits))]
}

func (w *world) byID(id string) (item, bool) {
	i, ok := slices.BinarySearchFunc(w.products, id, func(p item, id string) int { return strings.Compare(p.id, id) })
	if !ok {
		return item{}, false
	}
	return w.products[i], true
}

func listing(items []item) string {
	rows := []string{}
	for _, p := range items {
		rows = append(rows, fmt.Sprintf(`{"product_id": %q, "shop_id": %q, "title": %q, "price": %.2f}`, p.id, p.shop, p.title, p.price))
	}
	return "[" + strings.Join(rows, ", ") + "]"
}

func details(items []item) string {
	rows := []string{}
	for _, p := range items {
		words := strings.Fields(p.title)
		rows = append(rows, fmt.Sprintf(`{"product_id": %q, "short_description": "A %s of %s.", "attributes": {"brand": [%q], "look": [%q], "colour": [%q]}}`, p.id, words[2], words[3], words[0], words[1], words[4]))
	}
	return "[" + strings.Join(rows, ", ") + "]"
}

// recorder writes the trace of one attempt as the sandbox would.
type recorder struct {
	w        *world
	task     task
	now      int64
	steps    []arena.Step
	proxy    []arena.ProxyCall
	requests int
	nextID   int
	// server is the prefix of all reply ids.
	server string
	// style is how the model writes its calls.
	style string
	// limit is the size from which the log cuts an answer.
	limit int
	// wire changes the arguments on their way to the proxy.
	wire func(map[string]any) map[string]any
	// constant has the server give every reply the same id.
	constant bool
	// nonce is the status that each dispatch gets.
	nonce string
	// mute keeps all thinking back.
	mute bool
	// form writes a reply's content in place of the style.
	form func(think string, calls []call) string
	// lasting is the duration of every reply, or 0 for the natural one. quick replies take nearly
	// no time.
	lasting float64
	quick   bool
	// replyNonce is the status that each reply gets.
	replyNonce string
	// tokens returns the server's token count for a text of a number of bytes; nil means about a
	// fourth of it.
	tokens func(bytes int) int
}

func (r *recorder) tick(lo, hi int64) int64 {
	d := lo + r.w.rng.Int63n(hi-lo)
	r.now += d
	return d
}

// infer logs an inference whose answer holds a thought and names calls.
func (r *recorder) infer(think string, calls ...call) { r.reply(r.message(think, calls)) }

// say logs an inference whose answer is plain text.
func (r *recorder) say(text string) { r.reply(map[string]any{"role": "assistant", "content": text}) }

func (r *recorder) reply(message map[string]any) {
	r.nextID++
	r.replyAs(fmt.Sprintf("%s%s-%d", cmp.Or(r.server, "chatcmpl-"), r.task.id, r.nextID), message)
}

func (r *recorder) replyAs(id string, message map[string]any) {
	d := float64(r.tick(800, 6000))
	switch {
	case r.lasting > 0:
		d = r.lasting
	case r.quick:
		d = 0.3 + r.w.rng.Float64()
	}
	if r.constant {
		id = "chatcmpl-0"
	}
	text, _ := json.Marshal(message)
	prompt := 1000 + r.w.rng.Intn(5000)
	written := 40 + r.w.rng.Intn(60) + len(text)/4
	if r.tokens != nil {
		written = r.tokens(len(text))
	}
	body, _ := json.Marshal(map[string]any{
		"id": id, "object": "chat.completion",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": prompt, "completion_tokens": written},
	})
	r.log(arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: r.now, DurationMS: d, Status: 200, Body: `{"model":"m"}`, Nonce: r.replyNonce}, string(body))
	r.requests++
}

func (r *recorder) log(c arena.ProxyCall, response string) {
	c.Length = -1
	if len(response) <= r.limit {
		c.Response = arena.Raw(response)
	} else {
		c.Truncated = true
		c.Length = len(response)
	}
	r.proxy = append(r.proxy, c)
}

// message writes thought and calls in the recorder's style.
func (r *recorder) message(think string, calls []call) map[string]any {
	type named map[string]any
	if r.mute {
		think = ""
	}
	var list []any
	for _, c := range calls {
		list = append(list, named{"name": c.name, "parameters": c.args})
	}
	m := map[string]any{"role": "assistant"}
	if r.form != nil {
		m["content"] = r.form(think, calls)
		return m
	}
	switch r.style {
	case "native":
		var native []any
		for i, c := range calls {
			args, _ := json.Marshal(c.args)
			native = append(native, named{"id": fmt.Sprintf("c%d-%d", r.nextID, i), "type": "function", "function": named{"name": c.name, "arguments": string(args)}})
		}
		m["content"] = think
		m["tool_calls"] = native
	case "blocks":
		blocks := []any{named{"type": "text", "text": think}}
		for i, c := range calls {
			blocks = append(blocks, named{"type": "tool_use", "id": fmt.Sprintf("b%d-%d", r.nextID, i), "name": c.name, "input": c.args})
		}
		m["content"] = blocks
	case "legacy":
		args, _ := json.Marshal(calls[0].args)
		m["content"] = think
		m["function_call"] = named{"name": calls[0].name, "arguments": string(args)}
	case "hermes":
		var b strings.Builder
		b.WriteString("<think>" + think + "</think>\n\n")
		for _, c := range calls {
			one, _ := json.Marshal(named{"name": c.name, "arguments": c.args})
			b.WriteString("<tool_call>\n" + string(one) + "\n</tool_call>\n")
		}
		m["content"] = b.String()
	case "react":
		var b strings.Builder
		fmt.Fprintf(&b, "Thought: %s\n", think)
		for _, c := range calls {
			args, _ := json.Marshal(c.args)
			fmt.Fprintf(&b, "Action: %s\nAction Input: %s\n", c.name, args)
		}
		m["content"] = b.String()
	case "fenced":
		body, _ := json.Marshal(list)
		m["content"] = think + "\n```json\n" + string(body) + "\n```"
	case "careless":
		var b strings.Builder
		b.WriteString("<think>" + think + "</think><tool_call>[")
		for _, c := range calls {
			args, _ := json.Marshal(c.args)
			fmt.Fprintf(&b, "{'name': '%s', 'parameters': %s,},", c.name, args)
		}
		m["content"] = b.String() + "]"
	case "reasoning":
		body, _ := json.Marshal(list)
		m["content"] = ""
		m["reasoning_content"] = think + "\n<tool_call>" + string(body) + "</tool_call>"
	default:
		body, _ := json.Marshal(list)
		m["content"] = "<think>" + think + "</think>\n<tool_call>" + string(body) + "</tool_call>"
	}
	return m
}

// do sends a call through the proxy and fills its result. Calls that no server
// answers are done at once.
func (r *recorder) do(c *call) *call {
	switch c.name {
	case "find_product":
		c.result = listing(r.w.search(c.args))
		r.dispatch("/search/find_product", c.args, c.result)
	case "view_product_information":
		var items []item
		for _, id := range strings.Split(fmt.Sprint(c.args["product_ids"]), ",") {
			if p, ok := r.w.byID(id); ok {
				items = append(items, p)
			}
		}
		c.result = details(items)
		r.dispatch("/search/view_product_information", c.args, c.result)
	}
	return c
}

func (r *recorder) dispatch(path string, args map[string]any, response string) {
	d := r.tick(40, 700)
	arguments := map[string]any{}
	for k, v := range args {
		arguments[k] = v
		if k == "q" {
			arguments[k] = url.QueryEscape(fmt.Sprint(v))
		}
	}
	if r.wire != nil {
		arguments = r.wire(arguments)
	}
	params, _ := json.Marshal(arguments)
	r.log(arena.ProxyCall{Method: "GET", Path: path, AtMS: r.now, DurationMS: float64(d), Status: 200, Params: arena.Raw(params), Nonce: r.nonce}, response)
}

// step records a dialogue step.
func (r *recorder) step(think string, calls ...*call) {
	r.tick(5, 60)
	if r.mute {
		think = ""
	}
	s := arena.Step{Number: len(r.steps) + 1, Think: think, Timestamp: arena.Raw(fmt.Sprint(r.now))}
	for i, c := range calls {
		args, _ := json.Marshal(c.args)
		s.Calls = append(s.Calls, arena.ToolCall{ID: fmt.Sprintf("t%d.%d", s.Number, i), Name: c.name, Arguments: arena.Raw(args), Result: arena.Raw(c.result)})
	}
	r.steps = append(r.steps, s)
}

// act is an honest turn: the model names calls, the client does them.
func (r *recorder) act(think string, calls ...call) []call {
	r.infer(think, calls...)
	return r.run(think, calls)
}

func (r *recorder) run(think string, calls []call) []call {
	pointers := make([]*call, len(calls))
	for i := range calls {
		pointers[i] = r.do(&calls[i])
	}
	r.step(think, pointers...)
	return calls
}

// trace files the proxy's calls under the steps by time, as the sandbox does.
func (r *recorder) trace(agent string) *arena.Trace {
	t := &arena.Trace{
		ID: agent + "/" + r.task.id, RunID: agent, ProblemID: r.task.id, Agent: arena.Agent{VersionID: agent},
		Source: arena.Source{HasProxyLog: true}, Status: arena.StatusSuccess, Query: r.task.query,
		HasDialogue: true, InferenceTotal: r.requests, Seconds: float64(r.now-start) / 1000, Steps: r.steps,
	}
	for _, c := range r.proxy {
		start := 0
		for i := range t.Steps {
			var ms int64
			fmt.Sscan(string(t.Steps[i].Timestamp), &ms)
			if ms <= c.AtMS {
				start = i
			}
		}
		t.Steps[start].Proxy = append(t.Steps[start].Proxy, c)
	}
	return t
}

const start = 1790000000000
