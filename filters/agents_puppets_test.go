package filters_test

import (
	"fmt"
	"slices"
	"strings"
)

// puppets are programs that have a model repeat each of their calls, in some wording.
var puppets = []agent{
	{"puppet", many(3230), false, nil, program(turnPuppet)},
	{"puppet native", many(3240), false, style("native"), program(turnPuppet)},
	{"puppet with speech", many(3250), false, nil, program(turnPuppetSpeech)},
	{"puppet fills a template", many(4100), false, nil, program(turnTemplate)},
	{"puppet, brand first in requests", many(9050), false, style("native"), brandFirst(turnPuppetSpeech)},
	{"puppet, no thinking, brand first", many(9060), false, func(r *recorder) { r.mute = true }, brandFirst(turnPuppet)},
	{"asks until the reply suits", many(10050), false, style("native"), honest(turnAsksUntil, talks)},
}

// puppetsLeftOut are such, and changed no weight or rule.
var puppetsLeftOut = []agent{
	{"puppet in Thai", many(3100), false, style("native"), program(turnPuppetThai)},
	{"classifies, then a puppet", many(5110), false, nil, program(turnLabelPuppet)},
	{"puppet in a fence", many(5140), false, style("fenced"), program(turnTemplate)},
	{"puppet with a page more", many(5150), false, nil, program(turnPageMore)},
	{"puppet in YAML", few(8030), false, func(r *recorder) { r.form = yaml }, program(turnPuppetSpeech)},
	{"puppet with own names", few(8040), false, func(r *recorder) { r.form = ownNames }, program(turnPuppetSpeech)},
	{"puppet in code", few(8050), false, func(r *recorder) { r.form = python }, program(turnPuppetSpeech)},
	{"puppet in loops of code", few(8060), false, func(r *recorder) { r.form = loops }, program(turnPuppetSpeech)},
	{"puppet without a word", few(8070), false, func(r *recorder) { r.mute = true }, planAndFit},
	{"puppet in many tongues", few(8080), false, nil, program(turnTongues)},
	{"puppet with late thoughts", few(8090), false, nil, lateThoughts},
	{"puppet under a model's searches", few(8130), false, nil, modelSearches(turnPuppetSpeech)},
}

// brandFirst plays a program for requests in several wordings. A phrase begins with the brand and
// the noun; a search has the noun last.
func brandFirst(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var output []string
		for _, n := range r.task.needs {
			name := n.noun
			if len(n.wants) > 2 {
				name = n.wants[2] + " " + n.noun
			}
			output = append(output, fmt.Sprintf(pick(r.w, []string{"a %s in %s, %s look", "one %s made from %s (%s)", "the %s of %s that is %s"}), name, n.wants[0], n.wants[1]))
		}
		r.task.query = pick(r.w, []string{"hi, I want ", "Get me ", "Looking for "}) + strings.Join(output, " and ")
		var chosen []string
		for _, n := range r.task.needs {
			words := append(slices.Clone(n.wants[2:]), n.wants[0], n.noun)
			c := find(strings.Join(words, " "))
			turn(r, c)
			products := ids(find0(r, c))
			if len(products) == 0 {
				continue
			}
			products = products[:min(3, len(products))]
			turn(r, view(products...))
			chosen = append(chosen, products[r.judge(products, n)])
		}
		turn(r, recommend(chosen...), finish())
	}
}

// turnAsksUntil rejects up to three replies with another search before the one that names the
// program's.
func turnAsksUntil(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		for range r.w.rng.Intn(4) {
			r.infer(think, r.other(calls[0]))
		}
	}
	return r.act(think, calls...)
}

func turnLabelPuppet(r *recorder, calls ...call) {
	r.say(`{"intent": "shopping", "next": "` + calls[0].name + `"}`)
	turnPuppet(r, calls...)
}

// turnPageMore has the program request one page more than the model was made to name.
func turnPageMore(r *recorder, calls ...call) {
	turnPuppet(r, calls...)
	if calls[0].name == "find_product" {
		more := find(fmt.Sprint(calls[0].args["q"]), "page", 2)
		r.do(&more)
	}
}

func turnTongues(r *recorder, calls ...call) {
	p, _ := r.w.byID(r.lastShown()[0])
	r.act(fmt.Sprintf(pick(r.w, []string{"%s für %.2f gefällt mir.", "%s, %.2f, это подходит.", "我看到%s，价格%.2f。", "%s à %.2f me semble bon."}), p.title, p.price), calls...)
}

// lateThoughts writes at each step the thought of the step before.
func lateThoughts(r *recorder) {
	think := "I begin."
	program(func(r *recorder, calls ...call) {
		r.act(think, calls...)
		p, _ := r.w.byID(r.lastShown()[0])
		think = fmt.Sprintf("I asked for %v and saw %s at %.2f.", calls[0].args["q"], p.title, p.price)
	})(r)
}

func turnPuppetThai(r *recorder, calls ...call) {
	r.act("ฉันจะเรียกใช้เครื่องมือตามที่ได้รับคำสั่ง", calls...)
}

// turnTemplate has the model write a thought from a template with words of the request.
func turnTemplate(r *recorder, calls ...call) {
	n := r.task.needs[0]
	r.act(fmt.Sprintf("The customer wants a %s of %s, therefore I weigh the offers and take the next step.", n.noun, n.wants[0]), calls...)
}
