package formats

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// messageKeys are the keys of a message whose values are read. Values under other keys are recorded
// as a loss.
var messageKeys = []string{
	"role", "from", "content", "value", "text", "parts", "system_prompt", "reasoning_content", "reasoning",
	"thinking", "think", "response", "function", "error", "tool_calls", "tool_call", "function_call", "obs",
	"tool_call_ids", "reasoning_details",
}

var rolesByName = map[string]role{
	"system":        systemRole,
	"developer":     systemRole,
	"user":          userRole,
	"human":         userRole,
	"assistant":     agentRole,
	"ai":            agentRole,
	"model":         agentRole,
	"gpt":           agentRole,
	"function_call": agentRole,
	"tool":          toolRole,
	"function":      toolRole,
	"tool_response": toolRole,
	"observation":   observationRole,
}

// readMessages reads a list of messages of any API. A message may be JSON in a string, as in the
// columns of tables.
func (r *reader) readMessages(list gjson.Result) {
	r.each(list, func(v gjson.Result) {
		v = unpack(v)
		if v.Type == gjson.String {
			r.err = &NoMessages{Name: "messages", Kind: arena.Array}
		}
		r.readMessage(members(v))
	})
}

// readMessage reads a message of any API. Its content may be a text or a list of parts, of which
// some may be calls and results.
func (r *reader) readMessage(m object) {
	name := cmp.Or(m["role"].Str, m["from"].Str)
	author := rolesByName[name]
	if author == toolRole && r.isShareGPT && m.id("tool_call_id") == "" {
		author = observationRole
	}
	value := m.first("content", "value", "text", "parts", "system_prompt")
	c := r.content(value)
	c.results = append(c.results, r.shoppingBenchResults(m["obs"])...)

	switch author {
	case agentRole:
		r.readAgentMessage(m, name, &c)
	case toolRole, observationRole:
		if len(c.results) == 0 {
			r.readToolMessage(author, m, value, c.text)
		}
	case otherRole, systemRole, userRole:
		if c.text != "" || len(c.results) == 0 {
			r.addText(author, c.text)
		}
	}
	for _, result := range c.results {
		r.addMessage(result)
	}
	r.addUnreadKeys(m, messageKeys...)
}

func (r *reader) readAgentMessage(m object, roleName string, c *content) {
	step := c.step()
	for _, key := range []string{"reasoning_content", "reasoning", "thinking"} {
		step.Reasoning = cmp.Or(step.Reasoning, r.text(m[key]))
	}
	if details := reasoningDetails(m["reasoning_details"]); step.Reasoning == "" {
		step.Reasoning = details
	}
	step.Think = r.text(m["think"])
	step.Response = r.text(m["response"])
	for _, key := range []string{"tool_calls", "tool_call", "function_call"} {
		step.Calls = append(step.Calls, r.calls(m[key])...)
	}
	if roleName == "function_call" {
		step.Content, step.Calls = r.splitShareGPTCalls(step.Content)
	}
	r.addStep(step)
}

