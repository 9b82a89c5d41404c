package taskid

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

var (
	alone        = &arena.Dialogue{Turns: []arena.Turn{{Text: "Done."}}}
	withCustomer = &arena.Dialogue{Turns: []arena.Turn{{Text: "Which one?"}, {User: "The red one."}}}
)

// attempt is an attempt at a task: its ID, the instruction to the customer, the system prompt and the
// request. The dialogue is alone or withCustomer.
type attempt struct {
	id, told, system, request string
	dialogue                  *arena.Dialogue
}

func (a *attempt) key() Key {
	t := &arena.Trace{
		ProblemID: a.id,
		Task:      a.told,
		System:    a.system,
		Query:     a.request,
		Ruling:    &arena.Ruling{Declared: true},
	}
	return KeyOf(t, a.dialogue)
}

const (
	tablet  = "My tablet was lost at the airport: where do I report it, and what do I need?"
	recall  = "My car was recalled for a front suspension issue: is the recall still open, and what do I do?"
	issue   = "The parser fails on an empty file, and its error names no line of the input that it read."
	wrapped = "You work in a repository. Solve this issue and submit. " + issue + " Do not ask questions."
)

// TestTasksOfOneID gives attempts in any order, and expects which are at one task: attempts with the
// same letter are.
func TestTasksOfOneID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempts []attempt
		want     string
	}{
		"two requests of one task, and another task": {
			[]attempt{{id: "t1", request: issue, dialogue: alone}, {id: "t1", request: wrapped, dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}},
			"aab",
		},
		"short requests of which a word differs": {
			[]attempt{{id: "t1", request: "What is 2 + 2?", dialogue: alone}, {id: "t1", request: "What is 3 + 2?", dialogue: alone}},
			"ab",
		},
		"a request without words joins no others": {
			[]attempt{{id: "t1", request: "...", dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}, {id: "t1", request: recall, dialogue: alone}},
			"abc",
		},
		"a request of one word joins no longer one": {
			[]attempt{{id: "t1", request: "A", dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}, {id: "t1", request: recall, dialogue: alone}},
			"abc",
		},
		"no request, and one": {
			[]attempt{{id: "t1", dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}},
			"aa",
		},
		"no request, and two": {
			[]attempt{{id: "t1", dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}, {id: "t1", request: recall, dialogue: alone}},
			"abc",
		},
		"customers, of which two fell silent early": {
			[]attempt{{id: "t1", request: "Hello.", dialogue: withCustomer}, {id: "t1", request: tablet, dialogue: alone}, {id: "t1", request: recall, dialogue: alone}, {id: "t1", dialogue: alone}},
			"aaaa",
		},
		"customers of a numbered task, of which one fell silent early": {
			[]attempt{{id: "7", system: "s", request: "Hello.", dialogue: withCustomer}, {id: "7", system: "s", request: tablet, dialogue: alone}},
			"aa",
		},
		"a numbered task under two system prompts": {
			[]attempt{{id: "7", system: "s", request: tablet, dialogue: alone}, {id: "7", system: "t", request: tablet, dialogue: alone}},
			"ab",
		},
		"an instruction, and a request": {
			[]attempt{{id: "t1", told: "Return it.", request: "Hi.", dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}},
			"aa",
		},
		"an instruction, and two requests": {
			[]attempt{{id: "t1", told: "Return it.", request: "Hi.", dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}, {id: "t1", request: recall, dialogue: alone}},
			"abc",
		},
		"two instructions, and a request": {
			[]attempt{{id: "t1", told: "Return it.", dialogue: alone}, {id: "t1", told: "Exchange it.", dialogue: alone}, {id: "t1", request: tablet, dialogue: alone}},
			"abc",
		},
		"other IDs": {
			[]attempt{{id: "t1", request: tablet, dialogue: alone}, {id: "t2", request: tablet, dialogue: alone}},
			"ab",
		},
	} {
		for seed := range uint64(20) {
			keys := make([]Key, len(c.attempts))
			for i := range c.attempts {
				keys[i] = c.attempts[i].key()
			}
			shuffled := slices.Clone(keys)
			rand.New(rand.NewPCG(seed, 1)).Shuffle(len(keys), func(i, j int) {
				shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
			})
			tasks := Divide(shuffled)
			if again := Divide(keys); !reflect.DeepEqual(tasks, again) {
				t.Fatalf("%s: the order changes %v to %v", name, again, tasks)
			}
			if got := letters(keys, tasks); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

// letters returns a letter for each key: that of its task, in the order of the keys.
func letters(keys []Key, tasks []Task) string {
	var b strings.Builder
	known := map[string]string{}
	for _, k := range keys {
		i := slices.IndexFunc(tasks, func(t Task) bool { return slices.Contains(t.Keys, k) })
		id := tasks[i].ID
		if known[id] == "" {
			known[id] = string(rune('a' + len(known)))
		}
		b.WriteString(known[id])
	}
	return b.String()
}

// TestManyTextsOfOneID checks that requests are not compared with each other if there are too many.
func TestManyTextsOfOneID(t *testing.T) {
	t.Parallel()
	var keys []Key
	for i := range maxTexts + 1 {
		a := attempt{id: "t1", request: fmt.Sprintf("%s Number %d.", tablet, i), dialogue: alone}
		keys = append(keys, a.key())
	}
	if n := len(Divide(keys)); n != len(keys) {
		t.Errorf("%d tasks of %d requests", n, len(keys))
	}
	if n := len(Divide(keys[:maxTexts])); n != 1 {
		t.Errorf("%d tasks of %d requests that are alike", n, maxTexts)
	}
}
