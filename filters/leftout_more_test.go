package filters_test

import (
	"fmt"
	"strings"
)

// leftOutLater were written after the second set of weights, and changed
// nothing any more.
var leftOutLater = []agent{
	{"honest sends numbers", true, func(r *recorder) { r.wire = numbered }, honest(turnPlain, talks)},
	{"honest in two tongues", true, style("native"), honest(turnPlain, elsewhere)},
	{"honest with a notebook", true, nil, honest(turnNotebook, talks)},
	{"honest, first a plan", true, nil, plansFirst},
	{"honest and lazy", true, style("hermes"), lazy},
	{"honest after failures", true, nil, honest(turnFails, talks)},
	{"honest pages by itself", true, style("react"), honest(turnSecondPage, talks)},
	{"honest says little, native", true, style("native"), honest(turnPlain, terse)},
	{"honest without numbers, hermes", true, style("hermes"), honest(turnPlain, wordy)},

	{"asks yes or no", false, nil, program(turnYes)},
	{"names tools without arguments", false, style("native"), program(turnBareName)},
	{"classifies, then a puppet", false, nil, program(turnLabelPuppet)},
	{"fetches first, is told later", false, nil, fetchesFirst},
	{"another attempt's replies", false, nil, othersReplies},
	{"puppet in a fence", false, style("fenced"), program(turnTemplate)},
	{"puppet with a page more", false, nil, program(turnPageMore)},
	{"puppet with dice and speech", false, nil, jitters(turnPuppetSpeech)},
}

// numbered sends ids and pages as numbers.
func numbered(args map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		out[k] = v
		if k == "product_ids" {
			var list []any
			for _, id := range strings.Split(fmt.Sprint(v), ",") {
				var n int64
				fmt.Sscan(id, &n)
				list = append(list, n)
			}
			out[k] = list
		}
	}
	return out
}

// turnNotebook has the model sum up what it knows before every third turn.
func turnNotebook(r *recorder, think string, calls ...call) []call {
	if len(r.steps)%3 == 2 {
		r.say("Summary: some offers were seen, the search goes on. " + think)
	}
	return r.act(think, calls...)
}

func plansFirst(r *recorder) {
	r.say("1. find_product for each wish\n2. view_product_information of what fits\n3. recommend_product")
	honest(turnPlain, talks)(r)
}

// lazy searches once and takes what reads best in the list.
func lazy(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		shown := ids(turnPlain(r, "Searching.", find(r.phrase(n, 0)))[0])
		if len(shown) > 0 {
			chosen = append(chosen, shown[r.judge(shown, n)])
		}
	}
	turnPlain(r, talks(r, "That must do.", chosen), recommend(chosen...), finish())
}

// turnFails has a shop that fails every third time, and a client that tries
// again.
func turnFails(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	for i := range calls {
		if (calls[i].name == "find_product" || calls[i].name == "view_product_information") && r.w.rng.Intn(3) == 0 {
			copied := call{name: calls[i].name, args: calls[i].args}
			r.do(&copied)
			failed := &r.proxy[len(r.proxy)-1]
			failed.Status, failed.Response, failed.Truncated, failed.Length = 502, "", false, -1
		}
	}
	return r.run(think, calls)
}

// turnSecondPage has a model that likes to see the second page, too.
func turnSecondPage(r *recorder, think string, calls ...call) []call {
	out := r.act(think, calls...)
	if calls[0].name == "find_product" && r.w.rng.Intn(3) == 0 {
		r.act("More of that.", find(fmt.Sprint(calls[0].args["q"]), "page", 2))
	}
	return out
}

// turnYes asks the model for leave.
func turnYes(r *recorder, calls ...call) {
	r.say(pick(r.w, []string{"Yes.", "yes, call " + calls[0].name, `{"approved": true}`}))
	r.run(stock(r, calls), calls)
}

// turnBareName has the model choose the tool; the program fills it in.
func turnBareName(r *recorder, calls ...call) {
	r.infer("This tool.", call{name: calls[0].name, args: map[string]any{}})
	r.run("This tool.", calls)
}

func turnLabelPuppet(r *recorder, calls ...call) {
	r.say(`{"intent": "shopping", "next": "` + calls[0].name + `"}`)
	turnPuppet(r, calls...)
}

// fetchesFirst asks the shop for everything and has the model name it then.
func fetchesFirst(r *recorder) {
	quiet := &recorder{w: r.w, task: r.task, limit: r.limit, now: r.now}
	var all []call
	program(func(q *recorder, calls ...call) {
		q.run("", calls)
		all = append(all, calls...)
	})(quiet)
	r.proxy, r.now = quiet.proxy, quiet.now
	for i := range all {
		r.infer("Calling the tool as asked.", call{name: all[i].name, args: all[i].args})
		r.step("Calling the tool as asked.", &all[i])
	}
}

// othersReplies files the replies of another attempt between its own requests.
func othersReplies(r *recorder) {
	other := r.w.task(99)
	n := 0
	program(func(r *recorder, calls ...call) {
		wish := other.needs[n%len(other.needs)]
		n++
		r.infer("Searching.", find(r.phrase(wish, n%2)))
		r.run("Searching.", calls)
	})(r)
}

// turnPageMore has the program ask for one page more than it made the model say.
func turnPageMore(r *recorder, calls ...call) {
	turnPuppet(r, calls...)
	if calls[0].name == "find_product" {
		more := find(fmt.Sprint(calls[0].args["q"]), "page", 2)
		r.do(&more)
	}
}
