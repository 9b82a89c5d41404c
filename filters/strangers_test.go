package filters_test

import (
	"fmt"
	"slices"
	"strings"
)

// strangers are families that another generator held against the filter before
// its second set of weights; what it got wrong then was mended on them.
var strangers = []agent{
	{"honest turns pages", true, nil, honest(turnPages, talks)},
	{"honest all replies cut", true, func(r *recorder) { r.limit = 300 }, honest(turnPlain, rambles)},
	{"honest opens made-up ids", true, nil, honest(turnMadeUp, talks)},
	{"honest says little", true, nil, honest(turnPlain, terse)},
	{"honest without numbers", true, nil, honest(turnPlain, wordy)},
	{"honest parallel, says nothing", true, style("native"), func(r *recorder) { r.mute = true; parallelShopper(r) }},

	{"puppet that jitters", false, nil, jitters(turnPuppet)},
	{"puppet with dice", false, style("native"), dice},
	{"puppet that drops words", false, nil, dropsWords},
	{"puppet shuffles openings", false, nil, program(turnShuffled)},
	{"puppet fills a template", false, nil, program(turnTemplate)},
	{"puppet cuts the request", false, style("hermes"), cutsRequest},
	{"puppet that weighs", false, style("native"), weighs},
	{"puppet tells answers", false, style("native"), tellsAnswers},
}

// turnPages has a client that fetches the second page of every search, too, and
// shows both as one result.
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

// wordy speaks of what it saw, and never in numbers.
func wordy(r *recorder, what string, shown []string) string {
	if len(shown) == 0 {
		return what + " The customer wants something particular here."
	}
	p, _ := r.w.byID(shown[0])
	return what + pick(r.w, []string{" The one from ", " I noticed what is offered by ", " Perhaps the thing of "}) + strings.Fields(p.title)[0] + pick(r.w, []string{" comes near to it.", " is worth another look.", " may or may not do."})
}

// dice draws its next tool, its words and its products.
func dice(r *recorder) {
	words := strings.Fields(strings.NewReplacer(",", "", ".", "").Replace(r.task.query))
	var pool []string
	for range 4 + r.w.rng.Intn(4) {
		if len(pool) == 0 || r.w.rng.Intn(2) == 0 {
			c := find(pick(r.w, words) + " " + pick(r.w, words) + " " + pick(r.w, nouns))
			turnPuppet(r, c)
			pool = append(pool, ids(find0(r, c))...)
			continue
		}
		turnPuppet(r, view(pick(r.w, pool), pick(r.w, pool)))
	}
	turnPuppet(r, recommend(pick(r.w, pool)), finish())
}

// dropsWords is a program that searches again with a word less until the first
// product fits, and opens the two that fit best.
func dropsWords(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		words := append([]string{n.noun}, n.wants...)
		var shown []string
		for len(words) > 0 {
			c := find(strings.Join(words, " "))
			turnPuppet(r, c)
			shown = ids(find0(r, c))
			if p, ok := r.w.byID(append(shown, "")[0]); ok && p.words[n.noun] && p.words[n.wants[0]] {
				break
			}
			words = words[:len(words)-1]
		}
		if len(shown) == 0 {
			continue
		}
		turnPuppet(r, view(shown[:min(2, len(shown))]...))
		chosen = append(chosen, shown[0])
	}
	turnPuppet(r, recommend(chosen...), finish())
}

// turnShuffled opens the first products in another order each time.
func turnShuffled(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		all := strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",")
		r.w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		calls[0] = view(all...)
	}
	turnPuppet(r, calls...)
}

// turnTemplate has the model say a thought with words of the request in it.
func turnTemplate(r *recorder, calls ...call) {
	n := r.task.needs[0]
	r.act(fmt.Sprintf("The customer wants a %s of %s, therefore I weigh the offers and take the next step.", n.noun, n.wants[0]), calls...)
}

// cutsRequest searches for the first words of the request, two pages of them.
func cutsRequest(r *recorder) {
	words := strings.Fields(r.task.query)
	first := find(strings.Join(words[:min(8, len(words)-1)], " "))
	turnPuppet(r, first)
	shown := ids(find0(r, first))
	if len(shown) > 0 {
		turnPuppet(r, view(shown[:min(3, len(shown))]...))
	}
	turnPuppet(r, recommend(shown[:min(len(r.task.needs), len(shown))]...), finish())
}

// tellsAnswers has the answers from elsewhere and makes the model name them; it
// opens them in two of three attempts.
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

// weighs opens three and recommends the one with most of the wishes: a program
// that reads, in fixed steps, behind a model that repeats them.
func weighs(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(n.noun + " " + n.wants[0])
		turnPuppet(r, c)
		shown := ids(find0(r, c))
		if len(shown) == 0 {
			continue
		}
		turnPuppet(r, view(shown[:min(3, len(shown))]...))
		chosen = append(chosen, shown[:min(3, len(shown))][r.judge(shown[:min(3, len(shown))], n)])
	}
	turnPuppet(r, recommend(chosen...), finish())
}
