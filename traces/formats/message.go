package formats

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// role is the kind of a message, by its author. A role that no reader knows becomes otherRole.
type role uint8

const (
	otherRole role = iota
	systemRole
	userRole
	agentRole
	toolRole
	// observationRole is the role of a message with the results of all calls in the agent's message
	// before it: one result, or a list with a result for each call.
	observationRole
)

// message is one message of a document, in a form common to all formats.
type message struct {
	role role
	// step is an agent's message with its calls. For other roles only its Content is set.
	step arena.Step
	// callID, name and result are those of a tool's result: the id of the call, the name of the
	// tool (both empty if unknown), and the value.
	callID, name string
	result       arena.Raw
	// isOnly reports whether a result directly after an agent's message names no call, and is the
	// only result there. It may then answer all calls of that message.
	isOnly bool
	// isOfStep reports whether the source holds a result without an id in the agent's step itself.
	// The step then called for it, even if no call can be read in its text.
	isOfStep bool
}

var rolesByName = map[string]role{
	"system":        systemRole,
	"developer":     systemRole,
	"user":          userRole,
	"human":         userRole,
	"assistant":     agentRole,
	"agent":         agentRole,
	"ai":            agentRole,
	"model":         agentRole,
	"gpt":           agentRole,
	"function_call": agentRole,
	"tool":          toolRole,
	"function":      toolRole,
	"tool_response": toolRole,
	"observation":   observationRole,
}

// readMessages reads a list of messages of any API. A message may be a string with JSON, as in
// columns of tables. An element that is a string without JSON sets r.err.
func (r *reader) readMessages(list *value) {
	r.hasAssistant = false
	for _, element := range list.unpack().json.ForEach {
		for _, key := range []string{"role", "from"} {
			name := element.Get(key).Str
			r.hasAssistant = r.hasAssistant || name != "agent" && rolesByName[name] == agentRole
		}
	}
	r.each(list, func(v *value) {
		v = v.unpack()
		if v.isString() {
			r.err = &NoMessages{Name: "messages", Kind: arena.Array}
		}
		r.readMessage(v)
	})
}

// readMessage adds a message of any API to the attempt. Its content may be a text or a list of
// parts; calls and results among the parts become calls of its step and messages of their own.
func (r *reader) readMessage(m *value) {
	if fields := m.get("kwargs"); fields.isObject() { // as in LangChain
		m = fields
	}
	name := m.first("role", "from").str()
	if kind := m.get("type"); name == "" && rolesByName[kind.json.Str] != otherRole {
		name = kind.str()
	}
	author := rolesByName[name]
	if name == "agent" && r.hasAssistant { // another than the model that is trained
		author = otherRole
	}
	if author == toolRole && r.isShareGPT && m.id("tool_call_id") == "" {
		author = observationRole
	}
	body := m.filled("content", "value", "text", "parts", "system_prompt", "refusal")
	if (author == toolRole || author == observationRole) && isData(body) {
		r.readToolMessage(author, m, body.raw())
		return
	}
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
			r.readToolMessage(author, m, r.toolText(m, body, c.text))
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
	step.Think = r.textOf(m, "think")
	step.Response = r.textOf(m, "response")
	for _, key := range []string{"tool_calls", "tool_call", "function_call"} {
		step.Calls = append(step.Calls, r.calls(m.get(key))...)
	}
	if roleName == "function_call" {
		step.Content, step.Calls = r.splitShareGPTCalls(step.Content)
	}
	r.addStep(step)
}

// masks are the keys by which data sets exclude a message from training, each with the value that
// excludes it. The key "mask" is not among them, because its meaning differs: in some data sets it
// marks what is trained on, in others what is not.
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

// readMask sets Masked of a step if a key of masks excludes the message m from training. A value
// other than 0, 1 or a boolean is left unread.
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

// readReasoning sets the reasoning of a step from a message. Servers write it under several keys,
// and some write the same text under two. If two keys have different texts, the first is read.
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

// reasoningNames are the keys under which an element of reasoning may have its text. The first
// whose value is not null counts.
var reasoningNames = []string{"text", "thinking", "reasoning", "reasoningText", "summary", "content"}

// reasoning returns the model's reasoning in v: a string, or the texts and summaries in a list or
// an object, joined by line breaks. If an element is encrypted so that only the provider can read
// it, that is recorded as a loss.
func (r *reader) reasoning(v *value) string {
	if v.isString() {
		return r.text(v)
	}
	var texts []string
	add := func(element *value) {
		if text := r.reasoning(element); text != "" {
			texts = append(texts, text)
		}
	}
	if v.isArray() {
		r.each(v, add)
	}
	if v.isObject() {
		text := v.first(reasoningNames...)
		if !text.exists() && v.first("data", "encrypted_content").exists() {
			r.addLoss(lostReasoning)
			v.raw()
		}
		add(text)
	}
	return strings.Join(texts, "\n")
}

