package rows

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// addUserText adds a text of the customer: the first text as the request, later ones to Context. Of
// a tool result it adds only the customer's messages in it. It skips blank and repeated texts.
func (c *Content) addUserText(text string) {
	switch {
	case strings.TrimSpace(text) == "":
	case IsResult(text):
		for _, message := range UserMessages(text) {
			c.addUserText(message)
		}
	case c.Request == "":
		c.Request = text
	case text != c.Request && !slices.Contains(c.Context, text):
		c.Context = append(c.Context, text)
	}
}

// addDialogue adds the texts of a JSON array of messages to System, Request, Context or Answers, by
// the role of each message. It ignores any other value.
func (c *Content) addDialogue(v gjson.Result) {
	if !v.IsArray() {
		return
	}
	for _, message := range v.ForEach {
		if message.Type == gjson.String && isJSON(message.Str) { // the format of our own Parquet
			message = gjson.Parse(message.Str)
		}
		c.addMessage(message.Map())
	}
}

// addMessage adds the texts of a message to System, Request, Context, Answers or Results, by its
// role: the texts of the members in which messages have them, then all other strings and numbers.
func (c *Content) addMessage(m map[string]gjson.Result) {
	role := firstString(m, roleKeys)
	others := otherValues(m)
	switch {
	case role == "system" || role == "developer":
		c.System = appendNonEmpty(append(c.System, messageTexts(m)...), others)
	case slices.Contains(userRoles, role):
		for _, text := range append(messageTexts(m), others) {
			c.addUserText(text)
		}
		c.Results = appendNonEmpty(c.Results, partResults(m))
	case slices.Contains(modelRoles, role):
		c.addModelTurn(m)
		c.Answers = appendNonEmpty(c.Answers, others)
	case role == "" && !isResultType(m["type"].Str): // an item of a list of outputs, such as a call
		c.Answers = appendNonEmpty(append(c.Answers, messageTexts(m)...), others)
	default:
		texts := messageTexts(m)
		for _, text := range UserMessages(strings.Join(texts, resultEnd)) {
			c.addUserText(text)
		}
		c.Results = appendNonEmpty(c.Results, strings.Join(appendNonEmpty(texts, others), "\n"))
	}
}

// isResultType reports whether a part or an item of this type holds what a tool returned.
func isResultType(kind string) bool {
	return strings.HasSuffix(kind, "_output") || strings.HasSuffix(kind, "_result") || kind == "functionResponse"
}

// textKeys are the members of a message that messageTexts reads.
var textKeys = []string{"content", "value", "message"}

// turnKeys are the members of a message of the model that addModelTurn reads.
var turnKeys = []string{"reasoning_content", "think", "thinking", "response", "tool_calls", "function_call"}

// otherValues returns the strings and numbers of a message that neither messageTexts nor
// addModelTurn reads, one a line. It leaves out the results of tools in the message's parts.
func otherValues(m map[string]gjson.Result) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v := m[key]
		switch {
		case slices.Contains(classKeys, key):
		case slices.Contains(textKeys, key) && v.IsArray(), key == "parts" && v.IsArray():
			for _, part := range v.ForEach {
				lines = appendNonEmpty(lines, otherPartValues(part, key == "parts"))
			}
		case slices.Contains(textKeys, key) && v.Type == gjson.String:
		case slices.Contains(turnKeys, key) && slices.Contains(modelRoles, firstString(m, roleKeys)):
		default:
			lines = appendNonEmpty(lines, values(v))
		}
	}
	return strings.Join(lines, "\n")
}

// otherPartValues returns the strings and numbers of a part of a message, one a line, with its text
// only if withText is set. It returns "" for a part that is the result of a tool.
func otherPartValues(part gjson.Result, withText bool) string {
	if isResultType(part.Get("type").Str) || part.Get("functionResponse").Exists() {
		return ""
	}
	var lines []string
	for key, v := range part.ForEach {
		isRead := key.Str == "text" && !withText
		if !isRead && !slices.Contains(classKeys, key.Str) {
			lines = appendNonEmpty(lines, values(v))
		}
	}
	return strings.Join(lines, "\n")
}

// partResults returns what tools returned in the parts of a message.
func partResults(m map[string]gjson.Result) string {
	var lines []string
	for _, key := range textKeys {
		for _, part := range m[key].ForEach {
			if isResultType(part.Get("type").Str) {
				lines = appendNonEmpty(lines, values(part))
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
	c.Answers = append(c.Answers, messageTexts(m)...)
	for _, key := range []string{"reasoning_content", "think", "thinking", "response"} {
		c.addAnswers(m[key])
	}
	for _, key := range []string{"tool_calls", "function_call"} {
		if v := m[key]; v.Exists() && v.Type != gjson.Null {
			c.Answers = append(c.Answers, v.Raw)
		}
	}
}
