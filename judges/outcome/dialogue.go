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

// readDialogue reads the steps once. It raises if the subnet's scorer gives up on
// the attempt.
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
	// By the subnet's rule a list or a number contains no ids, unlike for
	// calls.Recommended.
	d.recommended = python.IDs(ids.Str)
	return d
}

// terminates reports whether the last step calls terminate. Unlike the other steps,
// a last one that cannot be read ends the scoring.
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
		if c.name == "terminate" {
			found = true
		}
	}
	return found
}

// checkMessage checks that Python can search a message that is no object for
// "tool_call" without finding it, and raises otherwise.
func checkMessage(body gjson.Result) {
	if !body.Exists() {
		python.Raise("it has no completion.message")
	}
	if v := decode(body); v.Truth() && contains(v, python.String("tool_call")) {
		python.Raise("its message is no object")
	}
}

// readRecommended sets ids to those of the last recommendation of one step, if
// there is any. A call that cannot be read ends the step.
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

// The tags that the rendering of a message puts around its parts. A message text
// that contains any of them nests or repeats a tag, which breaks the step's format.
var (
	anyTag     = regexp.MustCompile(`</?(?:think|tool_call|response)>`)
	openingTag = regexp.MustCompile(`<(?:think|tool_call|response)>`)
)

// hasTag reports whether JSON, as the subnet renders it, contains a tag. The
// rendering escapes every slash, so only opening tags can appear. If a letter may be
// written as an escape, it searches the decoded texts.
func hasTag(json string) bool {
	hasBracket := strings.Contains(json, "<")
	mayEscape := hasBracket || strings.Contains(json, `\u003`)
	if mayEscape && strings.Contains(json, `\u00`) {
		return anyText(gjson.Parse(json), openingTag.MatchString)
	}
	return hasBracket && openingTag.MatchString(json)
}

// anyText reports whether any key or string in r matches.
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
