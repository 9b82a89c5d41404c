package filters_test

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/trajectory-arena/arena"
)

// agent plays one task and leaves a trace.
type agent struct {
	name    string
	agentic bool
	// setUp changes how the model writes, what the log keeps, what the client
	// sends.
	setUp func(r *recorder)
	play  func(r *recorder)
}

// honest plays as a model would: it varies its searches, looks at some of what
// came back, changes its mind, and picks by what it read.
func honest(turn func(r *recorder, think string, calls ...call) []call, thinks func(r *recorder, what string, shown []string) string) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			chosen = append(chosen, r.pursue(n, turn, thinks))
		}
		final := recommend(chosen...)
		if r.w.rng.Intn(3) == 0 {
			turn(r, thinks(r, "These match best.", chosen), final, finish())
			return
		}
		turn(r, thinks(r, "These match best.", chosen), final)
		turn(r, thinks(r, "All done.", nil), finish())
	}
}

// pursue looks for one product and returns the one the model settles on.
func (r *recorder) pursue(n need, turn func(r *recorder, think string, calls ...call) []call, thinks func(*recorder, string, []string) string) string {
	shown, best := []string{}, ""
	for try := range 1 + r.w.rng.Intn(3) {
		c := find(r.phrase(n, try))
		if n.price > 0 && r.w.rng.Intn(2) == 0 {
			c.args["price"] = fmt.Sprintf("0-%.0f", n.price)
		}
		if try > 0 && r.w.rng.Intn(4) == 0 {
			c.args["page"] = 2
		}
		shown = ids(turn(r, thinks(r, "Searching for a "+n.noun+".", shown), c)[0])
		if len(shown) == 0 {
			continue
		}
		best = shown[r.judge(shown, n)]
		if r.w.rng.Intn(4) == 0 {
			continue
		}
		look := shown[:1+r.w.rng.Intn(min(4, len(shown)))]
		if r.w.rng.Intn(6) == 0 && len(shown) > 2 {
			look = []string{best, shown[len(shown)-1]}
		}
		turn(r, thinks(r, "Looking closer.", look), view(look...))
		if r.w.rng.Intn(2) == 0 {
			break
		}
	}
	if best == "" {
		best = r.w.products[0].id
	}
	return best
}

// phrase is a search in the model's words: some of the wishes, in some order.
func (r *recorder) phrase(n need, try int) string {
	words := append([]string{n.noun}, n.wants...)
	r.w.rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	keep := max(1, len(words)-try-r.w.rng.Intn(2))
	kept := words[:keep]
	if !strings.Contains(strings.Join(kept, " "), n.noun) {
		kept = append(kept, n.noun)
	}
	return strings.Join(kept, " ")
}

// judge picks the product with most of the wishes that fits the price.
func (r *recorder) judge(shown []string, n need) int {
	best, most := 0, -1
	for i, id := range shown {
		p, _ := r.w.byID(id)
		score := 0
		for _, x := range append([]string{n.noun}, n.wants...) {
			if p.words[x] {
				score += 2
			}
		}
		if n.price > 0 && p.price > n.price {
			score -= 3
		}
		if score > most {
			best, most = i, score
		}
	}
	if r.w.rng.Intn(6) == 0 {
		best = r.w.rng.Intn(len(shown))
	}
	return best
}

// talks thinks in words that cite what it saw.
func talks(r *recorder, what string, shown []string) string {
	if len(shown) == 0 {
		return what + " " + pick(r.w, []string{"I start with the main words.", "Few words first.", "The shop should have it."})
	}
	p, _ := r.w.byID(shown[r.w.rng.Intn(len(shown))])
	return what + " " + fmt.Sprintf(pick(r.w, []string{"%s at %.2f looks right (%s).", "I saw %s for %.2f, that is %s.", "%s, %.2f: %s stays in the race."}), p.title, p.price, p.id)
}

func silent(*recorder, string, []string) string { return "" }

func elsewhere(r *recorder, what string, shown []string) string {
	if len(shown) == 0 {
		return "ฉันจะเริ่มค้นหาสินค้าก่อน"
	}
	return "這個看起來比較合適 " + shown[0]
}

func turnPlain(r *recorder, think string, calls ...call) []call { return r.act(think, calls...) }

// turnVotes asks twice more before it acts; the votes name nothing.
func turnVotes(r *recorder, think string, calls ...call) []call {
	r.say(`{"vote": "go on"}`)
	r.say(`{"vote": "go on", "why": "nothing bought yet"}`)
	return r.act(think, calls...)
}

// turnCritic asks a second model what it thinks of the call before it is sent.
func turnCritic(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	r.say("The step is sound, go ahead.")
	return r.run(think, calls)
}

// turnSplit records each call of an answer as a step of its own.
func turnSplit(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	for i := range calls {
		r.step(think, r.do(&calls[i]))
	}
	return calls
}

