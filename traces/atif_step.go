package traces

import (
	"cmp"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/cold"
)

// atifStep is one step before it is known whose it is.
type atifStep struct {
	step    arena.Step
	source  string
	text    string
	nonText bool
	results []result
	copied  bool
	own     stepExtra
}

func (doc *atifDoc) readStep() {
	s := atifStep{step: arena.Step{}}
	c := doc.d.c
	c.Fields(cursor.Fields{
		"source":            &s.source,
		"timestamp":         func() { s.step.Timestamp = moment(c.Raw()) },
		"message":           func() { s.text, s.nonText = doc.d.content() },
		"reasoning_content": &s.step.Reasoning,
		"model_name": func() {
			model, _ := c.String()
			doc.t.Model = cmp.Or(doc.t.Model, model)
		},
		"tool_calls":        func() { c.Array(func() { s.step.Calls = doc.d.atifCall(s.step.Calls) }) },
		"observation":       func() { s.results, s.nonText = doc.d.observation(s.nonText) },
		"is_copied_context": func() { s.copied = c.Kind() == arena.Bool && c.Bool() },
		"llm_call_count": func() {
			s.step.LLMCalls = nil
			if n := doc.d.count(); n >= 0 {
				s.step.LLMCalls = &n
			}
		},
		"extra": func() { doc.d.stepExtra(&s.own) },
	})
	doc.add(&s)
}

// add gives a step to who took it.
func (doc *atifDoc) add(s *atifStep) {
	if s.nonText {
		addVeto(doc.t, vetoNonText)
	}
	if s.source != "agent" {
		s.tellResults()
	} else if s.copied {
		addVeto(doc.t, vetoCopied)
	}
	switch s.source {
	case "agent":
		s.step.Content = s.text
		s.own.apply(&s.step, s.results)
		doc.agent(s.step)
	case "user":
		doc.user(s.text)
	case "system":
		doc.system(s.text)
	default:
		addVeto(doc.t, vetoRole)
		doc.step(arena.Step{Role: arena.RoleSystem, Content: s.text})
	}
	for _, r := range s.results {
		doc.result(r.callID, "", r.value)
	}
	if s.source == "agent" {
		s.own.forgetIDs(doc.t.Steps[len(doc.t.Steps)-1].Calls)
	}
}

// tellResults makes words of what a step observed that has no call to answer.
func (s *atifStep) tellResults() {
	told := []string{s.text}
	for _, r := range s.results {
		told = append(told, r.value.Text())
	}
	s.text, s.results = strings.TrimPrefix(strings.Join(told, "\n"), "\n"), nil
}

func (d *decoder) atifCall(calls []arena.ToolCall) []arena.ToolCall {
	var call arena.ToolCall
	if !d.c.Fields(cursor.Fields{"tool_call_id": cursor.AsID(&call.ID), "function_name": &call.Name, "arguments": &call.Arguments}) {
		return calls
	}
	return append(calls, call)
}

// observation takes a step's results. Those without content are none.
func (d *decoder) observation(nonText bool) ([]result, bool) {
	var all []result
	readOne := func() {
		r := d.result("source_call_id", "content")
		if r.value = cold.PartsText(r.value); r.value.Kind() == arena.Array {
			nonText = nonText || strings.Contains(string(r.value), `"image"`)
		}
		if r.value.Kind() > arena.Null {
			all = append(all, r)
		}
	}
	d.c.Fields(cursor.Fields{"results": func() { d.c.Array(readOne) }})
	return all, nonText
}
