package formats

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// content is the content of one message, sorted into texts, reasoning, tool calls and tool results.
type content struct {
	texts, thoughts []string
	calls           []arena.ToolCall
	results         []message
	// text has the texts, joined by line breaks.
	text string
}

func (c *content) step() arena.Step {
	return arena.Step{
		Content:   c.text,
		Reasoning: strings.Join(c.thoughts, "\n"),
		Calls:     c.calls,
	}
}

// joined joins several contents to one, which has the parts of all in order.
func joined(all []content) content {
	var sum content
	for i := range all {
		sum.texts = append(sum.texts, all[i].texts...)
		sum.thoughts = append(sum.thoughts, all[i].thoughts...)
		sum.calls = append(sum.calls, all[i].calls...)
		sum.results = append(sum.results, all[i].results...)
	}
	sum.text = strings.Join(sum.texts, "\n")
	return sum
}

// content reads the content of a message, which is a string or a list of parts of any API, as one
// content (see segments, which splits it).
func (r *reader) content(v *value) content { return joined(r.segments(v)) }

// segments reads the content of a message, which is a string or a list of parts, and splits it
// after results of tools: if the provider runs the tools, calls and results are in one message, and
// what follows a result was written after it. It returns at least one segment. A value of another
// type is left out, which sets hasNonText of the attempt.
func (r *reader) segments(v *value) []content {
	all := []content{{}}
	switch {
	case v.isArray():
		r.each(v, func(part *value) {
			c := &all[len(all)-1]
			if len(c.results) > 0 && !isResultKind(partKind(part)) {
				all = append(all, content{})
				c = &all[len(all)-1]
			}
			r.readPart(part, c)
		})
	case isPart(v.json):
		r.readPart(v, &all[0])
	case v.isString():
		all[0].texts = []string{r.text(v)}
	case v.isPresent():
		r.attempt().hasNonText = true
	}
	for i := range all {
		all[i].text = strings.Join(all[i].texts, "\n")
	}
	return all
}

// keyedParts lists, for the APIs of Gemini and Bedrock, in which parts of a message have no type,
// the keys that a part may have, each with the kind of part that the key means.
var keyedParts = []struct{ key, kind string }{
	{"functionCall", "tool_call"},
	{"function_call", "tool_call"},
	{"executableCode", "tool_call"},
	{"executable_code", "tool_call"},
	{"functionResponse", "tool_result"},
	{"function_response", "tool_result"},
	{"toolUse", "tool_call"}, // of Bedrock, as toolResult and reasoningContent
	{"toolResult", "tool_result"},
	{"reasoningContent", "thinking"},
	{"codeExecutionResult", "tool_result"},
	{"code_execution_result", "tool_result"},
	{"inlineData", "file"},
	{"inline_data", "file"},
	{"fileData", "file"},
	{"file_data", "file"},
}

// partKind returns the kind of a part of a message: its type, with "-" replaced by "_", or the kind
// that keyedParts gives for its key. It returns "" if the part has neither, such as a text.
func partKind(part *value) string {
	if kind := part.get("type"); kind.isPresent() || !part.isObject() {
		return strings.ReplaceAll(kind.str(), "-", "_")
	}
	for _, keyed := range keyedParts {
		if part.get(keyed.key).isObject() {
			return keyed.kind
		}
	}
	return ""
}

// partBody returns the object with the fields of a message part: the part itself, or, in APIs whose
// parts have no type, the object under one of the keys of keyedParts. key is that key, otherwise
// empty.
func partBody(part *value) (body *value, key string) {
	if part.isObject() && !part.get("type").isPresent() {
		for _, keyed := range keyedParts {
			if inner := part.get(keyed.key); inner.isObject() {
				return inner, keyed.key
			}
		}
	}
	return part, ""
}

var textKinds = []string{
	"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal", "",
}

// mediaKinds are the kinds of message parts that are no text.
var mediaKinds = []string{"image", "audio", "video", "file", "document", "media", "container_upload", "blob", "uri"}

func isMediaKind(kind string) bool {
	return slices.ContainsFunc(mediaKinds, func(media string) bool {
		return strings.Contains(kind, media)
	})
}

// isCallKind reports whether kind is that of a part with a tool call, whether the client or the
// provider runs the tool.
func isCallKind(kind string) bool {
	return strings.HasSuffix(kind, "tool_use") || kind == "tool_call" || kind == "toolCall"
}

