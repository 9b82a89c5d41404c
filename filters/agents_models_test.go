package filters_test

import (
	"fmt"
	"slices"
	"strings"
)

// models are honest agents that differ in how their model thinks and decides.
var models = []agent{
	{"honest plain", many(3000), true, nil, honest(turnPlain, talks)},
	{"honest parallel", many(3090), true, nil, parallelShopper},
	{"honest silent", many(3120), true, style("native"), honest(turnPlain, silent)},
	{"honest in other tongues", many(3130), true, nil, honest(turnPlain, elsewhere)},
	{"honest loops", many(3180), true, nil, looper},
	{"honest hallucinates", many(3190), true, nil, hallucinates},
	{"honest parallel silent", many(3220), true, style("native"), func(r *recorder) { honest(turnParallel, silent)(r) }},
	{"honest turns pages", many(4000), true, nil, honest(turnPages, talks)},
	{"honest opens made-up ids", many(4020), true, nil, honest(turnMadeUp, talks)},
	{"honest says little", many(4030), true, nil, honest(turnPlain, terse)},
	{"honest without numbers", many(4040), true, nil, honest(turnPlain, wordy)},
	{"honest parallel, says nothing", many(4050), true, style("native"), func(r *recorder) { r.mute = true; parallelShopper(r) }},
	{"honest without data", many(6040), true, nil, honest(turnChooses, serene)},
	{"honest and thrifty", many(6050), true, style("hermes"), honest(turnThrifty, talks)},
	{"honest drafts and refines", many(10030), true, nil, honest(turnDrafts, talks)},
	{"honest keeps to a course", many(12080), true, style("native"), course(2, 4)},
}

// modelsLeftOut are such, and changed no weight or rule.
var modelsLeftOut = []agent{
	{"honest long thoughts", many(3040), true, nil, honest(turnPlain, rambles)},
	{"honest two at a time", many(3070), true, nil, interleaved},
	{"honest in two tongues", many(5010), true, style("native"), honest(turnPlain, elsewhere)},
	{"honest, first a plan", many(5030), true, nil, plansFirst},
	{"honest and lazy", many(5040), true, style("hermes"), lazy},
	{"honest says little, native", many(5070), true, style("native"), honest(turnPlain, terse)},
	{"honest without numbers, hermes", many(5080), true, style("hermes"), honest(turnPlain, wordy)},
	{"honest and cold", few(7080), true, style("native"), cold},
	{"honest always opens two", few(7090), true, nil, honest(turnFirstTwo, talks)},
	{"honest in two batches", few(7150), true, style("native"), twoBatches},
	{"honest gives up", few(7160), true, nil, givesUp},
	{"honest rounds prices", few(7170), true, nil, honest(turnPlain, rounds)},
}

func silent(*recorder, string, []string) string { return "" }

func elsewhere(r *recorder, topic string, ids []string) string {
	if len(ids) == 0 {
		return "ฉันจะเริ่มค้นหาสินค้าก่อน"
	}
	return "這個看起來比較合適 " + ids[0]
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

// parallelShopper requests everything at once, as an agent with few turns does.
func parallelShopper(r *recorder) {
	var finds, views []call
	for _, n := range r.task.needs {
		finds = append(finds, find(r.phrase(n, 0)))
	}
	finds = turnParallel(r, "All searches at once.", finds...)
	var chosen []string
	for i, f := range finds {
		products := ids(f)
		if len(products) == 0 {
			products = []string{r.w.products[0].id}
		}
		views = append(views, view(products[:min(3, len(products))]...))
		chosen = append(chosen, products[r.judge(products, r.task.needs[i])])
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
	products := ids(c[0])
	turnPlain(r, "Looking.", view(products[:min(2, len(products))]...))
	turnPlain(r, "This is it.", recommend("999"+fmt.Sprint(r.w.rng.Intn(1e7))), finish())
}

// serene never mentions a result in a word or number of its own.
func serene(r *recorder, topic string, _ []string) string {
	return topic + pick(r.w, []string{" Patience will tell more than haste.", " One of these is nearer to the wish than its neighbours.", " I would rather read on before I decide.", " There may be better ones further down."})
}

// turnChooses opens the product that fits best and one more, in any order.
func turnChooses(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" {
		ids := r.lastShown()
		best := ids[r.judge(ids, r.task.needs[0])]
		calls[0] = view(slices.Compact([]string{best, ids[r.w.rng.Intn(len(ids))]})...)
	}
	return r.act(think, calls...)
}

// turnThrifty opens the cheapest more often than not.
func turnThrifty(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" && r.w.rng.Intn(5) < 3 {
		calls[0] = view(cheapest(r, r.lastShown(), 1+r.w.rng.Intn(2))...)
	}
	return r.act(think, calls...)
}

// turnDrafts has the model revise each search once.
func turnDrafts(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		r.infer("A first idea.", r.other(calls[0]))
	}
	return r.act(think, calls...)
}

// cold is a model at temperature zero: it words its searches in one way, opens
// one or two, and searches for less where the pages do not convince it.
func cold(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		words := append(slices.Clone(n.wants), n.noun)
		var products []string
		for range 3 {
			products = ids(turnPlain(r, talks(r, "Searching.", products), find(strings.Join(words, " ")))[0])
			best := products[r.judge(products, n)]
			turnPlain(r, talks(r, "Reading.", []string{best}), view(best))
			if p, _ := r.w.byID(best); p.words[n.wants[0]] && p.words[n.wants[1]] || len(words) < 3 {
				break
			}
			words = words[1:]
		}
		chosen = append(chosen, products[r.judge(products, n)])
	}
	turnPlain(r, talks(r, "Settled.", chosen), recommend(chosen...), finish())
}

