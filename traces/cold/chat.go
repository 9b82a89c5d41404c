package cold

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// The formats of rows around messages, told by their keys in package traces.
var (
	// OpenAI has messages as OpenAI's API takes them: rows of data sets, tau-bench's
	// trajectories, ORO's prompts and predictions. ShareGPT names who speaks.
	OpenAI   = Format{Name: "openai", read: func(r *reader, top object) { r.row(top) }}
	ShareGPT = Format{Name: "sharegpt", read: func(r *reader, top object) { r.shared = true; r.row(top) }}
	// Graded is one sample and its grade: calls without ids and results. Where one
	// turn ended and the next began is not recorded, so all calls are one step.
	Graded = Format{Name: "openai", read: func(r *reader, top object) {
		a, sample := r.begin(""), top.within("sample")
		a.ProblemID, a.Query, a.Declared = top.id("name"), r.text(top["query"]), top.within("grade").number("score")
		set(&a.Seconds, top.number("latency_seconds"))
		r.say(message{role: Agent, step: arena.Step{Content: r.text(sample["assistant_text"]), Calls: r.calls(sample["output_tools"])}})
	}}
	// Rendered is a rollout of ShoppingBench: prompt and output as rendered text.
	Rendered = Format{Name: "openai", read: func(r *reader, top object) {
		r.begin("").Declared = top.number("reward", "score")
		r.prompt(r.text(top["input"]))
		r.output(r.text(top["output"]))
	}}
)

// NoMessages is the error of a document whose messages, or steps, are no list.
type NoMessages struct {
	Name string
	Kind arena.Kind
}

// Error says what they are.
func (n *NoMessages) Error() string { return n.Name + " are no list" }

// row reads a row of messages, with what stands beside them, or a prediction: the
// text and the calls of a model's next turn.
func (r *reader) row(top object) {
	r.plain = true
	a := r.begin("")
	a.ProblemID, a.RunID = cmp.Or(top.id("problem_id"), top.id("task_id"), top.id("instance_id"), top.id("id")), top.id("eval_run_id")
	a.Session, a.Trial = strings.TrimSuffix(top.id("session_id"), "/"+a.ProblemID), top.id("trial") // a session of ours is a run and a problem
	a.Model, a.System, a.Query = r.text(top.first("model", "model_name")), r.text(top["system"]), r.text(top["query"])
	a.Tools, a.Declared = Tools(top["tools"]), top.number("reward", "resolved", "target")
	if v := Unpacked(top["metadata"]).Get("declared_reward"); v.Exists() && v.Type == gjson.Null {
		a.Declared = nil // by arena's own metadata: the column is 0 where there was no reward
	}
	r.fails(Exit(r.text(top["exit_status"])))
	r.fails(r.attemptError(top["error"]))
	_, said := top["raw_text"]
	_, called := top["tool_calls"]
	messages := top.first("messages", "conversations", "traj", "trajectory")
	if list := Unpacked(messages); list.IsArray() {
		r.messages(list)
	} else {
		r.err = &NoMessages{"messages", arena.Raw(messages.Raw).Kind()}
	}
	if said || called {
		r.say(message{role: Agent, step: arena.Step{Content: r.text(top["raw_text"]), Calls: r.calls(top["tool_calls"])}})
		r.err = nil
	}
}

func (r *reader) attemptError(v gjson.Result) *arena.AttemptError {
	switch {
	case v.Type == gjson.String:
		return &arena.AttemptError{Message: r.text(v)}
	case v.IsObject():
		return &arena.AttemptError{Type: r.text(v.Get("type")), Message: r.text(v.Get("message"))}
	default:
		return nil
	}
}

// sharedCalls reads ShareGPT's turn of calls: thinking and text, then one call
// or a list of them as JSON. What does not read so is text.
func (r *reader) sharedCalls(text string) (said string, calls []arena.ToolCall) {
	at := 0
	if end := strings.LastIndex(text, "</think>"); end >= 0 {
		at = end + len("</think>")
	}
	start := strings.IndexAny(text[at:], "{[")
	if start < 0 || !cursor.Valid(text[at+start:]) {
		return text, nil
	}
	at += start
	return strings.TrimRight(text[:at], "\r\n"), r.calls(gjson.Parse(text[at:]))
}

// observations are ShoppingBench's list of results.
func (r *reader) observations(list gjson.Result) (all []message) {
	r.each(list, func(v gjson.Result) {
		o := fields(v)
		all = append(all, message{role: Tool, callID: o.id("tool_call_id"), result: arena.Raw(o.first("results", "result").Raw)})
	})
	return all
}

// prompt splits a rendered prompt at its role lines: the system prompt, then the
// request.
func (r *reader) prompt(text string) {
	text = strings.TrimSuffix(strings.TrimRight(text, "\n"), "\nassistant")
	head, request, ok := strings.Cut(text, "\nuser\n")
	if !ok {
		head, request = "", strings.TrimPrefix(text, "user\n")
	}
	if system := strings.TrimPrefix(head, "system\n"); system != "" {
		r.tell(System, strings.TrimRight(system, "\n"))
	}
	r.tell(User, strings.TrimRight(request, "\n"))
}

// output splits a rendered output at its observations, which stand in obs tags
// between the model's turns. Each counts as a message does: text is as good as JSON
// at making steps.
func (r *reader) output(text string) {
	for text != "" && r.left >= 0 {
		r.left--
		said, rest, _ := strings.Cut(text, "<obs>")
		seen, after, _ := strings.Cut(rest, "</obs>")
		said = strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(said, "\n"), "\nuser"))
		if said = strings.TrimPrefix(said, "assistant\n"); said != "" {
			r.say(message{role: Agent, step: arena.Step{Content: said, Calls: r.taggedCalls(said)}})
		}
		r.seen(seen)
		text = after
	}
}

func (r *reader) taggedCalls(text string) (calls []arena.ToolCall) {
	for {
		_, rest, ok := strings.Cut(text, "<tool_call>")
		if !ok {
			return calls
		}
		var body string
		if body, text, _ = strings.Cut(rest, "</tool_call>"); cursor.Valid(body) {
			calls = append(calls, r.calls(gjson.Parse(body))...)
		}
	}
}

// seen gives an observation's results to the calls before it, by their order.
func (r *reader) seen(text string) {
	var results []message
	if cursor.Valid(text) {
		results = r.observations(gjson.Parse(text))
	}
	if len(results) == 0 && text != "" {
		results = []message{{result: arena.Quote(text)}}
	}
	for _, m := range results {
		r.answer("", m.result)
	}
}
