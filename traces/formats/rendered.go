package formats

import (
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Rendered is a rollout of ShoppingBench whose prompt and output are each one text, with role
// names and tags between the messages.
var Rendered = Format{Name: "openai", read: func(r *reader, doc *value) {
	a := r.begin("")
	a.Declared = doc.number("reward", "score")
	r.readRenderedPrompt(r.text(doc.get("input")))
	r.readRenderedOutput(r.text(doc.get("output")))
}}

// readRenderedPrompt splits a prompt, which is one text, into the system prompt and the
// customer's request. Lines with the name of a role separate them.
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

// readRenderedOutput splits an output, which is one text, into the model's messages and the
// observations between them, which are in <obs> tags. Each message counts towards the document's
// limit.
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

// taggedCalls returns the calls in a text, which are JSON in <tool_call> tags. It skips a tag
// with invalid JSON.
func (r *reader) taggedCalls(text string) []arena.ToolCall {
	var calls []arena.ToolCall
	for {
		_, tail, ok := strings.Cut(text, "<tool_call>")
		if !ok {
			return calls
		}
		body, next, _ := strings.Cut(tail, "</tool_call>")
		if cursor.Valid(body) {
			calls = append(calls, r.calls(r.parse(body))...)
		}
		text = next
	}
}

// addRenderedResults adds the tool results in an observation, which is JSON or plain text. They
// belong to the calls before it, in order.
func (r *reader) addRenderedResults(observation string) {
	var results []message
	if cursor.Valid(observation) {
		results = r.shoppingBenchResults(r.parse(observation))
	}
	if len(results) == 0 && observation != "" {
		results = []message{{result: arena.Quote(observation)}}
	}
	for _, m := range results {
		r.addResult("", m.result)
	}
}
