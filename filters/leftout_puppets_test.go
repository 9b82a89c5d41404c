package filters_test

import (
	"fmt"
	"slices"
	"strings"
)

// leftOutPuppets were written with leftOutModels, and changed nothing either.
var leftOutPuppets = []agent{
	{"puppet opens the dearest", false, nil, program(turnDearest)},
	{"puppet by plan and fit", false, style("native"), planAndFit},
	{"puppet searches thrice", false, nil, searchesThrice},
	{"puppet in YAML", false, func(r *recorder) { r.form = yaml }, program(turnPuppetSpeech)},
	{"puppet with own names", false, func(r *recorder) { r.form = ownNames }, program(turnPuppetSpeech)},
	{"puppet in code", false, func(r *recorder) { r.form = python }, program(turnPuppetSpeech)},
	{"puppet in loops of code", false, func(r *recorder) { r.form = loops }, program(turnPuppetSpeech)},
	{"puppet without a word", false, func(r *recorder) { r.mute = true }, planAndFit},
	{"puppet in many tongues", false, nil, program(turnTongues)},
	{"puppet with late thoughts", false, nil, lateThoughts},
	{"puppet that counts", false, nil, program(turnCounts)},
	{"puppet takes cheap ones that fit", false, nil, cheapThatFits},
	{"puppet shuffles words", false, style("native"), shufflesWords},
	{"puppet under a model's searches", false, nil, modelSearches(turnPuppetSpeech)},
	{"program under a model's searches", false, nil, modelSearches(turnScript)},
	{"overrides the answer", false, nil, honest(turnOverridesAnswer, talks)},
	{"overrides now and then, in lines", false, style("react"), honest(turnOverridesSome, terse)},
	{"model in the first steps", false, nil, firstSteps},
	{"prose about tools", false, nil, program(turnProse)},
	{"answers with letters", false, nil, program(turnLetter)},
	{"story at the end", false, nil, storyAtTheEnd},
	{"asks while it acts", false, nil, program(turnRace)},
	{"answers never seen", false, style("hermes"), neverSeen},
	{"opens everything", false, style("native"), opensEverything},
}

// cheapest are the n cheapest of some products.
func cheapest(r *recorder, shown []string, n int) []string {
	sorted := slices.Clone(shown)
	slices.SortFunc(sorted, func(a, b string) int {
		p, _ := r.w.byID(a)
		q, _ := r.w.byID(b)
		return int(100*p.price) - int(100*q.price)
	})
	return sorted[:min(n, len(sorted))]
}

func turnDearest(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		all := cheapest(r, r.lastShown(), 10)
		calls[0] = view(all[max(0, len(all)-2):]...)
	}
	turnPuppetSpeech(r, calls...)
}

// planned searches in one way for each product and opens what choose takes.
func planned(r *recorder, choose func(shown []string, n need) []string) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(strings.Join(append(slices.Clone(n.wants), n.noun), " "))
		turnPuppetSpeech(r, c)
		look := choose(ids(find0(r, c)), n)
		turnPuppetSpeech(r, view(look...))
		chosen = append(chosen, look[0])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// planAndFit opens the one that fits best and the first.
func planAndFit(r *recorder) {
	planned(r, func(shown []string, n need) []string {
		return slices.Compact([]string{shown[r.judge(shown, n)], shown[0]})
	})
}

// opensEverything reads all that came back.
func opensEverything(r *recorder) {
	planned(r, func(shown []string, n need) []string {
		best := shown[r.judge(shown, n)]
		return slices.Compact(append([]string{best}, shown...))
	})
}

