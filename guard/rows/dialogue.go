package rows

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/shopcalls"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// addUserText adds a text of the customer: the first text as the request, later ones to Context. Of
// results of tools at its start it adds the customer's messages in them. It skips blank and repeated
// texts.
func (c *Content) addUserText(text string) {
	results, words := CutResults(text)
	for _, message := range UserMessages(results) {
		c.addUserText(message)
	}
	c.Results = append(c.Results, results...)
	if strings.TrimSpace(words) == "" {
		return
	}
	c.Request = cmp.Or(c.Request, words)
	if words != c.Request {
		c.Context = slicesx.AppendUnique(c.Context, words)
	}
	c.Conversation = slicesx.AppendUnique(c.Conversation, words)
}

// addSystem adds a system prompt, and the definitions of tools in it to Metadata.
func (c *Content) addSystem(text string) {
	prompt, tools := calls.CutTools(text)
	for _, tool := range tools {
		c.Metadata = AppendNonEmpty(c.Metadata, Leaves(gjson.Parse(tool)))
	}
	if prompt != "" {
		c.System = append(c.System, prompt)
		c.Conversation = slicesx.AppendUnique(c.Conversation, prompt)
	}
}

// addResults adds what tools returned, and the customer's messages in it.
func (c *Content) addResults(text string) {
	results := SplitResults(text)
	for _, message := range UserMessages(results) {
		c.addUserText(message)
	}
	c.Results = append(c.Results, results...)
}

// addDialogue adds the texts of a message or a JSON array of messages, by the role of each message.
// It ignores any other value.
func (c *Content) addDialogue(v gjson.Result) {
	if v.IsObject() {
		c.addMessage(v)
	}
	if !v.IsArray() {
		return
	}
	for _, message := range v.ForEach {
		if message.Type == gjson.String && isJSON(message.Str) { // the format of our own Parquet
			message = gjson.Parse(message.Str)
		}
		c.addMessage(message)
	}
}

// addMessage adds the texts of a message to System, Request, Context, Answers or Results, by its
// role: the texts of the members in which messages have them, then all other strings and numbers.
func (c *Content) addMessage(v gjson.Result) {
	m := v.Map()
	c.hasMessages = true
	role := firstString(m, roleKeys)
	others := otherValues(m)
	switch {
	case role == "system" || role == "developer":
		for _, text := range append(messageTexts(m), others) {
			c.addSystem(text)
		}
	case slices.Contains(userRoles, role):
		for _, text := range append(messageTexts(m), others) {
			c.addUserText(text)
		}
		c.addResults(partResults(m))
	case slices.Contains(modelRoles, role):
		c.addModelTurn(m)
		c.Answers = AppendNonEmpty(c.Answers, others)
		c.addResults(stepResults(m))
	case role == "" && isCall(v): // an item of a list of outputs, as the next case
		c.addCalls(v)
	case role == "" && !isResultType(m["type"].Str):
		c.Answers = AppendNonEmpty(append(c.Answers, messageTexts(m)...), others)
	default:
		for _, text := range append(messageTexts(m), others) {
			c.addResults(text)
		}
	}
}

// isResultType reports whether a part or an item of this type holds what a tool returned.
func isResultType(kind string) bool {
	return strings.HasSuffix(kind, "_output") || strings.HasSuffix(kind, "_result") || kind == "functionResponse"
}

// textKeys are the members of a message that messageTexts reads.
var textKeys = []string{"content", "value", "message"}

// turnKeys are the members of a message of the model that addModelTurn reads.
var turnKeys = []string{"reasoning_content", "reasoningContent", "think", "thinking", "response", "tool_calls", "toolCalls", "function_call"}

// otherValues returns the strings and numbers of a message that neither messageTexts nor
// addModelTurn reads, one a line. It leaves out the results of tools in the message's parts.
func otherValues(m map[string]gjson.Result) string {
	var lines []string
	isModel := slices.Contains(modelRoles, firstString(m, roleKeys))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v := m[key]
		switch {
		case isClass(key, v):
		case slices.Contains(textKeys, key) && v.IsArray(), key == "parts" && v.IsArray():
			for _, part := range v.ForEach {
				if !isModel || !isCall(part) {
					lines = AppendNonEmpty(lines, otherPartValues(part, key == "parts", isModel))
				}
			}
		case slices.Contains(textKeys, key) && v.Type == gjson.String:
		case isModel && (slices.Contains(turnKeys, key) || slices.Contains(resultKeys, key)):
		default:
			lines = AppendNonEmpty(lines, values(v))
		}
	}
	return strings.Join(lines, "\n")
}

// otherPartValues returns the strings and numbers of a part of a message, one a line, with its text
// only if withText is set, and without its call if the message is the model's. It returns "" for a part
// that is the result of a tool.
func otherPartValues(part gjson.Result, withText, isModel bool) string {
	if isResultType(part.Get("type").Str) || part.Get("functionResponse").Exists() {
		return ""
	}
	var lines []string
	for key, v := range part.ForEach {
		isRead := key.Str == "text" && !withText || key.Str == "functionCall" && isModel && isCall(v)
		if !isRead && !isClass(key.Str, v) {
			lines = AppendNonEmpty(lines, values(v))
		}
	}
	return strings.Join(lines, "\n")
}

// stepResults returns what tools returned to the calls of a message of the model, in the members of it
// that hold results.
func stepResults(m map[string]gjson.Result) string {
	var lines []string
	for _, key := range resultKeys {
		lines = AppendNonEmpty(lines, values(m[key]))
	}
	return strings.Join(lines, "\n")
}

