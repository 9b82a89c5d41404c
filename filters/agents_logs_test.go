package filters_test

import (
	"fmt"
	"strings"
)

// logs are agents whose log is cut, marked or odd, honestly or by forgery.
var logs = []agent{
	{"honest cut log", many(3160), true, func(r *recorder) { r.limit = 430 }, honest(turnPlain, talks)},
	{"honest with nonce", many(3200), true, func(r *recorder) { r.nonce = "valid" }, honest(turnPlain, talks)},
	{"honest, one id for all", many(3210), true, func(r *recorder) { r.constant = true }, honest(turnPlain, talks)},
	{"honest all replies cut", many(4010), true, func(r *recorder) { r.limit = 300 }, honest(turnPlain, rambles)},

	{"copied inference", many(3360), false, nil, program(turnCopied)},
	{"fabricates", many(3420), false, nil, fabricates},
	{"edits results", many(3430), false, nil, edits},
	{"bad nonce", many(3480), false, func(r *recorder) { r.nonce = "mismatch" }, program(turnHalf)},
	{"writes even times", many(6090), false, func(r *recorder) { r.lasting = 137.5 }, honest(turnPlain, talks)},
	{"log with quick replies", many(9070), false, func(r *recorder) { r.quick = true }, honest(turnPlain, talks)},
	{"replies written afterwards", many(9080), false, nil, honest(turnAfterwards, talks)},
	{"nonce of nobody", many(9090), false, func(r *recorder) { r.replyNonce = "malformed" }, program(turnPuppetSpeech)},
}

// logsLeftOut are such, and changed no weight or rule.
var logsLeftOut = []agent{
	{"honest in whole seconds", many(3000), true, nil, inSeconds(honest(turnPlain, talks))},

	{"drops rows of results", many(3150), false, nil, dropsRows},
	{"forged replies", many(3180), false, nil, program(turnForged)},
	{"fetches first, is told later", many(5120), false, nil, fetchesFirst},
	{"another attempt's replies", many(5130), false, nil, othersReplies},
}

// turnAfterwards logs the inference of a view with 20 more seconds, so that it covers the view: the
// reply names a call that was already sent.
func turnAfterwards(r *recorder, think string, calls ...call) []call {
	if calls[0].name != "view_product_information" {
		return r.act(think, calls...)
	}
	r.infer(think, calls...)
	written := &r.proxy[len(r.proxy)-1]
	written.DurationMS += 20000
	return r.run(think, calls)
}

// fetchesFirst requests everything from the shop and has the model name it afterwards.
func fetchesFirst(r *recorder) {
	quiet := &recorder{w: r.w, task: r.task, limit: r.limit, now: r.now}
	var turnCalls []call
	program(func(q *recorder, calls ...call) {
		q.run("", calls)
		turnCalls = append(turnCalls, calls...)
	})(quiet)
	r.proxy, r.now = quiet.proxy, quiet.now
	for i := range turnCalls {
		r.infer("Calling the tool as asked.", call{name: turnCalls[i].name, args: turnCalls[i].args})
		r.step("Calling the tool as asked.", &turnCalls[i])
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

func inSeconds(play func(*recorder)) func(*recorder) {
	return func(r *recorder) {
		play(r)
		for i := range r.proxy {
			r.proxy[i].AtMS -= r.proxy[i].AtMS % 1000
		}
	}
}

// dropsRows hides all but one row of the shop's results.
func dropsRows(r *recorder) {
	program(func(r *recorder, calls ...call) {
		pointers := []*call{}
		for i := range calls {
			r.do(&calls[i])
			if products := ids(calls[i]); calls[i].name == "find_product" && len(products) > 0 {
				p, _ := r.w.byID(products[0])
				calls[i].result = listing([]item{p})
			}
			pointers = append(pointers, &calls[i])
		}
		r.say("Fine.")
		r.step("Searching.", pointers...)
	})(r)
}

// turnForged writes replies into the log that no model returned, with implausible times.
func turnForged(r *recorder, calls ...call) {
	r.run(stock(calls), calls)
	r.infer("I call this.", calls...)
	forged := &r.proxy[len(r.proxy)-1]
	forged.DurationMS = -1
	forged.AtMS = r.now - 9000
}

// turnCopied logs real inferences and, for every second step, a copy of the
// first one's entry with other calls written into it.
func turnCopied(r *recorder, calls ...call) {
	if len(r.steps)%2 == 0 {
		r.infer("Calling.", calls...)
	} else {
		r.replyAs(fmt.Sprintf("%s%s-%d", r.server, r.task.id, 1), r.message("Calling.", calls))
	}
	r.run("Calling.", calls)
}

// fabricates logs a view, with a result, that was never sent to the shop; the search before it was
// sent.
func fabricates(r *recorder) {
	c := r.act("Searching.", find(r.phrase(r.task.needs[0], 0)))
	products := ids(c[0])
	if len(products) == 0 {
		products = []string{r.w.products[0].id}
	}
	v := view(products[:min(3, len(products))]...)
	var items []item
	for _, id := range products[:min(3, len(products))] {
		p, _ := r.w.byID(id)
		items = append(items, p)
	}
	v.result = details(items)
	r.infer("Reading.", v)
	r.step("Reading.", &v)
	r.act("Done.", recommend(products[0]), finish())
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
