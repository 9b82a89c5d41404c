package filters_test

import (
	"fmt"
	"strings"
)

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

// turnCopied logs real inferences and, for every second step, a copy of the
// first one's entry with other calls written into it.
func turnCopied(r *recorder, calls ...call) {
	if len(r.steps)%2 == 0 {
		r.infer("Calling.", calls...)
	} else {
		r.replyAs(fmt.Sprintf("chatcmpl-%s-%d", r.task.id, 1), r.message("Calling.", calls))
	}
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