// reasoningText returns the texts of reasoning, joined by line breaks. Unlike reasoning, it does
// not record that v was read.
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

// reasoningOf returns the value of the member that has the text of reasoning: the first of
// reasoningNames that is not null. The result does not exist if there is none.
func reasoningOf(element gjson.Result) gjson.Result {
	for _, name := range reasoningNames {
		if v := element.Get(name); v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// toolText returns, as JSON, the result in the message m of a tool; body is the content of m, and
// text the text in it. The result is the words of an error if there is no text. In a row of a data
// set, text keeps its form.
func (r *reader) toolText(m, body *value, text string) arena.Raw {
	if text == "" {
		if words := r.errorText(m); words != "" {
			return arena.Quote(words)
		}
	}
	if r.isRow && !body.isObject() {
		return body.joinedText()
	}
	return arena.Quote(text)
}

// errorText returns the words of the error in the message m of a tool: its message, or the error
// itself if it is a text.
func (r *reader) errorText(m *value) string {
	message := r.textOf(m.object("error"), "message")
	return cmp.Or(message, r.textOf(m, "error"))
}

// readToolMessage adds a result from the message m of a tool. That the call failed is recorded as a
// loss.
func (r *reader) readToolMessage(sender role, m *value, value arena.Raw) {
	if !m.object("error").isEmpty() || m.get("error").isTrue() || m.peek("error").Str != "" {
		r.addLoss(lostResultError)
	}
	result := message{role: sender, name: m.id("name", "function"), result: value}
	if r.isRow {
		result.callID = m.id("tool_call_id")
		r.addMessage(result)
		return
	}

	result.callID = m.id("tool_call_id", "call_id", "id")
	if ids := m.get("tool_call_ids"); result.callID == "" {
		result.callID = ids.peek("0").Str
		ids.raw()
	}
	r.addMessage(result)
}

// splitLoneThinking moves the text before the first </think> of a step to its reasoning, if no
// <think> precedes it: chat templates write the opening tag into the prompt. It changes nothing if
// the step has reasoning.
func splitLoneThinking(s *arena.Step) {
	const closing = "</think>"
	thinking, text, found := strings.Cut(s.Content, closing)
	if !found || s.Reasoning != "" || s.Think != "" || strings.Contains(thinking, "<think") {
		return
	}
	s.Reasoning = strings.TrimSpace(thinking)
	s.Content = strings.TrimSpace(text)
}

// Parts of a message in the format of gpt-oss (harmony): its header, which may name the tool that the
// message calls, and its text up to the token that ends it.
var (
	// harmonyMessage matches the first message of a text in the format of gpt-oss (harmony). Group
	// 1 is its header, group 2 its text up to the token that ends it.
	harmonyMessage = regexp.MustCompile(`(?s)^\s*((?:<\|start\|>)?[^<]*<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>(.*?)(?:<\|(?:end|call|return)\|>|$)`)
	// harmonyTool matches, in the header of a message in that format, the name of the tool that the
	// message calls. Group 1 is the name.
	harmonyTool = regexp.MustCompile(`\bto=(?:functions\.)?([A-Za-z0-9_.-]+)`)
)

// splitHarmony splits the text of a step that consists of messages in the format of gpt-oss
// (harmony): messages of the channel analysis become the reasoning, those to a tool become calls,
// all others the text. It changes nothing if the text has anything else, or if the step already has
// reasoning or calls.
func splitHarmony(s *arena.Step) {
	if !strings.Contains(s.Content, "<|channel|>") || s.Reasoning != "" || len(s.Calls) > 0 {
		return
	}
	split := *s
	var thoughts, texts []string
	for rest := s.Content; strings.TrimSpace(rest) != ""; {
		parts := harmonyMessage.FindStringSubmatch(rest)
		if parts == nil {
			return
		}
		rest = rest[len(parts[0]):]
		tool := harmonyTool.FindStringSubmatch(parts[1])
		switch {
		case tool != nil:
			split.Calls = append(split.Calls, arena.ToolCall{Name: tool[1], Arguments: arena.Quote(parts[2])})
		case strings.Contains(parts[1], "<|channel|>analysis"):
			thoughts = append(thoughts, parts[2])
		default:
			texts = append(texts, parts[2])
		}
	}
	split.Reasoning = strings.Join(thoughts, "\n")
	split.Content = strings.Join(texts, "\n")
	*s = split
}
