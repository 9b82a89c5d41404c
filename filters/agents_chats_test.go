package filters_test

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
)

// chats are programs whose model is asked for other things than the calls.
var chats = []agent{
	{"chat only", many(3280), false, nil, program(turnChat)},
	{"ranks", many(3290), false, nil, program(turnRank)},
	{"narrates", many(3300), false, nil, program(turnNarrate)},
	{"names too late", many(3310), false, nil, program(turnLate)},
	{"example with slots", many(3320), false, nil, program(turnExample)},
	{"no model", many(3470), false, nil, program(turnScript)},
	{"embeddings alone", many(12100), false, nil, program(turnEmbeds)},
	{"falls back at once", many(12120), false, fails, program(turnScript)},
}

// chatsLeftOut are such, and changed no weight or rule.
var chatsLeftOut = []agent{
	{"asks yes or no", many(5090), false, nil, program(turnYes)},
	{"names tools without arguments", many(5100), false, style("native"), program(turnBareName)},
	{"prose about tools", few(8180), false, nil, program(turnProse)},
	{"answers with letters", few(8190), false, nil, program(turnLetter)},
	{"story at the end", few(8200), false, nil, storyAtTheEnd},
	{"asks while it acts", few(8210), false, nil, program(turnRace)},
}

// turnEmbeds asks a model for embeddings only, which the sandbox counts as inference.
func turnEmbeds(r *recorder, calls ...call) {
	r.run("Ranked by likeness.", calls)
	r.tick(80, 300)
	r.log(arena.ProxyCall{Method: "POST", Path: "/inference/embeddings", AtMS: r.now, DurationMS: 60, Status: 200}, `{"object":"list","data":[{"embedding":[0.1,-0.2]}]}`)
	r.requests++
}

// fails logs two requests to a model that are answered with status 503.
func fails(r *recorder) {
	for range 2 {
		r.log(arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: r.now, DurationMS: 300, Status: 503}, "")
		r.tick(300, 900)
		r.requests++
	}
}

// turnYes asks the model for permission.
func turnYes(r *recorder, calls ...call) {
	r.say(pick(r.w, []string{"Yes.", "yes, call " + calls[0].name, `{"approved": true}`}))
	r.run(stock(calls), calls)
}

// turnBareName has the model choose the tool; the program sets its arguments.
func turnBareName(r *recorder, calls ...call) {
	r.infer("This tool.", call{name: calls[0].name, args: map[string]any{}})
	r.run("This tool.", calls)
}

func turnProse(r *recorder, calls ...call) {
	r.say(fmt.Sprintf("Now I would take %s, I think, with %v in mind.", calls[0].name, calls[0].args["q"]))
	r.run(stock(calls), calls)
}

func turnLetter(r *recorder, calls ...call) {
	r.say(pick(r.w, []string{"A", "B", "C"}))
	turnScript(r, calls...)
}

// storyAtTheEnd records one reply at the end that contains all thoughts.
func storyAtTheEnd(r *recorder) {
	var story []string
	program(func(r *recorder, calls ...call) {
		story = append(story, stock(calls))
		turnScript(r, calls...)
	})(r)
	r.say(strings.Join(story, " "))
}

// turnRace sends the request and has the model name it meanwhile.
func turnRace(r *recorder, calls ...call) {
	think := stock(calls)
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

func turnChat(r *recorder, calls ...call) {
	r.say("Understood. I will keep the customer's wishes in mind.")
	r.run(stock(calls), calls)
}

// turnRank asks the model to rank the results and to answer with a label.
func turnRank(r *recorder, calls ...call) {
	r.run(stock(calls), calls)
	r.say(`{"best": 1, "scores": [0.9, 0.4, 0.2]}`)
}

// turnNarrate asks the model after the call why the call was made.
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
	r.run(stock(calls), calls)
	r.infer("I call the tool.", calls...)
}

// turnExample names the call as an example with slots; the program fills them.
func turnExample(r *recorder, calls ...call) {
	r.infer("For example:", call{name: calls[0].name, args: map[string]any{"q": "...", "product_ids": "..."}})
	r.run(stock(calls), calls)
}
