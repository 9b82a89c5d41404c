package outcome

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// dialogue is what the rules need of all steps.
type dialogue struct {
	length      float64
	format      float64
	recommended []string
}

// readDialogue walks over the steps once. It raises where the subnet's scorer
// gives up on the attempt.
func readDialogue(t *arena.Trace) (d dialogue) {
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
		lastRecommended(m.calls, &ids)
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
	// By the subnet's rule a list or a number holds no ids; calls.Recommended takes them
	// in any form for what they are.
	d.recommended = python.IDs(ids.Str)
	return d
}

// terminates reports whether the last step calls terminate. Unlike the other
// steps, a last one that cannot be read ends the scoring.
func terminates(step *arena.Step, last message) bool {
	defer python.Within("last step")
	if !last.readable {
		completion := members(gjson.Parse(string(step.Raw)), "completion")[0]
		refuseNonObject(members(completion, "message")[0])
	}
	ended := false
	for _, c := range last.calls {
		if c.kind == arena.Absent {
			python.Raise("a tool call has no name")
		}
		ended = ended || c.name == "terminate"
	}
	return ended
}

// refuseNonObject raises unless Python can look for "tool_call" in a message
// that is no object, and find nothing.
func refuseNonObject(body gjson.Result) {
	if !body.Exists() {
		python.Raise("it has no completion.message")
	}
	if v := decode(body); v.Truth() && contains(v, python.String("tool_call")) {
		python.Raise("its message is no object")
	}
}

// lastRecommended updates ids by the recommendations of one step. A call that
// cannot be read hides the rest of its step, but nothing before it.
func lastRecommended(calls []call, ids *gjson.Result) {
	for _, c := range calls {
		switch {
		case c.kind == arena.Absent:
			return
		case c.name != "recommend_product":
		case c.parameters == "":
			return
		default:
			*ids = members(gjson.Parse(c.parameters), "product_ids")[0]
		}
	}
}

// What the rendering of a message puts around its parts. A message text that holds
// any of them nests or repeats a tag, and the step's format is broken.
var (
	tag     = regexp.MustCompile(`</?(?:think|tool_call|response)>`)
	opening = regexp.MustCompile(`<(?:think|tool_call|response)>`)
)

// holdsTag looks for tags in JSON as the subnet renders it: with a backslash
// before every slash, so that only opening tags can show. Where some letter may be
// written as an escape, it looks at the decoded texts.
func holdsTag(json string) bool {
	open := strings.Contains(json, "<")
	if (open || strings.Contains(json, `\u003`)) && strings.Contains(json, `\u00`) {
		return anyText(gjson.Parse(json), opening.MatchString)
	}
	return open && opening.MatchString(json)
}

// anyText reports whether a key or string anywhere in r fulfils ok.
func anyText(r gjson.Result, ok func(string) bool) bool {
	if !r.IsObject() && !r.IsArray() {
		return r.Type == gjson.String && ok(r.Str)
	}
	for key, item := range r.ForEach {
		if ok(key.Str) || anyText(item, ok) {
			return true
		}
	}
	return false
}
