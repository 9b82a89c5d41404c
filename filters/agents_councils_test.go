package filters_test

import (
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena"
)

// councils are honest agents that ask more than once for a step: votes, critics, notes.
var councils = []agent{
	{"honest votes", many(3140), true, nil, honest(turnVotes, talks)},
	{"honest critic", many(3150), true, nil, honest(turnCritic, talks)},
	{"honest votes among choices", many(9030), true, nil, honest(turnBallots, talks)},
	{"honest votes one by one", many(10020), true, style("hermes"), honest(turnAsksFive, talks)},
}

// councilsLeftOut are such, and changed no weight or rule.
var councilsLeftOut = []agent{
	{"honest notes between", many(3090), true, nil, honest(turnNotes, silent)},
	{"honest with a notebook", many(5020), true, nil, honest(turnNotebook, talks)},
	{"honest outvoted", few(7100), true, nil, honest(turnOutvoted, talks)},
	{"honest manager and worker", few(7110), true, style("native"), honest(turnManaged, talks)},
	{"honest after a veto", few(7140), true, style("fenced"), honest(turnVetoed, talks)},
}

// turnVotes asks twice more before it acts; the other replies name no call.
func turnVotes(r *recorder, think string, calls ...call) []call {
	r.say(`{"vote": "go on"}`)
	r.say(`{"vote": "go on", "why": "nothing bought yet"}`)
	return r.act(think, calls...)
}

// turnCritic asks a second model for an opinion on the call before it is sent.
func turnCritic(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	r.say("The step is sound, go ahead.")
	return r.run(think, calls)
}

// turnBallots asks for three answers at once, the last of which is taken.
func turnBallots(r *recorder, think string, calls ...call) []call {
	var choices []any
	for i, c := range [][]call{{find("something else")}, {view("1000000000")}, calls} {
		choices = append(choices, map[string]any{"index": i, "message": r.message(think, c)})
	}
	r.nextID++
	body, _ := json.Marshal(map[string]any{"id": fmt.Sprintf("vote-%s-%d", r.task.id, r.nextID), "choices": choices})
	d := r.tick(800, 6000)
	r.log(arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: r.now, DurationMS: float64(d), Status: 200}, string(body))
	r.requests++
	return r.run(think, calls)
}

// turnAsksFive asks five times before each search and sends what most name.
func turnAsksFive(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		for _, i := range r.w.rng.Perm(4) {
			if i < 2 {
				r.infer(think, calls...)
			} else {
				r.infer(think, r.other(calls[0]))
			}
		}
	}
	return r.act(think, calls...)
}

// turnOutvoted has a first reply with a different call before each search.
func turnOutvoted(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		r.infer("Or rather this.", find(pick(r.w, materials)+" "+r.task.needs[0].noun))
	}
	return r.act(think, calls...)
}

// turnManaged has a manager that assigns the task and a worker that reports what it saw.
func turnManaged(r *recorder, think string, calls ...call) []call {
	r.say(`{"assign": "worker", "task": "` + r.task.needs[0].noun + `"}`)
	out := r.act(think, calls...)
	if calls[0].name == "view_product_information" {
		r.say("Report: " + think)
	}
	return out
}

// turnVetoed has a critic that rejects some first proposals.
func turnVetoed(r *recorder, think string, calls ...call) []call {
	if r.w.rng.Intn(3) == 0 {
		r.infer("At once.", recommend(r.lastShown()[0]))
		r.say("No. Too early, look first.")
	}
	return r.act(think, calls...)
}

// turnNotebook has the model summarise before every third turn.
func turnNotebook(r *recorder, think string, calls ...call) []call {
	if len(r.steps)%3 == 2 {
		r.say("Summary: some offers were seen, the search goes on. " + think)
	}
	return r.act(think, calls...)
}

// turnNotes has the model write a note after each result.
func turnNotes(r *recorder, think string, calls ...call) []call {
	out := r.act(think, calls...)
	r.say("Note: " + fmt.Sprint(len(ids(out[0]))) + " products came back.")
	return out
}
