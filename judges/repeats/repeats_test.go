package repeats_test

import (
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges/repeats"
)

// TestOnlyVainRepeatsAreWaste gives attempts whose last turn has the only call that may be waste.
func TestOnlyVainRepeatsAreWaste(t *testing.T) {
	t.Parallel()
	call := func(name, arguments, result string) arena.Turn {
		return arena.Turn{Calls: []arena.Call{{Name: name, Arguments: arena.Raw(arguments), Result: arena.Raw(result)}}}
	}
	get := call("get_order", `{"id":1}`, `"sent"`)
	withText := get
	withText.Text = "I look again."
	twice := arena.Turn{Calls: []arena.Call{get.Calls[0], get.Calls[0]}}
	withOther := arena.Turn{Calls: []arena.Call{get.Calls[0], call("get_user", `{}`, `"Ann"`).Calls[0]}}
	withChange := arena.Turn{Calls: []arena.Call{get.Calls[0], call("cancel", `{}`, `"done"`).Calls[0]}}
	for name, c := range map[string]struct {
		turns   []arena.Turn
		isWaste bool
	}{
		"repeated":                       {[]arena.Turn{get, get}, true},
		"after other reading":            {[]arena.Turn{get, call("find_user", `{}`, `"Ann"`), get}, true},
		"after a text":                   {[]arena.Turn{get, {Text: "Just a moment."}, get}, true},
		"two known calls":                {[]arena.Turn{get, twice}, true},
		"first":                          {[]arena.Turn{get}, false},
		"twice in one turn":              {[]arena.Turn{twice}, false},
		"other arguments":                {[]arena.Turn{get, call("get_order", `{"id":2}`, `"sent"`)}, false},
		"other result":                   {[]arena.Turn{get, call("get_order", `{"id":1}`, `"lost"`)}, false},
		"after a user's turn":            {[]arena.Turn{get, {User: "And now?"}, get}, false},
		"after a change":                 {[]arena.Turn{get, call("cancel", `{}`, `"done"`), get}, false},
		"after a change in the turn":     {[]arena.Turn{withChange, get}, false},
		"after a tool that nobody knows": {[]arena.Turn{get, call("sync", `{}`, `"ok"`), get}, false},
		"a repeated change":              {[]arena.Turn{call("cancel", `{}`, `"done"`), call("cancel", `{}`, `"done"`)}, false},
		"with a text":                    {[]arena.Turn{get, withText}, false},
		"with another call":              {[]arena.Turn{get, withOther}, false},
		"an error": {
			[]arena.Turn{call("get_order", `{}`, `"Error: timed out"`), call("get_order", `{}`, `"Error: timed out"`)},
			false,
		},
		"an object with an error": {
			[]arena.Turn{call("get_order", `{}`, `{"error":"busy"}`), call("get_order", `{}`, `{"error":"busy"}`)},
			false,
		},
		"without result": {[]arena.Turn{call("get_order", `{}`, ""), call("get_order", `{}`, "")}, false},
	} {
		judge := repeats.Judge{Domain: &domain.Domain{Reading: []string{"get_*", "find_*"}}}
		j, err := judge.Steps(t.Context(), &arena.Trace{}, &arena.Dialogue{Turns: c.turns})
		if err != nil || j.Outcome != arena.JudgeScored || j.Judge != repeats.Name {
			t.Fatalf("%s: %+v, %v", name, j, err)
		}
		for k, v := range j.Steps {
			want := arena.StepUnclear
			if c.isWaste && k == len(j.Steps)-1 {
				want = arena.StepWaste
			}
			if v.Need != want {
				t.Errorf("%s: step %d is %s (%s), want %s", name, k, v.Need, v.Reason, want)
			}
		}
	}
	j, err := repeats.Judge{Domain: &domain.Domain{}}.Steps(t.Context(), &arena.Trace{}, &arena.Dialogue{})
	if err != nil || j.Outcome != arena.JudgeFailed {
		t.Errorf("an attempt without steps: %+v, %v", j, err)
	}
}
