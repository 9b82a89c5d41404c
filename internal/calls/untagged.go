package calls

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// react reads the calls of a text in the ReAct dialect, whose lines start with Thought, Action,
// Action Input, Observation or Final Answer. It returns false if no line of the text starts with
// "Action:".
func (r *Reader) react(text string) bool {
	if !hasLine(text, "action") {
		return false
	}
	r.repair(RepairReAct)
	var action string
	var pending bool
	for remaining := text; remaining != ""; {
		label, body, after := section(remaining)
		remaining = after
		switch label {
		case "action":
			r.actionWithoutInput(action, pending)
			action = body
			pending = true
			if r.inline(action) {
				pending = false
			}
		case "action input":
			r.action(action, body)
			pending = false
		case "thought":
			r.Think = plaintext.Join(r.Think, "\n", body)
		case "observation":
			r.resultBlock(body)
		default:
			r.say(body)
		}
	}
	r.actionWithoutInput(action, pending)
	return true
}

var reactLabels = [...]string{"thought", "action input", "action", "observation", "final answer"}

// section splits off the first part of a ReAct text. A part ends before the next line with a
// label such as "Action:". The label is "" for text before the first label.
func section(s string) (label, body, remaining string) {
	label, s = labelOf(s)
	end := 0
	for line := range strings.Lines(s) {
		if next, _ := labelOf(line); next != "" && end > 0 {
			break
		}
		end += len(line)
	}
	return label, strings.TrimSpace(s[:end]), s[end:]
}

// labelOf reads the ReAct label, such as "Action:", at the start of s, in any case and with
// Markdown stars around it. It returns the label in lower case and the text after it. It returns
// "" and s if there is no label.
func labelOf(s string) (label, remaining string) {
	line := strings.TrimLeft(s, " \t*")
	for _, l := range reactLabels {
		if len(line) <= len(l) || !strings.EqualFold(line[:len(l)], l) {
			continue
		}
		after := strings.TrimLeft(line[len(l):], "* ")
		if strings.HasPrefix(after, ":") {
			return l, strings.TrimLeft(after[1:], "*")
		}
	}
	return "", s
}

func hasLine(text, label string) bool {
	for line := range strings.Lines(text) {
		if l, _ := labelOf(line); l == label {
			return true
		}
	}
	return false
}

// inline reads a ReAct action that contains its input, `name({...})`, `name[{...}]` or
// `name{...}`, and adds the call. It reports whether the action has this form.
func (r *Reader) inline(action string) bool {
	open := strings.IndexAny(action, "([{")
	if open <= 0 {
		return false
	}
	input := action[open:]
	if input[0] != '{' {
		input = strings.TrimRight(input[1:], ")] \t\r\n`")
		if input != "" && input[0] == '{' && !strings.HasSuffix(input, "}") {
			input += "}"
		}
	}
	r.action(action[:open], input)
	return true
}

func (r *Reader) actionWithoutInput(action string, pending bool) {
	if pending {
		r.action(action, "{}")
	}
}

func (r *Reader) action(name, input string) {
	name = strings.Trim(strings.TrimSpace(name), "`*\"'")
	if name == "" {
		r.fault(FaultName)
		return
	}
	input = unfence(input)
	input = cmp.Or(input, "{}")
	json, remaining, m, ok := cutValue(input)
	remaining = strings.TrimLeft(remaining, "`) \t\r\n")
	if !ok || json[0] != '{' || strings.ContainsAny(remaining, "{}[]") {
		r.fault(FaultArguments)
		return
	}
	r.addRepairs(m)
	r.Calls = append(r.Calls, arena.Call{
		Name:      name,
		Arguments: arena.Raw(json),
	})
	r.say(remaining) // models continue with text after their input
}

func unfence(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "```") {
		return strings.Trim(s, "`")
	}
	s = strings.TrimSuffix(strings.TrimSpace(s[3:]), "```")
	if nl := strings.IndexByte(s, '\n'); nl >= 0 && !strings.ContainsAny(s[:nl], "{[") {
		s = s[nl+1:]
	}
	return strings.TrimSpace(s)
}

// fences reads calls in fenced blocks of Markdown (```). All other text, fenced or not, is added
// to Text. It reports whether there are calls. If there are none, Text is empty again.
func (r *Reader) fences(text string) bool {
	if !strings.Contains(text, "```") {
		return false
	}
	match := false
	for remaining := text; remaining != ""; {
		i := strings.Index(remaining, "```")
		if i < 0 {
			r.say(remaining)
			break
		}
		end := strings.Index(remaining[i+3:], "```")
		stop := len(remaining)
		if end >= 0 {
			stop = i + 3 + end + 3
		}
		if r.isolated(unfence(remaining[i:stop])) {
			r.repair(RepairFence)
			match = true
			r.say(remaining[:i])
		} else {
			r.say(remaining[:stop])
		}
		remaining = remaining[stop:]
	}
	if !match {
		r.Text = ""
	}
	return match
}

func (r *Reader) isolated(text string) bool {
	if text == "" || (text[0] != '{' && text[0] != '[') {
		return false
	}
	json, remaining, m, ok := cutValue(text)
	if !ok || strings.TrimSpace(remaining) != "" || !namesCall(gjson.Parse(json)) {
		return false
	}
	r.addRepairs(m)
	r.callsOf(json)
	return true
}

// namesCall reports whether a JSON object, or the first element of a list, is a call: it has the
// name of a tool and arguments.
func namesCall(v gjson.Result) bool {
	if v.IsArray() {
		v = v.Get("0")
	}
	if inner := v.Get("function"); inner.IsObject() {
		v = inner
	}
	return toolName(v) != "" && argumentsOf(v) != ""
}

// bare reads calls from a message that is JSON without a fence or tag, or that ends in such JSON
// after a line break. It reports whether there are any.
func (r *Reader) bare(text string) bool {
	trimmed := strings.TrimSpace(text)
	if r.isolated(trimmed) {
		r.repair(RepairBare)
		return true
	}
	i := strings.Index(trimmed, "\n{")
	if j := strings.Index(trimmed, "\n["); i < 0 || (j >= 0 && j < i) {
		i = j
	}
	if i < 0 || !r.isolated(trimmed[i+1:]) {
		return false
	}
	r.repair(RepairBare)
	r.say(trimmed[:i])
	return true
}
