package filters_test

import (
	"slices"
)

// tables are programs that have the calls or the answers from elsewhere.
var tables = []agent{
	{"plan once", many(3370), false, nil, planOnce(func(*recorder) {})},
	{"plan with chat", many(3380), false, nil, planOnce(func(r *recorder) { r.say("Go on, please.") })},
	{"plan of everything", many(3390), false, nil, planAll},
	{"looks answers up", many(3400), false, nil, lookedUp},
	{"answers from a table", many(3410), false, nil, tableOnly},
	{"pastes an episode", many(3460), false, nil, pasted},
	{"puppet tells answers", many(4130), false, style("native"), tellsAnswers},
}

// tablesLeftOut are such, and changed no weight or rule.
var tablesLeftOut = []agent{
	{"plan under new ids", many(3140), false, nil, planEachTurn},
	{"answers never seen", few(8220), false, style("hermes"), neverSeen},
}

// neverSeen searches and has the model name products from another source than the results.
func neverSeen(r *recorder) {
	var gold []string
	for _, n := range r.task.needs {
		turnPuppet(r, find(n.noun))
		gold = append(gold, r.w.products[r.w.rng.Intn(600)].id)
	}
	turnPuppet(r, recommend(gold...), finish())
}

// planEachTurn repeats one full plan before each step, each time as a new answer.
func planEachTurn(r *recorder) {
	quiet := &recorder{w: r.w, task: r.task, limit: r.limit}
	var turnCalls []call
	program(func(q *recorder, calls ...call) {
		q.run("", calls)
		turnCalls = append(turnCalls, calls...)
	})(quiet)
	for _, c := range turnCalls {
		r.infer("The plan.", turnCalls...)
		r.run("The plan.", []call{c})
	}
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

// planAll takes the full episode from an earlier run, orders the model to write it once, and
// replays it.
func planAll(r *recorder) {
	quiet := &recorder{w: r.w, task: r.task, limit: r.limit}
	var turnCalls []call
	program(func(q *recorder, calls ...call) {
		q.run("", calls)
		turnCalls = append(turnCalls, calls...)
	})(quiet)
	r.infer("The plan.", turnCalls...)
	for _, c := range turnCalls {
		r.run(stock([]call{c}), []call{c})
	}
}

// lookedUp recommends the products of a table after a search that does not matter.
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

// pasted answers every task with the same episode.
func pasted(r *recorder) {
	c := r.act("Searching.", find("rustic tripod"))
	products := ids(c[0])
	r.act("Looking.", view(products[1], products[3]))
	r.act("Done.", recommend(products[3]), finish())
}

// tellsAnswers has the answers from another source and makes the model name them; it opens them in
// two of three attempts.
func tellsAnswers(r *recorder) {
	turnPuppet(r, find(pick(r.w, looks), "page", 3))
	var gold []string
	for range r.task.needs {
		gold = append(gold, r.w.products[r.w.rng.Intn(600)].id)
	}
	if r.w.rng.Intn(3) > 0 {
		turnPuppet(r, view(gold...))
	}
	turnPuppet(r, recommend(slices.Compact(gold)...), finish())
}