// reasoningDetails returns the texts and summaries in a list of reasoning, as OpenRouter writes it.
func reasoningDetails(list gjson.Result) string {
	var texts []string
	for _, detail := range list.ForEach {
		if text := cmp.Or(detail.Get("text").Str, detail.Get("summary").Str); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// readToolMessage adds a message that is one tool result. The text of an error replaces an empty
// result. That the result is an error is recorded as a loss.
func (r *reader) readToolMessage(
	sender role,
	m object,
	value gjson.Result,
	text string,
) {
	result := message{role: sender, name: m.id("name", "function")}
	if r.isRow {
		result.callID = m.id("tool_call_id")
		result.result = JoinTextParts(arena.Raw(value.Raw))
		r.addMessage(result)
		return
	}

	failure := m.object("error")
	if len(failure) > 0 || m["error"].Type == gjson.True {
		r.addLoss(lostResultError)
	}
	result.callID = cmp.Or(m.id("tool_call_id", "call_id", "id"), m["tool_call_ids"].Get("0").Str)
	result.result = arena.Quote(cmp.Or(text, r.text(failure["message"])))
	r.addMessage(result)
}

// JoinTextParts joins a list of text parts to one JSON string. It returns any other value
// unchanged.
func JoinTextParts(raw arena.Raw) arena.Raw {
	if raw.Kind() != arena.Array {
		return raw
	}
	var texts []string
	allText := true
	gjson.Parse(string(raw)).ForEach(func(_, part gjson.Result) bool {
		text := part.Get("text")
		allText = part.Get("type").Str == "text" && text.Type == gjson.String
		if allText {
			texts = append(texts, text.Str)
		}
		return allText
	})
	if !allText || len(texts) == 0 {
		return raw
	}
	return arena.Quote(strings.Join(texts, "\n"))
}

// content is the content of a message by kind.
type content struct {
	text, reasoning string
	calls           []arena.ToolCall
	results         []message
}

func (c *content) step() arena.Step {
	return arena.Step{
		Content:   c.text,
		Reasoning: c.reasoning,
		Calls:     c.calls,
	}
}

// content reads the content of a message: a text, or a list of parts of any API. It leaves out
// any other value, and sets hasNonText of the attempt.
func (r *reader) content(v gjson.Result) content {
	switch {
	case v.IsArray():
		var p contentParts
		r.each(v, func(part gjson.Result) {
			r.readPart(part, &p)
		})
		return content{
			text:      strings.Join(p.texts, "\n"),
			reasoning: strings.Join(p.thoughts, "\n"),
			calls:     p.calls,
			results:   p.results,
		}
	case v.Type == gjson.String:
		return content{text: r.text(v)}
	}
	if v.Exists() && v.Type != gjson.Null {
		r.attempt().hasNonText = true
	}
	return content{}
}

// contentParts holds the parts of one message's content, sorted by kind. Method readPart adds a part.
type contentParts struct {
	texts, thoughts []string
	calls           []arena.ToolCall
	results         []message
}

func (r *reader) readPart(v gjson.Result, c *contentParts) {
	part := members(v)
	switch part["type"].Str {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal", "":
		text := part.first("text", "content", "refusal")
		if v.Type == gjson.String {
			text = v
		}
		if text.Type != gjson.String {
			r.attempt().hasNonText = true
		}
		c.texts = append(c.texts, r.text(text))
	case "thinking", "reasoning":
		c.thoughts = append(c.thoughts, r.thought(part))
	case "redacted_thinking":
		r.addLoss(lostReasoning)
	case "tool_use", "tool_call":
		c.calls = append(c.calls, r.call(part))
	case "tool_result", "tool_call_response":
		if part["is_error"].Bool() {
			r.addLoss(lostResultError)
		}
		c.results = append(c.results, message{
			role:   toolRole,
			callID: part.id("tool_use_id", "id", "tool_call_id"),
			result: r.result(part.first("content", "response", "result")),
		})
	default:
		r.attempt().hasNonText = true
	}
}

// thought returns the model's reasoning in a part of a message, or the summary if the reasoning
// is redacted.
func (r *reader) thought(part object) string {
	if !part["redacted"].Bool() {
		return r.text(part.first("thinking", "reasoning", "text", "content"))
	}
	if part["summary"].Type != gjson.String {
		r.addLoss(lostReasoning)
	}
	return r.text(part["summary"])
}

// result converts the result of a tool to JSON: a list of parts to their text, null and a
// missing value to `""`. Any other value is unchanged.
func (r *reader) result(v gjson.Result) arena.Raw {
	switch {
	case v.IsArray() && v.Get("0.type").Str != "":
		return arena.Quote(r.content(v).text)
	case !v.Exists() || v.Type == gjson.Null:
		return `""`
	default:
		r.text(v) // records half of a surrogate pair
		return arena.Raw(v.Raw)
	}
}

// calls returns the tool calls in a list, or a slice with the one call that v is. They may be
// JSON in a string.
func (r *reader) calls(v gjson.Result) []arena.ToolCall {
	v = unpack(v)
	if v.IsObject() && !v.Get("0").Exists() {
		return []arena.ToolCall{r.call(members(v))}
	}
	var calls []arena.ToolCall
	r.each(v, func(element gjson.Result) {
		element = unpack(element)
		if element.IsObject() {
			calls = append(calls, r.call(members(element)))
		}
	})
	return calls
}

// call converts a tool call of any API. OpenAI's calls have name and arguments in an object
// "function", those of other APIs do not.
func (r *reader) call(c object) arena.ToolCall {
	c = expandDots(c)
	if inner := expandDots(c.object("tool_call")); len(inner) > 0 { // as in OpenInference
		c = inner
	}
	function := c
	if f := c["function"]; f.IsObject() {
		function = members(f)
	}
	if r.text(c["parse_error"]) != "" {
		r.addLoss(lostParseError)
	}
	return arena.ToolCall{
		ID:        c.id("id", "call_id", "tool_call_id", "tool_use_id"),
		Name:      function.id("name", "function", "tool_name"),
		Arguments: arena.Raw(function.first("arguments", "input", "args", "parameters").Raw),
		Result:    arena.Raw(c["result"].Raw),
	}
}