// isResultKind reports whether kind is that of a part with a tool's result, whether the client or
// the provider ran the tool.
func isResultKind(kind string) bool {
	return strings.HasSuffix(kind, "tool_result") || kind == "tool_call_response"
}

func (r *reader) readPart(v *value, c *content) {
	kind := partKind(v)
	part, key := partBody(v)
	switch {
	case slices.Contains(textKinds, kind):
		r.readTextPart(v, c)
	case kind == "thinking", kind == "reasoning":
		c.thoughts = append(c.thoughts, r.thought(part))
	case kind == "redacted_thinking":
		r.addLoss(lostReasoning)
		part.raw()
	case isCallKind(kind):
		call := r.call(part)
		if call.Name == "" && key != "" {
			call.Name = key
			call.Arguments = part.raw()
		}
		c.calls = append(c.calls, call)
	case isResultKind(kind):
		c.results = append(c.results, r.resultPart(part))
	case isMediaKind(kind):
		r.attempt().hasNonText = true
	default:
		r.attempt().hasUnreadPart = true
	}
}

// readTextPart adds the text of v, which is a string or a part of a message with a text, to the
// texts of c, or to the thoughts if the API marks the part as a thought. If the part has no string,
// it sets hasNonText of the attempt.
func (r *reader) readTextPart(v *value, c *content) {
	text := v
	if !v.isString() {
		text = v.first(textNames...)
	}
	if !text.isString() {
		r.attempt().hasNonText = true
	}
	if v.get("thought").isTrue() {
		c.thoughts = append(c.thoughts, r.text(text))
		return
	}
	c.texts = append(c.texts, r.text(text))
}

func (r *reader) resultPart(part *value) message {
	if part.get("is_error").isTrue() {
		r.addLoss(lostResultError)
	}
	body := part.first("content", "response", "result", "output")
	if part.get("outcome").isString() { // as of code that Gemini's API runs
		body = part
	}
	return message{
		role:   toolRole,
		callID: part.id("tool_use_id", "id", "tool_call_id", "toolCallId", "toolUseId"),
		name:   part.id("name", "toolName"),
		result: JoinTextParts(r.result(body)),
	}
}

// thought returns the model's reasoning in a part of a message. If the reasoning is redacted, it
// returns the summary instead, or "" and records a loss if there is no summary.
func (r *reader) thought(part *value) string {
	if !part.get("redacted").isTrue() {
		return r.reasoning(part.first("thinking", "reasoning", "reasoningText", "text", "content"))
	}
	if !part.get("summary").isString() {
		r.addLoss(lostReasoning)
		part.raw()
	}
	return r.textOf(part, "summary")
}

// result converts the result of a tool to JSON. A list of parts with text becomes its text; images
// and other media in it are left out, which sets hasNonText. Null and a missing value become `""`.
// Any other value is unchanged.
func (r *reader) result(v *value) arena.Raw {
	if !v.isPresent() {
		return `""`
	}
	if !v.isArray() || v.peek("0.type").Type != gjson.String {
		r.text(v) // records half of a surrogate pair
		return v.raw()
	}
	hasMedia := false
	hasOther := false
	for _, part := range v.json.ForEach {
		kind := part.Get("type").Str
		hasMedia = hasMedia || isMediaKind(kind)
		hasOther = hasOther || !slices.Contains(textKinds, kind)
	}
	if hasOther && !hasMedia {
		return v.raw()
	}
	return arena.Quote(r.content(v).text)
}

// joinedText returns, as a JSON string, the texts of a list of text parts, joined by line breaks.
// It returns any other value as it is written.
func (v *value) joinedText() arena.Raw {
	raw := arena.Raw(v.json.Raw)
	joined := JoinTextParts(raw)
	if joined == raw {
		return v.raw()
	}
	for part := range v.elements() {
		part.string("type")
		part.first(textNames...).str()
	}
	return joined
}

// textNames are the keys under which a text part may have its text.
var textNames = []string{"text", "content", "refusal"}

// JoinTextParts joins a list of text parts to one JSON string. It returns any other value
// unchanged.
func JoinTextParts(raw arena.Raw) arena.Raw {
	if raw.Kind() != arena.Array {
		return raw
	}
	var texts []string
	for _, part := range gjson.Parse(string(raw)).ForEach {
		text := partText(part)
		if text.Type != gjson.String {
			return raw
		}
		texts = append(texts, text.Str)
	}
	if len(texts) == 0 {
		return raw
	}
	return arena.Quote(strings.Join(texts, "\n"))
}

