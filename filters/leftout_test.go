package filters_test

import (
	"fmt"
	"strings"
)

// leftOut are families that were written after the last weight was set, and
// changed nothing any more: what they get is what a stranger's agent gets.
var leftOut = []agent{
	{"honest in whole seconds", true, nil, inSeconds(honest(turnPlain, talks))},
	{"honest trims results", true, nil, honest(turnTrims, talks)},
	{"honest remembers views", true, nil, remembers},
	{"honest falls back", true, nil, honest(turnFallback, talks)},
	{"honest long thoughts", true, nil, honest(turnPlain, rambles)},
	{"honest careless JSON", true, style("careless"), honest(turnPlain, talks)},
	{"honest drops filters", true, func(r *recorder) { r.wire = unfiltered }, honest(turnPlain, talks)},
	{"honest two at a time", true, nil, interleaved},
	{"honest asks twice", true, nil, honest(turnRepeats, talks)},
	{"honest notes between", true, nil, honest(turnNotes, silent)},

	{"puppet in Thai", false, style("native"), program(turnPuppetThai)},
	{"overrides pages and shops", false, nil, program(turnOverrideFilters)},
	{"overrides views only", false, nil, program(turnOverrideViews)},
	{"names everything", false, nil, program(turnShotgun)},
	{"plan under new ids", false, nil, planEachTurn},
	{"drops rows of results", false, nil, dropsRows},
	{"other tool behind the name", false, nil, program(turnSwapTool)},
	{"model only at the end", false, nil, endsWithModel},
	{"forged replies", false, nil, program(turnForged)},
}

func inSeconds(play func(*recorder)) func(*recorder) {
	return func(r *recorder) {
		play(r)
		for i := range r.proxy {
			r.proxy[i].AtMS -= r.proxy[i].AtMS % 1000
		}
	}
}

// turnTrims has a client that keeps titles and ids of results, in its own
// layout.
func turnTrims(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	var pointers []*call
	for i := range calls {
		shown := calls[i]
		r.do(&calls[i])
		shown.result = calls[i].result
		if calls[i].name == "find_product" {
			var rows []string
			for n, id := range ids(calls[i]) {
				p, _ := r.w.byID(id)
				rows = append(rows, fmt.Sprintf(`{"rank":%d,"product_id":%q,"title":%q}`, n+1, p.id, p.title))
			}
			shown.result = "[" + strings.Join(rows, ",") + "]"
		}
		pointers = append(pointers, &shown)
	}
	r.step(think, pointers...)
	return calls
}

// remembers opens a product a second time out of its client's memory.
func remembers(r *recorder) {
	shown := ids(turnPlain(r, "Searching.", find(r.phrase(r.task.needs[0], 0)))[0])
	if len(shown) < 2 {
		shown = []string{r.w.products[0].id, r.w.products[1].id}
	}
	seen := turnPlain(r, "Looking.", view(shown[0], shown[1]))[0]
	again := view(shown[0])
	again.result = "[" + strings.SplitAfter(strings.Trim(seen.result, "[]"), "}}")[0] + "]"
	r.infer("Once more the first.", again)
	r.step("Once more the first.", &again)
	turnPlain(r, "That one.", recommend(shown[r.w.rng.Intn(2)]), finish())
}

// turnFallback has a client that recommends by itself where the model forgot.
func turnFallback(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "recommend_product" {
		r.say("I am done, thank you.")
		return r.run("", calls)
	}
	return r.act(think, calls...)
}

func rambles(r *recorder, what string, shown []string) string {
	if r.w.rng.Intn(3) > 0 {
		return talks(r, what, shown)
	}
	return strings.Repeat(talks(r, what, shown)+" ", 40)
}

func unfiltered(args map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		if k != "price" && k != "page" {
			out[k] = v
		}
	}
	return out
}

// interleaved asks about two products side by side.
func interleaved(r *recorder) {
	a, b := r.task.needs[0], r.task.needs[len(r.task.needs)-1]
	fa, fb := find(r.phrase(a, 0)), find(r.phrase(b, 1))
	r.infer("First thing.", fa)
	r.infer("Second thing.", fb)
	r.do(&fa)
	r.do(&fb)
	r.step("First thing.", &fa)
	r.step("Second thing.", &fb)
	shown := append(ids(fa), ids(fb)...)
	if len(shown) == 0 {
		shown = []string{r.w.products[0].id}
	}
	best := shown[r.judge(shown, a)]
	turnPlain(r, talks(r, "Looking.", shown), view(best))
	turnPlain(r, talks(r, "Done.", shown), recommend(best), finish())
}

