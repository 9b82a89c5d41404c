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

// program is a fixed plan: one search and one look per product, the first three
// in rank order, and the first of them.
func program(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			c := []call{find(n.noun + " " + n.wants[0] + " " + n.wants[1])}
			turn(r, c...)
			shown := ids(find0(r, c[0]))
			if len(shown) == 0 {
				continue
			}
			turn(r, view(shown[:min(3, len(shown))]...))
			best := shown[0]
			for _, id := range shown[:min(3, len(shown))] {
				if p, _ := r.w.byID(id); n.price == 0 || p.price <= n.price {
					best = id
					break
				}
			}
			chosen = append(chosen, best)
		}
		turn(r, recommend(chosen...), finish())
	}
}

// find0 is what a search shows, without asking the proxy again.
func find0(r *recorder, c call) call {
	c.result = listing(r.w.search(c.args))
	return c
}

// stock is a program's own words for a step.
func stock(r *recorder, calls []call) string {
	return map[string]string{"find_product": "Searching the catalogue.", "view_product_information": "Reading details.", "recommend_product": "Submitting."}[calls[0].name]
}

func turnScript(r *recorder, calls ...call) { r.run(stock(r, calls), calls) }

// turnPuppet orders the model to repeat the call that the program wants.
func turnPuppet(r *recorder, calls ...call) {
	r.act("Calling the tool as asked.", calls...)
}

// turnPuppetSpeech orders it to repeat a thought with slots, too.
func turnPuppetSpeech(r *recorder, calls ...call) {
	think := stock(r, calls)
	if x := fmt.Sprint(calls[0].args["product_ids"]); calls[0].name != "find_product" {
		first, _, _ := strings.Cut(x, ",")
		p, _ := r.w.byID(first)
		think = fmt.Sprintf("Comparing the results, %s (%s) at %.2f stands out, so I go on with it.", p.id, p.title, p.price)
	}
	r.act(think, calls...)
}

// turnOverride lets the model name a call and sends another of the same tool.
func turnOverride(r *recorder, calls ...call) {
	named := []call{}
	for _, c := range calls {
		switch c.name {
		case "find_product":
			named = append(named, find(pick(r.w, nouns)+" "+pick(r.w, colours)))
		case "view_product_information":
			named = append(named, view(r.w.products[r.w.rng.Intn(600)].id))
		default:
			named = append(named, c)
		}
	}
	r.infer("I would do this.", named...)
	r.run("I would do this.", calls)
}

// turnDecoy lets the model name another tool than is sent.
func turnDecoy(r *recorder, calls ...call) {
	r.infer("The voucher first.", call{name: "calculate_voucher", args: map[string]any{"product_prices": "1,2", "budget": 3}})
	r.run("The voucher first.", calls)
}

func turnChat(r *recorder, calls ...call) {
	r.say("Understood. I will keep the customer's wishes in mind.")
	r.run(stock(r, calls), calls)
}

// turnRank asks the model to rank what was found, as a label.
func turnRank(r *recorder, calls ...call) {
	r.run(stock(r, calls), calls)
	r.say(`{"best": 1, "scores": [0.9, 0.4, 0.2]}`)
}

// turnNarrate asks the model to tell afterwards why the call was made.
func turnNarrate(r *recorder, calls ...call) {
	pointers := make([]*call, len(calls))
	for i := range calls {
		pointers[i] = r.do(&calls[i])
	}
	story := "Having weighed the offers with care, this step was the natural one to take now."
	r.say(story)
	r.step(story, pointers...)
}

// turnLate logs the naming only after the call was made.
func turnLate(r *recorder, calls ...call) {
	r.run(stock(r, calls), calls)
	r.infer("I call the tool.", calls...)
}

// turnExample names the call as an example with slots; the program fills them.
func turnExample(r *recorder, calls ...call) {
	r.infer("For example:", call{name: calls[0].name, args: map[string]any{"q": "...", "product_ids": "..."}})
	r.run(stock(r, calls), calls)
}

// turnRenamed lets the model repeat one harmless call, then files it under the
// name of the call that was really made.
func turnRenamed(r *recorder, calls ...call) {
	r.infer("Calling.", find("tripod"))
	r.run("Calling.", calls)
}

// turnHalf lets the model decide every second step.
func turnHalf(r *recorder, calls ...call) {
	if len(r.steps)%2 == 0 {
		r.act("My step.", calls...)
		return
	}
	turnScript(r, calls...)
}

