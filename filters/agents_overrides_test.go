package filters_test

import (
	"slices"
)

// overrides are agents that send other calls than their model named, or whose model names only a
// part of them.
var overrides = []agent{
	{"override", many(3260), false, nil, program(turnOverride)},
	{"decoy tool", many(3270), false, nil, program(turnDecoy)},
	{"renamed", many(3330), false, nil, program(turnRenamed)},
	{"every second step", many(3340), false, nil, program(turnHalf)},
	{"first step only", many(3350), false, nil, program(turnFirst)},
	{"swaps the answer", many(3440), false, nil, swaps(false)},
	{"swaps in a table's answer", many(3450), false, nil, swaps(true)},
	{"overrides now and then", many(6080), false, nil, honest(turnOverridesSome, talks)},
	{"sends one out of a list", many(10060), false, style("hermes"), honest(turnPicksAmid, talks)},
}

// overridesLeftOut are such, and changed no weight or rule.
var overridesLeftOut = []agent{
	{"overrides pages and shops", many(3110), false, nil, program(turnOverrideFilters)},
	{"overrides views only", many(3120), false, nil, program(turnOverrideViews)},
	{"names everything", many(3130), false, nil, program(turnShotgun)},
	{"other tool behind the name", many(3160), false, nil, program(turnSwapTool)},
	{"model only at the end", many(3170), false, nil, endsWithModel},
	{"program under a model's searches", few(8140), false, nil, modelSearches(turnScript)},
	{"overrides the answer", few(8150), false, nil, honest(turnOverridesAnswer, talks)},
	{"overrides now and then, in lines", few(8160), false, style("react"), honest(turnOverridesSome, terse)},
	{"model in the first steps", few(8170), false, nil, firstSteps},
}

// turnOverridesSome replaces about half of the model's searches and sends its other calls
// unchanged.
func turnOverridesSome(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" && r.w.rng.Intn(2) == 0 {
		named[0] = find(pick(r.w, nouns) + " " + pick(r.w, colours))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnPicksAmid has the model list searches and sends the program's own search, which is one of
// them.
func turnPicksAmid(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		named = []call{r.other(calls[0]), calls[0], r.other(calls[0]), r.other(calls[0])}
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// modelSearches lets the model choose the words of searches; the program chooses the products that
// are opened and recommended.
func modelSearches(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			products := ids(turnPlain(r, talks(r, "Searching.", nil), find(r.phrase(n, 0)))[0])
			turn(r, view(products[:min(2, len(products))]...))
			chosen = append(chosen, products[0])
		}
		turn(r, recommend(chosen...), finish())
	}
}

func turnOverridesAnswer(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "recommend_product" {
		calls[0] = recommend(cheapest(r, r.lastShown(), 1)...)
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// firstSteps sends the model's calls in the first two steps and its own calls afterwards, while the
// model writes text.
func firstSteps(r *recorder) {
	honest(func(r *recorder, think string, calls ...call) []call {
		if len(r.steps) < 2 {
			return r.act(think, calls...)
		}
		r.say(think)
		return r.run(think, calls)
	}, talks)(r)
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

// turnShotgun has the model name more calls than the program sends.
func turnShotgun(r *recorder, calls ...call) {
	named := append([]call(nil), calls...)
	for range 5 {
		named = append(named, find(pick(r.w, nouns)), view(r.w.products[r.w.rng.Intn(600)].id))
	}
	r.infer("All options.", named...)
	r.run("All options.", calls)
}

// turnSwapTool lets the model open a product where the program searches, and vice versa.
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

// turnRenamed lets the model reply with one harmless call each time, and makes the program's calls
// under the same thought.
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

// swaps lets the model decide everything except the recommendation: the program takes another shown
// product, or one from a table.
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
					if products := ids(find0(r, find(r.task.needs[0].noun))); !table {
						other = []string{products[len(products)-1]}
					}
					calls[i] = recommend(other...)
				}
			}
			return r.run(think, calls)
		}, talks)(r)
	}
}
