package traces

import (
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// graded reads a graded rollout: the calls of one sample without ids and
// results, and the grade it got. Where one turn ended and the next began is not
// recorded, so all calls are one step.
func (d *decoder) graded() (found, error) {
	t := newTrace(openAI)
	v := conversation{t: t}
	step := arena.Step{}
	c := d.c
	c.Reset(c.Source())
	c.Fields(cursor.Fields{
		"name":            cursor.AsID(&t.ProblemID),
		"query":           &t.Query,
		"latency_seconds": func() { d.seconds(&t.Seconds) },
		"sample": cursor.Fields{
			"assistant_text": &step.Content,
			"output_tools":   func() { step.Calls = d.chatCalls(nil) },
		},
		"grade": cursor.Fields{"score": func() { t.Declared = d.reward() }},
	})
	if err := c.End(); err != nil {
		return found{}, err
	}
	v.agent(step)
	return found{trace: t}, nil
}

// seconds takes a duration, and leaves to as it is where there is none.
func (d *decoder) seconds(to *float64) {
	if s, ok := d.c.Float(); ok {
		*to = s
	}
}

// rollout reads a ShoppingBench rollout: prompt and output as rendered text,
// where observations stand in obs tags between the model's turns.
func (d *decoder) rollout() (found, error) {
	t := newTrace(openAI)
	v := conversation{t: t}
	var input, output string
	var reward, score *float64
	c := d.c
	c.Reset(c.Source())
	c.Fields(cursor.Fields{
		"input": &input, "output": &output,
		"reward": func() { reward = d.reward() },
		"score":  func() { score = d.reward() },
	})
	if err := c.End(); err != nil {
		return found{}, err
	}
	if t.Declared = reward; reward == nil {
		t.Declared = score
	}
	renderedPrompt(&v, input)
	return found{trace: t}, d.renderedTurns(&v, output)
}

// renderedPrompt splits a prompt at its role lines: the system prompt, then
// the request.
func renderedPrompt(v *conversation, prompt string) {
	prompt = strings.TrimSuffix(strings.TrimRight(prompt, "\n"), "\nassistant")
	head, request, ok := strings.Cut(prompt, "\nuser\n")
	if !ok {
		head, request = "", strings.TrimPrefix(prompt, "user\n")
	}
	if system := strings.TrimPrefix(head, "system\n"); system != "" {
		v.system(strings.TrimRight(system, "\n"))
	}
	v.user(strings.TrimRight(request, "\n"))
}

// renderedTurns splits an output at its observations. Each is an element of the
// record: text is as good as JSON at making steps.
func (d *decoder) renderedTurns(v *conversation, output string) error {
	for output != "" {
		if d.taken++; d.taken > d.limits.Elements {
			return &damage{TooManyElements, "more turns in the output than the limit"}
		}
		said, rest, _ := strings.Cut(output, "<obs>")
		obs, after, _ := strings.Cut(rest, "</obs>")
		said = strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(said, "\n"), "\nuser"))
		said = strings.TrimPrefix(said, "assistant\n")
		if said != "" {
			v.agent(arena.Step{Content: said, Calls: d.taggedCalls(said)})
		}
		if obs != "" {
			d.taggedResults(v, obs)
		}
		output = after
	}
	return nil
}

// taggedCalls reads the calls of all tool_call tags that hold JSON.
func (d *decoder) taggedCalls(text string) (calls []arena.ToolCall) {
	for {
		_, rest, ok := strings.Cut(text, "<tool_call>")
		if !ok {
			return calls
		}
		var body string
		body, text, _ = strings.Cut(rest, "</tool_call>")
		inner := d.within(body)
		if more := inner.chatCalls(nil); d.leave(inner) == nil {
			calls = append(calls, more...)
		}
	}
}

// taggedResults gives an observation's results to the calls before it, by
// their order.
func (d *decoder) taggedResults(v *conversation, text string) {
	inner := d.within(text)
	results := inner.observations()
	if d.leave(inner) != nil || len(results) == 0 {
		v.result("", "", arena.Quote(text))
		return
	}
	for _, r := range results {
		v.result("", "", r.value)
	}
}