// searchesThrice always searches three times and opens the best two of all.
func searchesThrice(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		var all []string
		for drop := range 3 {
			words := append([]string{n.noun}, n.wants...)
			c := find(strings.Join(words[:max(1, len(words)-drop)], " "))
			turnPuppetSpeech(r, c)
			all = append(all, ids(find0(r, c))...)
		}
		best := all[r.judge(all, n)]
		turnPuppetSpeech(r, view(slices.Compact([]string{best, all[len(all)-1]})...))
		chosen = append(chosen, best)
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

func turnTongues(r *recorder, calls ...call) {
	p, _ := r.w.byID(r.lastShown()[0])
	r.act(fmt.Sprintf(pick(r.w, []string{"%s für %.2f gefällt mir.", "%s, %.2f, это подходит.", "我看到%s，价格%.2f。", "%s à %.2f me semble bon."}), p.title, p.price), calls...)
}

// lateThoughts speaks at each step of what the step before was for.
func lateThoughts(r *recorder) {
	think := "I begin."
	program(func(r *recorder, calls ...call) {
		r.act(think, calls...)
		p, _ := r.w.byID(r.lastShown()[0])
		think = fmt.Sprintf("I asked for %v and saw %s at %.2f.", calls[0].args["q"], p.title, p.price)
	})(r)
}

// turnCounts opens one more each time, and begins anew after three.
func turnCounts(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		shown := r.lastShown()
		calls[0] = view(shown[:min(1+len(r.steps)%3, len(shown))]...)
	}
	turnPuppetSpeech(r, calls...)
}

// cheapThatFits drops words until something fits, and opens the cheapest of it.
func cheapThatFits(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		words := append([]string{n.noun}, n.wants...)
		var fit, shown []string
		for len(fit) == 0 && len(words) > 1 {
			c := find(strings.Join(words, " "))
			turnPuppetSpeech(r, c)
			shown = ids(find0(r, c))
			for _, id := range shown {
				if p, _ := r.w.byID(id); p.words[n.noun] && p.words[n.wants[0]] {
					fit = append(fit, id)
				}
			}
			words = words[:len(words)-1]
		}
		look := cheapest(r, append(fit, shown[0])[:max(1, len(fit))], 1)
		turnPuppetSpeech(r, view(look...))
		chosen = append(chosen, look[0])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// shufflesWords throws dice over its words and over how many it opens, and takes
// the best of them.
func shufflesWords(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(r.phrase(n, 0))
		turnPuppetSpeech(r, c)
		shown := ids(find0(r, c))
		shown = shown[:min(4, len(shown))]
		r.w.rng.Shuffle(len(shown), func(i, j int) { shown[i], shown[j] = shown[j], shown[i] })
		look := shown[:min(1+r.w.rng.Intn(3), len(shown))]
		turnPuppetSpeech(r, view(look...))
		chosen = append(chosen, look[r.judge(look, n)])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// modelSearches lets the model word the searches; what is opened and taken is
// the program's.
func modelSearches(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			shown := ids(turnPlain(r, talks(r, "Searching.", nil), find(r.phrase(n, 0)))[0])
			turn(r, view(shown[:min(2, len(shown))]...))
			chosen = append(chosen, shown[0])
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

// firstSteps hears the model twice and goes on alone while it chats.
func firstSteps(r *recorder) {
	honest(func(r *recorder, think string, calls ...call) []call {
		if len(r.steps) < 2 {
			return r.act(think, calls...)
		}
		r.say(think)
		return r.run(think, calls)
	}, talks)(r)
}

func turnProse(r *recorder, calls ...call) {
	r.say(fmt.Sprintf("Now I would take %s, I think, with %v in mind.", calls[0].name, calls[0].args["q"]))
	r.run(stock(r, calls), calls)
}

func turnLetter(r *recorder, calls ...call) {
	r.say(pick(r.w, []string{"A", "B", "C"}))
	turnScript(r, calls...)
}

// storyAtTheEnd has one reply tell all thoughts when everything is done.
func storyAtTheEnd(r *recorder) {
	var story []string
	program(func(r *recorder, calls ...call) {
		story = append(story, stock(r, calls))
		turnScript(r, calls...)
	})(r)
	r.say(strings.Join(story, " "))
}

// turnRace sends the request and has the model name it meanwhile.
func turnRace(r *recorder, calls ...call) {
	think := stock(r, calls)
	for i := range calls {
		r.do(&calls[i])
	}
	r.infer(think, calls...)
	pointers := []*call{}
	for i := range calls {
		pointers = append(pointers, &calls[i])
	}
	r.step(think, pointers...)
}

// neverSeen searches for something and has the model name products that it was
// told elsewhere.
func neverSeen(r *recorder) {
	var gold []string
	for _, n := range r.task.needs {
		turnPuppet(r, find(n.noun))
		gold = append(gold, r.w.products[r.w.rng.Intn(600)].id)
	}
	turnPuppet(r, recommend(gold...), finish())
}