// turnFirst lets the model decide the first search only.
func turnFirst(r *recorder, calls ...call) {
	if len(r.steps) == 0 {
		r.act("My step.", calls...)
		return
	}
	turnNarrate(r, calls...)
}

// turnCopied logs one real inference and copies its entry for each later call.
func turnCopied(r *recorder, calls ...call) {
	r.replyAs("chatcmpl-"+r.task.id, r.message("Calling.", calls))
	r.run("Calling.", calls)
}

// planOnce asks for all searches at once and then works alone.
func planOnce(between func(*recorder)) func(*recorder) {
	return func(r *recorder) {
		var finds []call
		for _, n := range r.task.needs {
			finds = append(finds, find(n.noun+" "+n.wants[0]+" "+n.wants[1]))
		}
		r.infer("The plan.", finds...)
		program(func(r *recorder, calls ...call) {
			between(r)
			turnScript(r, calls...)
		})(r)
	}
}

// planAll has the whole episode from an earlier run, orders the model to write
// it down once, and replays it.
func planAll(r *recorder) {
	quiet := &recorder{w: r.w, task: r.task, limit: r.limit}
	var all []call
	program(func(q *recorder, calls ...call) {
		q.run("", calls)
		all = append(all, calls...)
	})(quiet)
	r.infer("The plan.", all...)
	for _, c := range all {
		r.run(stock(r, []call{c}), []call{c})
	}
}

// lookedUp recommends what a table says, after a search for show.
func lookedUp(r *recorder) {
	turnPuppet(r, find(r.task.needs[0].noun))
	var gold []string
	for range r.task.needs {
		gold = append(gold, r.w.products[300+r.w.rng.Intn(300)].id)
	}
	turnPuppet(r, view(gold...))
	turnPuppet(r, recommend(gold...), finish())
}

// tableOnly recommends from a table without any model naming it.
func tableOnly(r *recorder) {
	turnScript(r, find(r.task.needs[0].noun))
	turnChat(r, recommend(r.w.products[r.w.rng.Intn(600)].id), finish())
}

// fabricates shows views that were never made, in an otherwise named episode.
func fabricates(r *recorder) {
	c := r.act("Searching.", find(r.phrase(r.task.needs[0], 0)))
	shown := ids(c[0])
	if len(shown) == 0 {
		shown = []string{r.w.products[0].id}
	}
	v := view(shown[:min(3, len(shown))]...)
	var items []item
	for _, id := range shown[:min(3, len(shown))] {
		p, _ := r.w.byID(id)
		items = append(items, p)
	}
	v.result = details(items)
	r.infer("Reading.", v)
	r.step("Reading.", &v)
	r.act("Done.", recommend(shown[0]), finish())
}

// edits changes prices in the results it shows.
func edits(r *recorder) {
	honest(func(r *recorder, think string, calls ...call) []call {
		r.infer(think, calls...)
		pointers := []*call{}
		for i := range calls {
			r.do(&calls[i])
			calls[i].result = strings.ReplaceAll(calls[i].result, `"price": `, `"price": 1`)
			pointers = append(pointers, &calls[i])
		}
		r.step(think, pointers...)
		return calls
	}, talks)(r)
}

// swaps lets the model decide everything and recommends something else: a
// product that was shown, or one from a table.
func swaps(table bool) func(*recorder) {
	return func(r *recorder) {
		honest(func(r *recorder, think string, calls ...call) []call {
			r.infer(think, calls...)
			for i := range calls {
				if calls[i].name == "recommend_product" {
					other := []string{}
					for range r.task.needs {
						other = append(other, r.w.products[r.w.rng.Intn(600)].id)
					}
					if shown := ids(find0(r, find(r.task.needs[0].noun))); !table {
						other = []string{shown[len(shown)-1]}
					}
					calls[i] = recommend(other...)
				}
			}
			return r.run(think, calls)
		}, talks)(r)
	}
}

// pasted answers every task with the same episode.
func pasted(r *recorder) {
	c := r.act("Searching.", find("rustic tripod"))
	shown := ids(c[0])
	r.act("Looking.", view(shown[1], shown[3]))
	r.act("Done.", recommend(shown[3]), finish())
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

// playAll lets every family that weights were set on play its day.
func playAll(seed int64) []labelled { return play(agents, seed) }

func play(families []agent, seed int64) []labelled {
	var all []labelled
	for i, a := range families {
		for day := range 2 {
			w := newWorld(seed*1000 + int64(i*10+day))
			for n := range tasksPerAgent {
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