// turnOneByOne opens the products that the model named together one by one.
func turnOneByOne(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	pointers := []*call{}
	for i := range calls {
		c := &calls[i]
		all := strings.Split(fmt.Sprint(c.args["product_ids"]), ",")
		if c.name != "view_product_information" || len(all) == 1 {
			pointers = append(pointers, r.do(c))
			continue
		}
		var parts []string
		for _, id := range all {
			one := view(id)
			r.do(&one)
			parts = append(parts, strings.Trim(one.result, "[]"))
		}
		c.result = "[" + strings.Join(parts, ", ") + "]"
		pointers = append(pointers, c)
	}
	r.step(think, pointers...)
	return calls
}

// turnRetries has a client that tries again after an answer it did not like.
func turnRetries(r *recorder, think string, calls ...call) []call {
	if r.w.rng.Intn(3) == 0 {
		r.tick(500, 2000)
		r.proxy = append(r.proxy, arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: r.now, DurationMS: 300, Status: 429, Length: -1})
	}
	r.infer(think, calls...)
	for i := range calls {
		if r.w.rng.Intn(2) == 0 && (calls[i].name == "find_product" || calls[i].name == "view_product_information") {
			copied := call{name: calls[i].name, args: calls[i].args}
			r.do(&copied)
			if r.w.rng.Intn(2) == 0 {
				last := &r.proxy[len(r.proxy)-1]
				last.Status, last.Response, last.Truncated, last.Length = 500, "", false, -1
			}
		}
	}
	return r.run(think, calls)
}

// turnParallel sends the calls of one answer at the same moment.
func turnParallel(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	begin := r.now
	pointers := make([]*call, len(calls))
	for i := range calls {
		r.now = begin + int64(r.w.rng.Intn(15))
		pointers[i] = r.do(&calls[i])
	}
	r.now = begin + 1500
	r.step(think, pointers...)
	return calls
}

// parallelShopper asks for everything at once, as an agent with few turns does.
func parallelShopper(r *recorder) {
	var finds, views []call
	for _, n := range r.task.needs {
		finds = append(finds, find(r.phrase(n, 0)))
	}
	finds = turnParallel(r, "All searches at once.", finds...)
	var chosen []string
	for i, f := range finds {
		shown := ids(f)
		if len(shown) == 0 {
			shown = []string{r.w.products[0].id}
		}
		views = append(views, view(shown[:min(3, len(shown))]...))
		chosen = append(chosen, shown[r.judge(shown, r.task.needs[i])])
	}
	turnParallel(r, talks(r, "Now the details.", chosen), views...)
	turnParallel(r, talks(r, "Decided.", chosen), recommend(chosen...), finish())
}

// looper searches for the same again and again, by its own decision.
func looper(r *recorder) {
	q := r.phrase(r.task.needs[0], 0)
	for range 5 + r.w.rng.Intn(6) {
		turnPlain(r, "Let me look again.", find(q))
	}
	turnPlain(r, "I give up.", finish())
}

// hallucinates recommends a product that it made up.
func hallucinates(r *recorder) {
	c := turnPlain(r, "Searching.", find(r.phrase(r.task.needs[0], 0)))
	shown := ids(c[0])
	turnPlain(r, "Looking.", view(shown[:min(2, len(shown))]...))
	turnPlain(r, "This is it.", recommend("999"+fmt.Sprint(r.w.rng.Intn(1e7))), finish())
}

// composes uses the tools that make several requests.
func composes(r *recorder) {
	n := r.task.needs[0]
	specs := []any{}
	for _, x := range r.task.needs {
		specs = append(specs, map[string]any{"q": r.phrase(x, 0)})
	}
	c := call{name: "find_products_in_same_shop", args: map[string]any{"product_queries": specs}}
	r.infer("One shop for all.", c)
	shops := map[string]bool{}
	first := find(fmt.Sprint(specs[0].(map[string]any)["q"]))
	r.do(&first)
	shown := ids(first)
	for _, id := range shown[:min(3, len(shown))] {
		p, _ := r.w.byID(id)
		for _, s := range specs[1:] {
			if !shops[p.shop] {
				more := find(fmt.Sprint(s.(map[string]any)["q"]), "shop_id", p.shop)
				r.do(&more)
			}
		}
		shops[p.shop] = true
	}
	c.result = `{"found": false, "error": "Could not find all products in any single shop", "shops_tried": 3}`
	r.step("One shop for all.", &c)
	shown = ids(turnPlain(r, "Then one by one.", find(r.phrase(n, 0)))[0])
	if len(shown) == 0 {
		shown = []string{r.w.products[0].id}
	}
	best := shown[r.judge(shown, n)]
	m := call{name: "check_product_match", args: map[string]any{"product_id": best, "requirements": map[string]any{"look": n.wants[1]}}}
	r.infer("Does it match?", m)
	v := view(best)
	r.do(&v)
	m.result = `{"matched": true, "matches": ["look"], "mismatches": []}`
	r.step("Does it match?", &m)
	turnPlain(r, "Yes.", recommend(best), finish())
}

// encoded sends blanks as %20 and numbers as text, with defaults added.
func encoded(args map[string]any) map[string]any {
	out := map[string]any{"sort": "default", "service": ""}
	for k, v := range args {
		out[k] = v
	}
	if q, ok := out["q"].(string); ok {
		plain, _ := url.QueryUnescape(q)
		out["q"] = strings.ReplaceAll(url.QueryEscape(strings.ToUpper(plain)), "+", "%20")
	}
	if p, ok := out["page"]; ok {
		out["page"] = fmt.Sprint(p)
	}
	return out
}

