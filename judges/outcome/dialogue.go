package outcome

import (
	"errors"
	"fmt"
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

// readDialogue walks over the steps once. It fails where the subnet's scorer
// gives up on the attempt.
func readDialogue(t *arena.Trace) (dialogue, error) {
	var d dialogue
	ids := gjson.Result{Type: gjson.String}
	var last *arena.Step
	var m message
	n := 0
	for i := range t.Steps {
		if t.Steps[i].Role != arena.RoleAgent {
			continue
		}
		var err error
		if m, err = readStep(&t.Steps[i], m.calls[:0]); err != nil {
			return d, fmt.Errorf("step %d: %w", i+1, err)
		}
		d.format += m.format()
		lastRecommended(m.calls, &ids)
		last = &t.Steps[i]
		n++
	}
	if n == 0 {
		return d, nil
	}
	ended, err := terminates(last, m)
	if err != nil {
		return d, fmt.Errorf("last step: %w", err)
	}
	if ended {
		d.length = 1 / float64(n)
	}
	d.format /= float64(n)
	d.recommended = splitIDs(ids)
	return d, nil
}

// terminates reports whether the last step calls terminate. Unlike the other
// steps, a last one that cannot be read ends the scoring.
func terminates(step *arena.Step, last message) (bool, error) {
	if !last.readable {
		completion := members(gjson.Parse(string(step.Raw)), "completion")[0]
		body := members(completion, "message")[0]
		return false, refuseNonObject(body)
	}
	ended := false
	for _, c := range last.calls {
		if c.kind == arena.Absent {
			return false, errors.New("a tool call has no name")
		}
		ended = ended || c.name == "terminate"
	}
	return ended, nil
}

// refuseNonObject reports whether Python can look for "tool_call" in a message
// that is no object, and find nothing.
func refuseNonObject(body gjson.Result) error {
	if !body.Exists() {
		return errors.New("it has no completion.message")
	}
	v := decode(body)
	if !v.Truth() {
		return nil
	}
	found, err := contains(v, python.String("tool_call"))
	if err == nil && found {
		err = errors.New("its message is no object")
	}
	return err
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

// splitIDs gives the ids of a comma list, stripped, each once, in order. This is
// the subnet's rule, which gives nothing for a list or a number, and not that of
// calls.Recommended, which takes ids in any form for what they are.
func splitIDs(list gjson.Result) []string {
	if list.Type != gjson.String {
		return nil
	}
	seen := map[string]bool{}
	var all []string
	for _, id := range strings.Split(list.Str, ",") {
		if id = python.Strip(id); id != "" && !seen[id] {
			seen[id] = true
			all = append(all, id)
		}
	}
	return all
}
