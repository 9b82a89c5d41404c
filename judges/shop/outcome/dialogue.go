package outcome

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// dialogue is what the scoring rules need to know of an attempt's steps: the scores for length and
// format, and the product ids of the last recommendation.
type dialogue struct {
	length      float64
	format      float64
	recommended []string
}

// readDialogue reads the steps of an attempt and returns what the scoring rules need. If the
// subnet's scorer would fail on them, it panics (see python.Raise), and the attempt gets no score.
func readDialogue(t *arena.Trace) dialogue {
	var d dialogue
	ids := gjson.Result{Type: gjson.String}
	var last *arena.Step
	var m message
	n := 0
	for i := range t.Steps {
		if t.Steps[i].Role != arena.RoleAgent {
			continue
		}
		if fault := python.Catch(func() { m = readStep(&t.Steps[i], m.calls[:0]) }); fault != nil {
			python.Raise("step %d: %w", i+1, fault)
		}
		d.format += m.format()
		readRecommended(m.calls, &ids)
		last = &t.Steps[i]
		n++
	}
	if n == 0 {
		return d
	}
	if terminates(last, m) {
		d.length = 1 / float64(n)
	}
	d.format /= float64(n)
	// By the subnet's rule, ids must be a string: unlike in shopcalls.AnswerIDs, a list or a
	// number contains no ids.
	d.recommended = python.IDs(ids.Str)
	return d
}

// terminates reports whether the last step calls the tool terminate. It panics (see python.Raise)
// if the subnet's scorer would fail on that step. It would not fail on an earlier step with the
// same fault, which only lowers the format score.
func terminates(step *arena.Step, last message) bool {
	defer python.Within("last step")
	if !last.readable {
		completion := members(gjson.Parse(string(step.Raw)), "completion")[0]
		checkMessage(members(completion, "message")[0])
	}
	found := false
	for _, c := range last.calls {
		if c.kind == arena.Absent {
			python.Raise("a tool call has no name")
		}
		found = found || c.name == "terminate"
	}
	return found
}

// checkMessage checks the message of a step that is not a JSON object, as the subnet's Python
// scorer would. It panics (see python.Raise), so that the attempt gets no score, if there is no
// message or if the scorer would fail: it searches the message for "tool_call", and fails if it
// finds it or cannot search.
func checkMessage(body gjson.Result) {
	if !body.Exists() {
		python.Raise("it has no completion.message")
	}
	if v := decode(body); v.Truth() && contains(v, python.String("tool_call")) {
		python.Raise("its message is no object")
	}
}

// readRecommended sets ids to the product ids of the last recommendation among the calls of one
// step. It leaves ids unchanged if there is no recommendation, and stops at a call that cannot
// be read.
func readRecommended(calls []call, ids *gjson.Result) {
	for _, c := range calls {
		if c.kind == arena.Absent {
			return
		}
		if c.name != "recommend_product" {
			continue
		}
		if c.parameters == "" {
			return
		}
		*ids = members(gjson.Parse(c.parameters), "product_ids")[0]
	}
}

// The tags between which the parts of a message are rendered. A message text that contains one
// of them breaks the format of its step.
var (
	// anyTag matches an opening or closing tag, such as <think> or </think>. In messages that are
	// text, the subnet marks thinking, tool calls and response by such tags.
	anyTag = regexp.MustCompile(`</?(?:think|tool_call|response)>`)
	// openingTag matches an opening tag, such as <think>. In messages that are text, the subnet
	// marks thinking, tool calls and response by such tags.
	openingTag = regexp.MustCompile(`<(?:think|tool_call|response)>`)
)

// hasTag reports whether a JSON text contains an opening tag such as <think>. Closing tags cannot
// occur, since the subnet writes JSON with every slash escaped. If the text may have escaped
// characters of a tag, hasTag searches the decoded strings.
func hasTag(json string) bool {
	hasBracket := strings.Contains(json, "<")
	mayEscape := hasBracket || strings.Contains(json, `\u003`)
	if mayEscape && strings.Contains(json, `\u00`) {
		return anyText(gjson.Parse(json), openingTag.MatchString)
	}
	return hasBracket && openingTag.MatchString(json)
}

// anyText reports whether match returns true for any key or string in r, at any depth.
func anyText(r gjson.Result, match func(string) bool) bool {
	if !r.IsObject() && !r.IsArray() {
		return r.Type == gjson.String && match(r.Str)
	}
	for key, item := range r.ForEach {
		if match(key.Str) || anyText(item, match) {
			return true
		}
	}
	return false
}