// partResults returns what tools returned in the parts of a message.
func partResults(m map[string]gjson.Result) string {
	var lines []string
	for _, key := range textKeys {
		for _, part := range m[key].ForEach {
			if isResultType(part.Get("type").Str) {
				lines = AppendNonEmpty(lines, values(part))
			}
		}
	}
	return strings.Join(lines, "\n")
}

func messageTexts(m map[string]gjson.Result) []string {
	var texts []string
	for _, key := range textKeys {
		v := m[key]
		switch {
		case v.Type == gjson.String:
			texts = append(texts, v.Str)
		case v.IsArray():
			for _, part := range v.ForEach {
				if t := part.Get("text"); t.Type == gjson.String {
					texts = append(texts, t.Str)
				}
			}
		}
	}
	return texts
}

func (c *Content) addModelTurn(m map[string]gjson.Result) {
	for _, key := range []string{"reasoning_content", "reasoningContent", "think", "thinking", "response"} {
		c.addAnswers(m[key])
	}
	for _, text := range messageTexts(m) {
		c.addModelText(text)
	}
	for _, key := range []string{"tool_calls", "toolCalls", "function_call"} {
		c.addCalls(m[key])
	}
	for _, key := range append([]string{"parts"}, textKeys...) {
		for _, part := range m[key].ForEach {
			if call := callIn(part); isCall(call) {
				c.addCalls(call)
			}
		}
	}
}

// callIn returns the object with the name and the arguments of the call that a part of a message may
// be.
func callIn(part gjson.Result) gjson.Result {
	if call := part.Get("functionCall"); call.Exists() {
		return call
	}
	return part
}

// The elements that templates write around the thinking and the calls of a model.
var (
	thinkElement = regexp.MustCompile(`(?is)<(?:think|thinking|thought)>(.*?)</(?:think|thinking|thought)>`)
	callElement  = regexp.MustCompile(`(?is)<(?:tool_calls?|toolcall|function_call)>(.*?)</(?:tool_calls?|toolcall|function_call)>`)
)

// addModelText adds a text of the model: its thinking, its other words, and its calls.
func (c *Content) addModelText(text string) {
	var thoughts, written []string
	for _, m := range thinkElement.FindAllStringSubmatch(text, -1) {
		thoughts = AppendNonEmpty(thoughts, strings.TrimSpace(m[1]))
	}
	text = thinkElement.ReplaceAllLiteralString(text, "\n")
	for _, m := range callElement.FindAllStringSubmatch(text, -1) {
		written = append(written, m[1])
	}
	words := strings.TrimSpace(callElement.ReplaceAllLiteralString(text, "\n"))
	c.Answers = AppendNonEmpty(c.Answers, strings.Join(thoughts, "\n"))
	if isJSON(words) {
		written = append(written, words)
	} else {
		c.Answers = AppendNonEmpty(c.Answers, words)
	}
	for _, json := range written {
		if isJSON(json) {
			c.addCalls(gjson.Parse(json))
		} else {
			c.Answers = AppendNonEmpty(c.Answers, strings.TrimSpace(json))
		}
	}
}

// The members of a call, or of its member function, with its name and its arguments.
var (
	nameKeys     = []string{"name", "function_name"}
	argumentKeys = []string{"arguments", "parameters", "input", "args"}
)

// addCalls adds the name, the arguments and any other text of each call in a JSON value, and the items
// that the calls answer with. It adds a value that is no call as it is written.
func (c *Content) addCalls(v gjson.Result) {
	if v.IsArray() && isCall(v.Get("0")) {
		for _, e := range v.ForEach {
			c.addCalls(e)
		}
		return
	}
	if !isCall(v) {
		if v.Type != gjson.Null {
			c.Answers = AppendNonEmpty(c.Answers, v.String())
		}
		return
	}
	var call arena.Call
	var others []string
	for _, members := range []gjson.Result{v, v.Get("function")} {
		for key, e := range members.ForEach {
			switch {
			case slices.Contains(nameKeys, key.Str):
				others = AppendNonEmpty(others, call.Name)
				call.Name = e.String()
			case slices.Contains(argumentKeys, key.Str):
				others = AppendNonEmpty(others, string(call.Arguments))
				call.Arguments = arena.Raw(compact(e))
			case key.Str != "function" && !isClass(key.Str, e):
				others = AppendNonEmpty(others, values(e))
			}
		}
	}
	c.AnswerIDs = append(c.AnswerIDs, shopcalls.AnswerIDs(call)...)
	c.Answers = append(c.Answers, call.Name, string(call.Arguments))
	c.Answers = AppendNonEmpty(c.Answers, strings.Join(others, "\n"))
}

// isCall reports whether a value is an object, or has an object as its member function, with the name
// of a tool and arguments.
func isCall(v gjson.Result) bool {
	if f := v.Get("function"); f.IsObject() {
		v = f
	}
	if !v.IsObject() {
		return false
	}
	members := v.Map()
	hasArguments := slices.ContainsFunc(argumentKeys, func(key string) bool { return members[key].Exists() })
	return hasArguments && firstString(members, nameKeys) != ""
}

// compact returns the arguments of a call without white space. They are a JSON value or a string
// that is one.
func compact(v gjson.Result) string {
	text := v.String()
	if v.Type == gjson.String && !isJSON(text) {
		return text
	}
	c := newCursor()
	c.Next(text)
	return c.Compact()
}
