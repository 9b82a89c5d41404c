package calls

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
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
			if name := actionName(action); !r.words(name, unfence(body)) {
				r.action(name, body)
			}
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

// labelOf reads the ReAct label, such as "Action:" or "Action 2:", at the start of s, in any case and
// with Markdown stars around it. It returns the label in lower case and the text after it. It returns
// "" and s if there is no label.
func labelOf(s string) (label, remaining string) {
	line := strings.TrimLeft(s, " \t*")
	for _, l := range reactLabels {
		if len(line) <= len(l) || !strings.EqualFold(line[:len(l)], l) {
			continue
		}
		after := strings.TrimLeft(line[len(l):], "* 0123456789")
		if strings.HasPrefix(after, ":") {
			return l, strings.TrimLeft(after[1:], "*")
		}
	}
	return "", s
}

// Observations returns the results in a message that starts with the label "Observation:", which clients
// send as the user. An empty one is the result "". It returns nil if the message does not start so.
func Observations(text string) []Result {
	label, body := labelOf(strings.TrimSpace(text))
	if label != "observation" {
		return nil
	}
	var r Reader
	r.resultBlock(cmp.Or(strings.TrimSpace(body), `""`))
	return r.Results
}

func hasLine(text, label string) bool {
	for line := range strings.Lines(text) {
		if l, _ := labelOf(line); l == label {
			return true
		}
	}
	return false
}

// inline reads a ReAct action that contains its input, `name({...})`, `name[{...}]`, `name{...}` or
// `name[words]`, and adds the call. It reports whether the action has this form.
func (r *Reader) inline(action string) bool {
	open := strings.IndexAny(action, "([{")
	if open <= 0 {
		return false
	}
	name := actionName(action[:open])
	input := action[open:]
	words, isClosed := strings.CutSuffix(strings.TrimRight(input, " \t\r\n`*"), "]")
	if input[0] == '[' && isClosed && r.words(name, words[1:]) {
		return true
	}
	if input[0] != '{' {
		input = strings.TrimRight(input[1:], ")] \t\r\n`")
		if input != "" && input[0] == '{' && !strings.HasSuffix(input, "}") {
			input += "}"
		}
	}
	r.action(name, input)
	return true
}

func (r *Reader) actionWithoutInput(action string, pending bool) {
	if pending {
		r.action(actionName(action), "{}")
	}
}

// wordsKey is the name of the only argument of a call whose input is a line of words instead of
// JSON.
const wordsKey = "input"

// words adds a call of the named tool whose only input is a line of words, `search[lamp]` or
// "Action Input: lamp", and returns true. It returns false if the input is empty, has a line break or may
// be damaged JSON, or if name cannot be the name of a tool. Commands and code may have brackets in
// pairs.
func (r *Reader) words(name, input string) bool {
	input = strings.TrimSpace(input)
	isWords := input != "" && !strings.ContainsAny(input[:1], `"'{[`) && !strings.Contains(input, `":`)
	if !isWords || !hasPairs(input) || strings.Contains(input, "\n") || name == "" || strings.ContainsAny(name, " \t\n") {
		return false
	}
	r.repair(RepairWords)
	r.Calls = append(r.Calls, arena.Call{
		Name:      name,
		Arguments: arena.Raw(asjson.Plain(map[string]string{wordsKey: input})),
	})
	return true
}

// hasPairs reports whether each closing bracket of s, ] or }, follows an opening one of its kind that is
// not closed yet, and all are closed.
func hasPairs(s string) bool {
	var open []rune
	for _, c := range s {
		switch c {
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case ']', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

// actionName returns the name of a ReAct action without marks of Markdown and quotes.
func actionName(action string) string {
	return strings.Trim(strings.TrimSpace(action), "`*\"'")
}

func (r *Reader) action(name, input string) {
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