// partText returns the text of a text part. The result does not exist if part is none. A part
// without a type is one only if its text is all that it has.
func partText(part gjson.Result) gjson.Result {
	kind := part.Get("type")
	if !kind.Exists() && part.Get("@keys.#").Int() == 1 {
		return part.Get("text")
	}
	for _, name := range textNames {
		if text := part.Get(name); text.Exists() && slices.Contains(textKinds, kind.Str) && kind.Str != "" {
			return text
		}
	}
	return gjson.Result{}
}

// isPart reports whether an object is a part of a message, and not the value that a tool returned.
func isPart(object gjson.Result) bool {
	part := &value{json: object}
	kind := partKind(part)
	isMedia := isMediaKind(kind) && part.first(append(mediaNames, kind)...).exists()
	isThought := kind == "thinking" || kind == "redacted_thinking"
	hasText := object.Get("type").Exists() && partText(object).Type == gjson.String
	_, key := partBody(part)
	return hasText || isMedia || isThought || isCallKind(kind) || isResultKind(kind) || key != ""
}

// mediaNames are the keys under which APIs have the content of a media part, or its type.
var mediaNames = []string{
	"source", "data", "url", "base64", "image_url", "file_id", "file_data", "file_url", "mime_type", "mimeType",
}

// isData reports whether the content of a tool's message is a JSON value that the tool returned: it
// is no text, and neither a part nor a list with a part of a tool's message.
func isData(content *value) bool {
	if !content.isArray() {
		return content.isPresent() && !content.isString() && !isToolPart(content.json)
	}
	for _, element := range content.json.ForEach {
		if element.Type == gjson.String || partText(element).Type == gjson.String || isToolPart(element) {
			return false
		}
	}
	return !isEmptyValue(content.json)
}

// isToolPart reports whether an object is a part that a tool's message may have. Tools call nothing
// and do not think, so that an object that looks so is what the tool returned.
func isToolPart(object gjson.Result) bool {
	kind := partKind(&value{json: object})
	isThought := kind == "thinking" || kind == "redacted_thinking"
	return isPart(object) && !isThought && !isCallKind(kind)
}

// calls returns the tool calls in v, which is a list of calls, one call, or a string with the JSON
// of either. It leaves out an element that is no object, and then sets hasUnreadPart of the
// attempt, so that this is recorded.
func (r *reader) calls(v *value) []arena.ToolCall {
	v = v.unpack()
	if v.isObject() && !v.has("0") {
		return []arena.ToolCall{r.call(v)}
	}
	var calls []arena.ToolCall
	r.each(v, func(element *value) {
		element = element.unpack()
		if element.isObject() {
			calls = append(calls, r.call(element))
		} else if element.isPresent() {
			r.attempt().hasUnreadPart = true
		}
	})
	return calls
}

// call converts a tool call of any API. A call of OpenAI's API has name and arguments in an object
// "function" or "custom", those of other APIs have them directly.
func (r *reader) call(c *value) arena.ToolCall {
	c = c.expandDots()
	if inner := c.object("tool_call").expandDots(); !inner.isEmpty() { // as in OpenInference
		c = inner
	}
	function := c
	arguments := []string{"arguments", "input", "args", "parameters"}
	if f := c.get("function"); f.isObject() {
		function = f
	}
	call := arena.ToolCall{
		ID:     c.id("id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId"),
		Result: c.get("result").raw(),
	}
	if r.textOf(c, "parse_error") != "" {
		r.addLoss(lostParseError)
	}
	if custom := c.get("custom"); custom.isObject() {
		call.Name = custom.id("name")
		call.Arguments = textArguments(custom.get("input"))
		return call
	}
	call.Name = function.id("name", "function", "tool_name", "toolName")
	call.Arguments = function.first(arguments...).raw()
	return call
}

// textArguments returns the arguments {"input": text} for a call of a tool that takes one plain
// text. A value that is no string is returned unchanged.
func textArguments(text *value) arena.Raw {
	if !text.isString() {
		return text.raw()
	}
	return `{"input":` + text.raw() + "}"
}
