package formats

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// The formats of rows with messages, which package traces recognises by their keys.
var (
	// OpenAI is a row with messages of OpenAI's API: rows of data sets, prompts and predictions
	// of ORO.
	OpenAI = Format{Name: "openai", read: func(r *reader, doc *value) {
		r.readRow(doc)
	}}
	// ShareGPT is a row with messages that name their sender under "from".
	ShareGPT = Format{Name: "sharegpt", read: func(r *reader, doc *value) {
		r.isShareGPT = true
		r.readRow(doc)
	}}
	// Graded is a sampled output of a model with its grade. Calls have neither ids nor results.
	// The boundaries between the model's messages are not recorded, so all calls are one step.
	Graded = Format{Name: "openai", read: readGraded}
)

func readGraded(r *reader, doc *value) {
	a := r.begin("")
	a.ProblemID = doc.id("name")
	a.Query = r.textOf(doc, "query")
	a.Declared = doc.object("grade").number("score")
	setIfPresent(&a.Seconds, doc.number("latency_seconds"))
	sample := doc.object("sample")
	r.addStep(arena.Step{
		Content: r.textOf(sample, "assistant_text"),
		Calls:   r.calls(sample.get("output_tools")),
	})
}

// readRow reads a row of a data set: a list of messages, a prediction, or both. A prediction is the
// text (raw_text) and the calls (tool_calls) of the model's next message. If the row has neither
// messages nor a prediction, it sets r.err.
func (r *reader) readRow(row *value) {
	r.isRow = true
	r.readRowFields(row)

	messages := messagesOf(row)
	if list := messages.unpack(); list.isArray() {
		r.readMessages(list)
	} else {
		r.err = &NoMessages{
			Name: "messages",
			Kind: arena.Raw(messages.json.Raw).Kind(),
		}
	}

	if row.has("raw_text") || row.has("tool_calls") {
		r.addStep(arena.Step{
			Content: r.textOf(row, "raw_text"),
			Calls:   r.calls(row.get("tool_calls")),
		})
		r.err = nil
	}
}

// HasConversation reports whether a row, which must be a valid JSON object, has messages.
func HasConversation(row string) bool { return messagesOf(parse(row)).exists() }

// messagesOf returns the messages of a row: those under a usual name, otherwise the only member
// that is a conversation. The result does not exist if there are none, or several as in rows with
// two answers of which one is preferred.
func messagesOf(row *value) *value {
	found := row.first("messages", "conversations", "traj", "trajectory")
	if found.exists() {
		return found
	}
	for _, m := range row.open() {
		switch {
		case !isConversation(m.unpack()):
		case found.exists():
			return &value{}
		default:
			found = m.value
		}
	}
	return found
}

// isConversation reports whether v is a list of messages, the last of which is the agent's. A list
// that ends with another message may be a prompt with examples.
func isConversation(v *value) bool {
	last := v.peek("@reverse.0")
	author := rolesByName[last.Get("role").Str+last.Get("from").Str]
	return v.isArray() && author == agentRole
}

// readRowFields adds an attempt, and reads into it the fields of a row other than the
// messages, such as ids, model, tools and reward.
func (r *reader) readRowFields(row *value) {
	a := r.begin("")
	a.ProblemID = row.firstID("problem_id", "task_id", "instance_id", "id")
	a.RunID = row.id("eval_run_id")
	// This project writes the session id as run and problem.
	a.Session = strings.TrimSuffix(row.id("session_id"), "/"+a.ProblemID)
	a.Trial = row.id("trial")
	a.Model = r.text(row.first("model", "model_name"))
	a.System = r.content(row.first("system", "system_prompt")).text
	a.Query = r.textOf(row, "query")
	a.Tools = toolDefinitions(row.first("tools", "functions"))
	a.Declared = declaredReward(row)
	// The reward column of this project's rows is 0 if there was no reward; the metadata
	// has null then.
	reward := row.get("metadata").unpack().get("declared_reward")
	if reward.exists() && !reward.isPresent() {
		a.Declared = nil
	}
	r.setError(exitError(r.textOf(row, "exit_status")))
	r.setError(r.parseError(row.get("error")))
}

// declaredReward returns the reward of a row: the value of the first of the keys reward, resolved,
// target, score and success that has a number, a string with a finite number, or a boolean (1 for
// true and 0 for false), or else of the first boolean of verdictKeys. It returns nil if there is none.
func declaredReward(row *value) *float64 {
	for _, key := range []string{"reward", "resolved", "target", "score", "success"} {
		v := row.get(key)
		switch v.kind() {
		case gjson.Number, gjson.True, gjson.False:
			return row.number(key)
		case gjson.String:
			if n, err := strconv.ParseFloat(strings.TrimSpace(v.json.Str), 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
				v.isRead = true
				return &n
			}
		case gjson.JSON, gjson.Null:
		}
	}
	for _, key := range verdictKeys {
		if row.get(key).isBool() {
			return row.number(key)
		}
	}
	return nil
}

// parseError converts v to an error: an object with type and message, or only a message. It
// returns nil for any other value.
func (r *reader) parseError(v *value) *arena.AttemptError {
	switch {
	case v.isString():
		return &arena.AttemptError{Message: r.text(v)}
	case v.isObject():
		return &arena.AttemptError{
			Type:    r.textOf(v, "type"),
			Message: r.textOf(v, "message"),
		}
	default:
		return nil
	}
}

// splitShareGPTCalls splits turn, a ShareGPT message of role function_call, into its text and the
// calls in the JSON at its end, which is one call or a list of calls. A message without such JSON
// is returned unchanged, with no calls.
func (r *reader) splitShareGPTCalls(turn string) (text string, calls []arena.ToolCall) {
	thoughtEnd := 0
	if i := strings.LastIndex(turn, "</think>"); i >= 0 {
		thoughtEnd = i + len("</think>")
	}
	start := strings.IndexAny(turn[thoughtEnd:], "{[")
	if start < 0 {
		return turn, nil
	}
	start += thoughtEnd
	if !cursor.Valid(turn[start:]) {
		return turn, nil
	}
	return strings.TrimRight(turn[:start], "\r\n"), r.calls(r.parse(turn[start:]))
}

// shoppingBenchResults returns a tool message for each element of a list of ShoppingBench's
// observations, which have the key results or result.
func (r *reader) shoppingBenchResults(list *value) []message {
	var results []message
	r.each(list, func(v *value) {
		results = append(results, message{
			role:   toolRole,
			callID: v.id("tool_call_id"),
			result: v.first("results", "result").raw(),
		})
	})
	return results
}

// Rendered is a rollout of ShoppingBench whose prompt and output are each one text, with role
// names and tags between the messages.
var Rendered = Format{Name: "openai", read: func(r *reader, doc *value) {
	a := r.begin("")
	a.Declared = doc.number("reward", "score")
	r.readRenderedPrompt(r.textOf(doc, "input"))
	r.readRenderedOutput(r.textOf(doc, "output"))
}}

// readRenderedPrompt adds the messages of a prompt that is one text: the system prompt and the
// customer's request. In the text, lines with the name of a role precede them.
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

// readRenderedOutput adds the messages of an output that is one text: those of the model, and
// between them the results of tools, which are in <obs> tags. Each message counts towards the
// document's limit.
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

// taggedCalls returns the calls in a text: the JSON in each pair of <tool_call> tags, which is one
// call or a list. It skips a tag with invalid JSON.
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

// addRenderedResults adds a message for each tool result in observation, which is JSON in
// ShoppingBench's form or plain text. The messages do not name a call, so that each is assigned to
// the first call that has no result yet.
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