// turnRepeats has a client that asks the model again and takes the second
// answer, which is the same.
func turnRepeats(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	return r.act(think, calls...)
}

// turnNotes has the model write a note after each result.
func turnNotes(r *recorder, think string, calls ...call) []call {
	out := r.act(think, calls...)
	r.say("Note: " + fmt.Sprint(len(ids(out[0]))) + " products came back.")
	return out
}

// jitters is a program with dice: it opens two to four products and searches
// once more now and then.
func jitters(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			c := find(n.noun + " " + n.wants[0])
			turn(r, c)
			if r.w.rng.Intn(3) == 0 {
				c = find(n.noun + " " + n.wants[1])
				turn(r, c)
			}
			shown := ids(find0(r, c))
			if len(shown) == 0 {
				continue
			}
			turn(r, view(shown[:min(2+r.w.rng.Intn(3), len(shown))]...))
			chosen = append(chosen, shown[r.w.rng.Intn(min(2, len(shown)))])
		}
		turn(r, recommend(chosen...), finish())
	}
}

func turnPuppetThai(r *recorder, calls ...call) {
	r.act("ฉันจะเรียกใช้เครื่องมือตามที่ได้รับคำสั่ง", calls...)
}

// turnOverrideFilters sends the named words to another page and shop.
func turnOverrideFilters(r *recorder, calls ...call) {
	named := append([]call(nil), calls...)
	if calls[0].name == "find_product" {
		calls[0].args = map[string]any{"q": calls[0].args["q"], "page": 2}
	}
	if calls[0].name == "view_product_information" {
		named[0] = view(r.w.products[1].id)
	}
	r.infer("So be it.", named...)
	r.run("So be it.", calls)
}

func turnOverrideViews(r *recorder, calls ...call) {
	named := append([]call(nil), calls...)
	if calls[0].name == "view_product_information" {
		named[0] = view(r.w.products[r.w.rng.Intn(600)].id)
	}
	r.infer("So be it.", named...)
	r.run("So be it.", calls)
}

// turnShotgun has the model name more than the program will send.
func turnShotgun(r *recorder, calls ...call) {
	named := append([]call(nil), calls...)
	for range 5 {
		named = append(named, find(pick(r.w, nouns)), view(r.w.products[r.w.rng.Intn(600)].id))
	}
	r.infer("All options.", named...)
	r.run("All options.", calls)
}

// planEachTurn repeats one plan of everything before each step, each time as a
// new answer.
func planEachTurn(r *recorder) {
	quiet := &recorder{w: r.w, task: r.task, limit: r.limit}
	var all []call
	program(func(q *recorder, calls ...call) {
		q.run("", calls)
		all = append(all, calls...)
	})(quiet)
	for _, c := range all {
		r.infer("The plan.", all...)
		r.run("The plan.", []call{c})
	}
}

// dropsRows hides all but one row of what the shop returned.
func dropsRows(r *recorder) {
	program(func(r *recorder, calls ...call) {
		pointers := []*call{}
		for i := range calls {
			r.do(&calls[i])
			if shown := ids(calls[i]); calls[i].name == "find_product" && len(shown) > 0 {
				p, _ := r.w.byID(shown[0])
				calls[i].result = listing([]item{p})
			}
			pointers = append(pointers, &calls[i])
		}
		r.say("Fine.")
		r.step("Searching.", pointers...)
	})(r)
}

// turnSwapTool lets the model open a product where the program searches, and
// the other way round.
func turnSwapTool(r *recorder, calls ...call) {
	other := find("amber kettle")
	if calls[0].name == "find_product" {
		other = view(r.w.products[3].id)
	}
	r.infer("My call.", other)
	r.run("My call.", calls)
}

// endsWithModel lets a program do the work and the model name the answer.
func endsWithModel(r *recorder) {
	program(func(r *recorder, calls ...call) {
		if calls[0].name == "recommend_product" {
			r.act("My answer.", calls...)
			return
		}
		turnScript(r, calls...)
	})(r)
}

// turnForged writes replies into the log that no model gave, with odd times.
func turnForged(r *recorder, calls ...call) {
	r.run(stock(r, calls), calls)
	r.infer("I call this.", calls...)
	forged := &r.proxy[len(r.proxy)-1]
	forged.DurationMS = -1
	forged.AtMS = r.now - 9000
}
