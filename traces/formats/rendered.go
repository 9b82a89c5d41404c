package formats

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Rendered is a rollout of ShoppingBench, with prompt and output as rendered text.
var Rendered = Format{Name: "openai", read: func(r *reader, doc object) {
	a := r.begin("")
	a.Declared = doc.number("reward", "score")
	r.readRenderedPrompt(r.text(doc["input"]))
	r.readRenderedOutput(r.text(doc["output"]))
}}

// readRenderedPrompt splits a prompt at the lines that name a role: the system prompt, then
// the request.
func (r *reader) readRenderedPrompt(text string) {
	text = strings.TrimSuffix(strings.TrimRight(text, "\n"), "\nassistant")
	head, request, ok := strings.Cut(text, "\nuser\n")
	if !ok {
		head = ""
		request = strings.TrimPrefix(text, "user\n")
	}
	if system := strings.TrimPrefix(head, "system\n"); system != "" {
		r.addText(systemRole, strings.TrimRight(system, "\n"))
	}
	r.addText(userRole, strings.TrimRight(request, "\n"))
}

// readRenderedOutput splits an output at its observations, which are in obs tags between
// the turns of the model. Each turn counts towards the limit, because text makes as many
// steps as JSON.
func (r *reader) readRenderedOutput(text string) {
	for text != "" && r.remaining >= 0 {
		r.remaining--
		turn, tail, _ := strings.Cut(text, "<obs>")
		observation, next, _ := strings.Cut(tail, "</obs>")

		turn = strings.TrimSuffix(strings.TrimRight(turn, "\n"), "\nuser")
		turn = strings.TrimPrefix(strings.TrimSpace(turn), "assistant\n")
		if turn != "" {
			r.addStep(arena.Step{
				Content: turn,
				Calls:   r.taggedCalls(turn),
			})
		}
		r.addRenderedResults(observation)
		text = next
	}
}

// taggedCalls returns the calls in the tool_call tags of a turn.
func (r *reader) taggedCalls(text string) []arena.ToolCall {
	var calls []arena.ToolCall
	for {
		_, tail, ok := strings.Cut(text, "<tool_call>")
		if !ok {
			return calls
		}
		body, next, _ := strings.Cut(tail, "</tool_call>")
		if cursor.Valid(body) {
			calls = append(calls, r.calls(gjson.Parse(body))...)
		}
		text = next
	}
}

// addRenderedResults adds the results of an observation, which belong to the calls before
// it in their order.
func (r *reader) addRenderedResults(observation string) {
	var results []message
	if cursor.Valid(observation) {
		results = r.shoppingBenchResults(gjson.Parse(observation))
	}
	if len(results) == 0 && observation != "" {
		results = []message{{result: arena.Quote(observation)}}
	}
	for _, m := range results {
		r.addResult("", m.result)
	}
}
