package pipeline

import (
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
)

// TestTasksOfAttempts gives attempts two by two, and expects the IDs of their tasks after both were
// read. Equal names are one task.
func TestTasksOfAttempts(t *testing.T) {
	t.Parallel()
	declared := func(id, told, system, query string) *arena.Trace {
		return &arena.Trace{
			ProblemID: id,
			Task:      told,
			System:    system,
			Query:     query,
			Ruling:    &arena.Ruling{Declared: true},
		}
	}
	episode := func(id, query string) *arena.Trace {
		return &arena.Trace{ProblemID: id, Query: query, Ruling: &arena.Ruling{}}
	}
	alone := &arena.Dialogue{Turns: []arena.Turn{{Text: "Done."}}}
	withCustomer := &arena.Dialogue{Turns: []arena.Turn{{Text: "Which one?"}, {User: "The red one."}}}
	for name, c := range map[string]struct {
		first, second *arena.Trace
		dialogue      *arena.Dialogue
		isOne         bool
	}{
		"one instruction, other words of the customer": {
			declared("0", "Return it.", "s", "Hello."),
			declared("0", "Return it.", "s", "Hi."),
			withCustomer,
			true,
		},
		"two instructions": {
			declared("0", "Return it.", "s", "Hello."),
			declared("0", "Book a flight.", "s", "Hello."),
			withCustomer,
			false,
		},
		"two instructions of a named task": {
			declared("django-1", "Mend the form.", "s", "Hello."),
			declared("django-1", "Mend the view.", "s", "Hello."),
			alone,
			false,
		},
		"one instruction is missing": {
			declared("django-1", "Mend the form.", "s", "Hello."),
			declared("django-1", "", "s", "Another template."),
			alone,
			true,
		},
		"a named task in two templates": {
			declared("django-1", "", "s", "Please mend the form."),
			declared("django-1", "", "another", "Mend the form, please."),
			alone,
			true,
		},
		"a number with two requests": {
			declared("1", "", "s", "What is 2 + 2?"),
			declared("1", "", "s", "Who wrote Faust?"),
			alone,
			false,
		},
		"a number with two requests of customers under one system prompt": {
			declared("1", "", "s", "Hello."),
			declared("1", "", "s", "Hi."),
			withCustomer,
			true,
		},
		"a number under two system prompts": {
			declared("1", "", "Serve an airline.", "Hello."),
			declared("1", "", "Serve a shop.", "Hello."),
			withCustomer,
			false,
		},
		"an ID with two requests": {
			declared("t01", "", "s", "My tablet was lost at the airport: where do I report it?"),
			declared("t01", "", "s", "My car was recalled for a front suspension issue: is it open?"),
			alone,
			false,
		},
		"an ID with one request in the words of two programs": {
			declared("t01", "", "s", "Solve this issue: the parser fails on an empty file, and the error names no line."),
			declared("t01", "", "s", "You work in a repository. Here is an issue: the parser fails on an empty file, and the error names no line. Solve it."),
			alone,
			true,
		},
		"an attempt without request": {
			declared("t01", "", "", ""),
			declared("t01", "", "s", "My tablet was lost at the airport: where do I report it?"),
			alone,
			true,
		},
		"an ID with two requests of customers": {
			declared("t01", "", "s", "My tablet was lost at the airport: where do I report it?"),
			declared("t01", "", "s", "Hello, can you help me?"),
			withCustomer,
			true,
		},
		"episodes of two requests":   {episode("w0", "Find a tent."), episode("w0", "Find a kettle."), alone, false},
		"an episode without request": {episode("w0", ""), episode("w0", "Find a kettle."), alone, true},
		"attempts without ID":        {declared("", "", "s", "Sum it."), declared("", "", "s", "Plot it."), alone, false},
	} {
		found := tasks{}
		for _, x := range []*arena.Trace{c.first, c.second} {
			found.add(x, c.dialogue, &domain.Domain{Name: "any"})
		}
		p := newProblems()
		p.names = found.divide()
		for _, x := range []*arena.Trace{c.first, c.second} {
			id := p.named(x, c.dialogue).ProblemID
			matches := 0
			for _, task := range found {
				if task.ID == id && (id != "" || task.Query == x.Query) {
					matches++
				}
			}
			if matches != 1 {
				t.Errorf("%s: %d tasks have the ID %q", name, matches, id)
			}
		}
		if isOne := len(found) == 1; isOne != c.isOne {
			t.Errorf("%s: %d tasks", name, len(found))
		}
	}
}

// TestUnscoredNamesWhoFailed holds that an outcome without a score has the reason that its source
// records.
func TestUnscoredNamesWhoFailed(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"environment_error", "verifier_error", "infrastructure_error", "undeclared_outcome"} {
		o := arena.RuledOutcome(&arena.Ruling{Void: reason})
		if got := unscored(&o); got != reason {
			t.Errorf("%s: the reason is %s", reason, got)
		}
	}
	if got := unscored(&arena.Outcome{Error: "no product"}); got != "no_score" {
		t.Errorf("another error: the reason is %s", got)
	}
}