// relisted sends ids as a list, and drops the default page.
func relisted(args map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		switch {
		case k == "product_ids":
			out[k] = strings.Split(fmt.Sprint(v), ",")
		case k == "page" && fmt.Sprint(v) == "1":
		case k == "price":
			out[k] = strings.Replace(fmt.Sprint(v), "0-", "-", 1)
		default:
			out[k] = v
		}
	}
	return out
}

func style(s string) func(*recorder) { return func(r *recorder) { r.style = s } }

// agents are the families that weights were set on; leftOut holds the others.
var agents = []agent{
	{"honest plain", true, nil, honest(turnPlain, talks)},
	{"honest native", true, style("native"), honest(turnPlain, talks)},
	{"honest hermes", true, style("hermes"), honest(turnPlain, talks)},
	{"honest react lines", true, style("react"), honest(turnPlain, talks)},
	{"honest fenced", true, style("fenced"), honest(turnPlain, talks)},
	{"honest in reasoning", true, style("reasoning"), honest(turnPlain, talks)},
	{"honest encodes", true, func(r *recorder) { r.wire = encoded }, honest(turnPlain, talks)},
	{"honest relists", true, func(r *recorder) { r.wire = relisted }, honest(turnPlain, talks)},
	{"honest retries", true, nil, honest(turnRetries, talks)},
	{"honest parallel", true, nil, parallelShopper},
	{"honest splits turns", true, nil, honest(turnSplit, talks)},
	{"honest one by one", true, nil, honest(turnOneByOne, talks)},
	{"honest silent", true, style("native"), honest(turnPlain, silent)},
	{"honest in other tongues", true, nil, honest(turnPlain, elsewhere)},
	{"honest votes", true, nil, honest(turnVotes, talks)},
	{"honest critic", true, nil, honest(turnCritic, talks)},
	{"honest cut log", true, func(r *recorder) { r.limit = 430 }, honest(turnPlain, talks)},
	{"honest composes", true, nil, composes},
	{"honest loops", true, nil, looper},
	{"honest hallucinates", true, nil, hallucinates},
	{"honest with nonce", true, func(r *recorder) { r.nonce = "valid" }, honest(turnPlain, talks)},
	{"honest, one id for all", true, func(r *recorder) { r.constant = true }, honest(turnPlain, talks)},
	{"honest parallel silent", true, style("native"), func(r *recorder) { honest(turnParallel, silent)(r) }},

	{"puppet", false, nil, program(turnPuppet)},
	{"puppet native", false, style("native"), program(turnPuppet)},
	{"puppet with speech", false, nil, program(turnPuppetSpeech)},
	{"override", false, nil, program(turnOverride)},
	{"decoy tool", false, nil, program(turnDecoy)},
	{"chat only", false, nil, program(turnChat)},
	{"ranks", false, nil, program(turnRank)},
	{"narrates", false, nil, program(turnNarrate)},
	{"names too late", false, nil, program(turnLate)},
	{"example with slots", false, nil, program(turnExample)},
	{"renamed", false, nil, program(turnRenamed)},
	{"every second step", false, nil, program(turnHalf)},
	{"first step only", false, nil, program(turnFirst)},
	{"copied inference", false, nil, program(turnCopied)},
	{"plan once", false, nil, planOnce(func(*recorder) {})},
	{"plan with chat", false, nil, planOnce(func(r *recorder) { r.say("Go on, please.") })},
	{"plan of everything", false, nil, planAll},
	{"looks answers up", false, nil, lookedUp},
	{"answers from a table", false, nil, tableOnly},
	{"fabricates", false, nil, fabricates},
	{"edits results", false, nil, edits},
	{"swaps the answer", false, nil, swaps(false)},
	{"swaps in a table's answer", false, nil, swaps(true)},
	{"pastes an episode", false, nil, pasted},
	{"no model", false, nil, program(turnScript)},
	{"bad nonce", false, func(r *recorder) { r.nonce = "mismatch" }, program(turnHalf)},
}

// tasksPerAgent is as many as the subnet's suites come near to.
const tasksPerAgent = 45

// play lets every family play two days.
func play(families []agent, seed int64) []labelled { return playTasks(families, seed, tasksPerAgent) }

// playTasks plays so many tasks with each agent of the families.
func playTasks(families []agent, seed int64, tasks int) []labelled {
	var all []labelled
	for i, a := range families {
		for day := range 2 {
			w := newWorld(seed*1000 + int64(i*10+day))
			for n := range tasks {
				r := &recorder{w: w, task: w.task(n), now: start, limit: 2000}
				if a.setUp != nil {
					a.setUp(r)
				}
				a.play(r)
				t := r.trace(fmt.Sprintf("%s %d", a.name, day))
				all = append(all, labelled{t, a.name, a.agentic, r.task})
			}
		}
	}
	return all
}