func turnFirstTwo(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" {
		ids := r.lastShown()
		calls[0] = view(ids[:min(2, len(ids))]...)
	}
	return r.act(think, calls...)
}

// twoBatches asks for all searches in one reply and all openings in the next.
func twoBatches(r *recorder) {
	var finds, views []call
	var chosen []string
	for _, n := range r.task.needs {
		finds = append(finds, find(r.phrase(n, 0)))
	}
	finds = turnPlain(r, "", finds...)
	for i, f := range finds {
		products := ids(f)
		best := products[r.judge(products, r.task.needs[i])]
		views = append(views, view(slices.Compact([]string{best, products[r.w.rng.Intn(len(products))]})...))
		chosen = append(chosen, best)
	}
	turnPlain(r, talks(r, "Details.", chosen), views...)
	turnPlain(r, "", recommend(chosen...), finish())
}

func givesUp(r *recorder) {
	products := []string{}
	for try := range 1 + r.w.rng.Intn(3) {
		products = ids(turnPlain(r, talks(r, "Searching.", products), find(r.phrase(r.task.needs[0], try)))[0])
	}
	turnPlain(r, talks(r, "None of these.", products), call{name: "terminate", args: map[string]any{"status": "failure"}, result: `"The interaction has been completed with status: failure"`})
}

// rounds mentions rounded prices, as people do.
func rounds(r *recorder, topic string, ids []string) string {
	if len(ids) == 0 {
		return topic
	}
	p, _ := r.w.byID(ids[r.w.rng.Intn(len(ids))])
	return topic + fmt.Sprintf(" The %s one for about %.0f?", strings.Fields(p.title)[0], p.price)
}

func plansFirst(r *recorder) {
	r.say("1. find_product for each wish\n2. view_product_information of what fits\n3. recommend_product")
	honest(turnPlain, talks)(r)
}

// lazy searches once and takes what reads best in the list.
func lazy(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		products := ids(turnPlain(r, "Searching.", find(r.phrase(n, 0)))[0])
		if len(products) > 0 {
			chosen = append(chosen, products[r.judge(products, n)])
		}
	}
	turnPlain(r, talks(r, "That must do.", chosen), recommend(chosen...), finish())
}

func rambles(r *recorder, topic string, ids []string) string {
	if r.w.rng.Intn(3) > 0 {
		return talks(r, topic, ids)
	}
	return strings.Repeat(talks(r, topic, ids)+" ", 40)
}

// interleaved searches for two products in turn.
func interleaved(r *recorder) {
	a := r.task.needs[0]
	b := r.task.needs[len(r.task.needs)-1]
	fa := find(r.phrase(a, 0))
	fb := find(r.phrase(b, 1))
	r.infer("First thing.", fa)
	r.infer("Second thing.", fb)
	r.do(&fa)
	r.do(&fb)
	r.step("First thing.", &fa)
	r.step("Second thing.", &fb)
	products := append(ids(fa), ids(fb)...)
	if len(products) == 0 {
		products = []string{r.w.products[0].id}
	}
	best := products[r.judge(products, a)]
	turnPlain(r, talks(r, "Looking.", products), view(best))
	turnPlain(r, talks(r, "Done.", products), recommend(best), finish())
}

// turnPages has a client that also fetches the second page of every search, and shows both as one
// result.
func turnPages(r *recorder, think string, calls ...call) []call {
	if calls[0].name != "find_product" || calls[0].args["page"] != nil {
		return r.act(think, calls...)
	}
	r.infer(think, calls...)
	r.do(&calls[0])
	second := find(fmt.Sprint(calls[0].args["q"]), "page", 2)
	if price := calls[0].args["price"]; price != nil {
		second.args["price"] = price
	}
	r.do(&second)
	calls[0].result = strings.Replace(strings.TrimSuffix(calls[0].result, "]")+","+strings.TrimPrefix(second.result, "["), ",]", "]", 1)
	calls[0].result = strings.Replace(calls[0].result, "[,", "[", 1)
	r.step(think, &calls[0])
	return calls
}

// turnMadeUp opens a product that does not exist, now and then.
func turnMadeUp(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" && r.w.rng.Intn(2) == 0 {
		calls[0] = view(fmt.Sprint(calls[0].args["product_ids"]), fmt.Sprint(8000000000+r.w.rng.Intn(1e9)))
	}
	return r.act(think, calls...)
}

func terse(r *recorder, _ string, _ []string) string {
	return pick(r.w, []string{"ok", "next", "hm", "go on", "check", "yes?"})
}

// wordy mentions results without any number.
func wordy(r *recorder, topic string, ids []string) string {
	if len(ids) == 0 {
		return topic + " The customer wants something particular here."
	}
	p, _ := r.w.byID(ids[0])
	return topic + pick(r.w, []string{" The one from ", " I noticed what is offered by ", " Perhaps the thing of "}) + strings.Fields(p.title)[0] + pick(r.w, []string{" comes near to it.", " is worth another look.", " may or may not do."})
}
