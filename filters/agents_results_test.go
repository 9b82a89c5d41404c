package filters_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
)

// results are honest agents whose client changes, stores or lacks the shop's answers, or requests
// them again.
var results = []agent{
	{"honest retries", many(3080), true, nil, honest(turnRetries, talks)},
	{"honest client cuts results", many(9040), true, style("hermes"), honest(turnCutsResults, talks)},
	{"honest client remembers pages", many(10000), true, nil, honest(turnRemembers, talks)},
	{"honest client resends", many(12070), true, nil, honest(turnResends, talks)},
}

// resultsLeftOut are such, and changed no weight or rule.
var resultsLeftOut = []agent{
	{"honest trims results", many(3010), true, nil, honest(turnTrims, talks)},
	{"honest remembers views", many(3020), true, nil, remembers},
	{"honest falls back", many(3030), true, nil, honest(turnFallback, talks)},
	{"honest after failures", many(5050), true, nil, honest(turnFails, talks)},
}

// turnRetries has a client that repeats a request after a poor answer.
func turnRetries(r *recorder, think string, calls ...call) []call {
	if r.w.rng.Intn(3) == 0 {
		r.tick(500, 2000)
		r.proxy = append(r.proxy, arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: r.now, DurationMS: 300, Status: 429, Length: -1})
		r.requests++
	}
	r.infer(think, calls...)
	for i := range calls {
		if r.w.rng.Intn(2) == 0 && (calls[i].name == "find_product" || calls[i].name == "view_product_information") {
			copied := call{name: calls[i].name, args: calls[i].args}
			r.do(&copied)
			if r.w.rng.Intn(2) == 0 {
				last := &r.proxy[len(r.proxy)-1]
				last.Status = 500
				last.Response = ""
				last.Truncated = false
				last.Length = -1
			}
		}
	}
	return r.run(think, calls)
}

// turnResends names two searches, and the shop fails on the first of them.
func turnResends(r *recorder, think string, calls ...call) []call {
	if calls[0].name != "find_product" {
		return r.act(think, calls...)
	}
	second := calls[0]
	second.args = find(fmt.Sprint(calls[0].args["q"]) + " " + pick(r.w, colours)).args
	r.infer(think, calls[0], second)
	r.do(&calls[0])
	failed := &r.proxy[len(r.proxy)-1]
	failed.Status = 0
	failed.Response = ""
	failed.Length = -1
	done := r.run(think, []call{calls[0], second})
	return done[:1]
}

// turnCutsResults shows the model the beginning of each list as text.
func turnCutsResults(r *recorder, think string, calls ...call) []call {
	r.act(think, calls...)
	result := &r.steps[len(r.steps)-1].Calls[0]
	if calls[0].name == "find_product" && len(result.Result) > 400 {
		text, _ := json.Marshal(string(result.Result)[:400-r.w.rng.Intn(100)] + "...")
		result.Result = arena.Raw(text)
	}
	return calls
}

// turnRemembers has the model look again at a page that was opened with others; the client requests
// the new ones alone.
func turnRemembers(r *recorder, think string, calls ...call) []call {
	old := r.openedWithOthers()
	if calls[0].name != "view_product_information" || old == "" {
		return r.act(think, calls...)
	}
	other := calls[0]
	calls[0] = view(fmt.Sprint(other.args["product_ids"]), old)
	r.infer(think, calls...)
	p, _ := r.w.byID(old)
	rows := r.do(&other).result
	calls[0].result = strings.TrimSuffix(rows, "]") + ", " + strings.TrimPrefix(details([]item{p}), "[")
	r.step(think, &calls[0])
	return calls
}

// openedWithOthers is a product that an earlier call opened with others.
func (r *recorder) openedWithOthers() string {
	for _, s := range r.steps {
		if listedIDs := ids(call{result: string(s.Calls[0].Result)}); s.Calls[0].Name == "view_product_information" && len(listedIDs) > 1 {
			return listedIDs[1]
		}
	}
	return ""
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
			failed.Status = 502
			failed.Response = ""
			failed.Truncated = false
			failed.Length = -1
		}
	}
	return r.run(think, calls)
}

// turnTrims has a client that keeps titles and ids of results, in its own
// layout.
func turnTrims(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	var pointers []*call
	for i := range calls {
		result := calls[i]
		r.do(&calls[i])
		result.result = calls[i].result
		if calls[i].name == "find_product" {
			var rows []string
			for n, id := range ids(calls[i]) {
				p, _ := r.w.byID(id)
				rows = append(rows, fmt.Sprintf(`{"rank":%d,"product_id":%q,"title":%q}`, n+1, p.id, p.title))
			}
			result.result = "[" + strings.Join(rows, ",") + "]"
		}
		pointers = append(pointers, &result)
	}
	r.step(think, pointers...)
	return calls
}

// remembers opens a product a second time out of its client's memory.
func remembers(r *recorder) {
	products := ids(turnPlain(r, "Searching.", find(r.phrase(r.task.needs[0], 0)))[0])
	if len(products) < 2 {
		products = []string{r.w.products[0].id, r.w.products[1].id}
	}
	seen := turnPlain(r, "Looking.", view(products[0], products[1]))[0]
	again := view(products[0])
	again.result = "[" + strings.SplitAfter(strings.Trim(seen.result, "[]"), "}}")[0] + "]"
	r.infer("Once more the first.", again)
	r.step("Once more the first.", &again)
	turnPlain(r, "That one.", recommend(products[r.w.rng.Intn(2)]), finish())
}

// turnFallback has a client that recommends by itself if the model did not.
func turnFallback(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "recommend_product" {
		r.say("I am done, thank you.")
		return r.run("", calls)
	}
	return r.act(think, calls...)
}
