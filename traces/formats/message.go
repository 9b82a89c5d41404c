package formats

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

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
func (r *reader) readMessages(list *value) {
	r.each(list, func(v *value) {
		v = v.unpack()
		if v.isString() {
			r.err = &NoMessages{Name: "messages", Kind: arena.Array}
		}
		r.readMessage(v)
	})
}

// readMessage reads a message of any API. Its content may be a text or a list of parts, of which
// some may be calls and results.
func (r *reader) readMessage(m *value) {
	if fields := m.get("kwargs"); fields.isObject() { // as in LangChain
		m = fields
	}
	name := m.first("role", "from").str()
	if kind := m.get("type"); name == "" && rolesByName[kind.json.Str] != otherRole {
		name = kind.str()
	}
	author := rolesByName[name]
	if author == toolRole && r.isShareGPT && m.id("tool_call_id") == "" {
		author = observationRole
	}
	body := m.filled("content", "value", "text", "parts", "system_prompt", "refusal")
	segments := r.segments(body)
	last := len(segments) - 1
	c := segments[last]
	c.results = append(c.results, r.shoppingBenchResults(m.get("obs"))...)

	switch author {
	case agentRole:
		for i := range segments[:last] {
			r.addStep(segments[i].step())
			r.addResults(segments[i].results)
		}
		r.readAgentMessage(m, name, &c)
	case toolRole, observationRole:
		if len(c.results) == 0 {
			r.readToolMessage(author, m, body, c.text)
		}
	case otherRole, systemRole, userRole:
		c = joined(segments)
		if c.text != "" || len(c.results) == 0 {
			r.addText(author, c.text)
		}
	}
	r.addResults(c.results)
}

func (r *reader) readAgentMessage(m *value, roleName string, c *content) {
	step := c.step()
	r.readReasoning(m, &step)
	readMask(m, &step)
	step.Think = r.text(m.get("think"))
	step.Response = r.text(m.get("response"))
	for _, key := range []string{"tool_calls", "tool_call", "function_call"} {
		step.Calls = append(step.Calls, r.calls(m.get(key))...)
	}
	if roleName == "function_call" {
		step.Content, step.Calls = r.splitShareGPTCalls(step.Content)
	}
	r.addStep(step)
}

// masks are the members by which data sets take a message out of training, with the value that does. A
// member named mask is none of them: some write it for what is in the loss, others for what is not.
var masks = []struct {
	name  string
	value float64
}{
	{"weight", 0},
	{"train", 0},
	{"trainable", 0},
	{"training", 0},
	{"loss", 0},
	{"loss_mask", 0},
	{"loss_weight", 0},
	{"masked", 1},
}

// readMask reads whether the author of a data set took a message out of training. A value other than 0
// and 1 is left unread.
func readMask(m *value, step *arena.Step) {
	for _, mask := range masks {
		v := m.get(mask.name)
		n := v.json.Float()
		isSwitch := v.isBool() || v.isNumber()
		if isSwitch && (n == 0 || n == 1) {
			v.isRead = true
			step.Masked = step.Masked || n == mask.value
		}
	}
}

// readReasoning reads the reasoning of a message, which servers write under several names, some of
// them under two at once.
func (r *reader) readReasoning(m *value, step *arena.Step) {
	for _, key := range []string{"reasoning_content", "reasoning", "thinking", "reasoning_details"} {
		if !m.get(key).isPresent() {
			continue
		}
		text := reasoningText(m.get(key))
		if step.Reasoning == "" || step.Reasoning == text || text == "" {
			step.Reasoning = cmp.Or(step.Reasoning, r.reasoning(m.get(key)))
		}
	}
}

// reasoning returns the model's reasoning: a text, or the texts and summaries in a list or an object.
// Reasoning of which there is only an encrypted form is recorded as a loss.
func (r *reader) reasoning(v *value) string {
	if v.isString() {
		return r.text(v)
	}
	if hasHidden(v) {
		r.addLoss(lostReasoning)
	}
	text := reasoningText(v)
	if v.isPresent() {
		v.raw()
	}
	return text
}

// reasoningText returns the texts of reasoning without a record that they were read.
func reasoningText(v *value) string { return strings.Join(reasoningTexts(v.json), "\n") }

func reasoningTexts(v gjson.Result) []string {
	switch {
	case v.Type == gjson.String && v.Str != "":
		return []string{v.Str}
	case v.IsArray():
		var texts []string
		for _, element := range v.ForEach {
			texts = append(texts, reasoningTexts(element)...)
		}
		return texts
	case v.IsObject():
		return reasoningTexts(reasoningOf(v))
	}
	return nil
}

// reasoningOf returns the reasoning in an element of a list.
func reasoningOf(element gjson.Result) gjson.Result {
	for _, name := range []string{"text", "thinking", "reasoning", "summary", "content"} {
		if v := element.Get(name); v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// hasHidden reports whether reasoning has an element that only the provider can read.
func hasHidden(v *value) bool {
	hidden := false
	for _, element := range v.json.ForEach {
		isHidden := element.Get("data").Exists() || element.Get("encrypted_content").Exists()
		hidden = hidden || isHidden && !reasoningOf(element).Exists()
	}
	return hidden
}

// readToolMessage adds a message that is one tool result. The text of an error replaces an empty
// result. That the result is an error is recorded as a loss.
func (r *reader) readToolMessage(
	sender role,
	m *value,
	body *value,
	text string,
) {
	result := message{role: sender, name: m.id("name", "function")}
	if r.isRow {
		result.callID = m.id("tool_call_id")
		result.result = body.joinedText()
		r.addMessage(result)
		return
	}

	failure := m.object("error")
	if !failure.isEmpty() || m.get("error").isTrue() {
		r.addLoss(lostResultError)
	}
	result.callID = m.id("tool_call_id", "call_id", "id")
	if ids := m.get("tool_call_ids"); result.callID == "" {
		result.callID = ids.peek("0").Str
		ids.raw()
	}
	result.result = arena.Quote(cmp.Or(text, r.text(failure.get("message"))))
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
