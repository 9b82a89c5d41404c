package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
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
	c.Object(func(key string) {
		switch key {
		case "source":
			s.source, _ = c.String()
		case "timestamp":
			s.step.Timestamp = moment(c.Raw())
		case "message":
			s.text, s.nonText = doc.d.content()
		case "reasoning_content":
			s.step.Reasoning, _ = c.String()
		case "model_name":
			model, _ := c.String()
			doc.t.Model = cmp.Or(doc.t.Model, model)
		case "tool_calls":
			c.Array(func() { s.step.Calls = doc.d.atifCall(s.step.Calls) })
		case "observation":
			s.results, s.nonText = doc.d.observation(s.nonText)
		case "is_copied_context":
			s.copied = c.Kind() == arena.Bool && c.Bool()
		case "llm_call_count":
			s.step.LLMCalls = nil
			if n := doc.d.count(); n >= 0 {
				s.step.LLMCalls = &n
			}
		case "extra":
			doc.d.stepExtra(&s.own)
		default:
			c.Skip()
		}
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
	c := d.c
	var call arena.ToolCall
	isObject := c.Object(func(key string) {
		switch key {
		case "tool_call_id":
			call.ID, _ = c.ID()
		case "function_name":
			call.Name, _ = c.String()
		case "arguments":
			call.Arguments = c.Raw()
		default:
			c.Skip()
		}
	})
	if !isObject {
		return calls
	}
	return append(calls, call)
}

// observation takes a step's results. Those without content are none.
func (d *decoder) observation(nonText bool) ([]result, bool) {
	c := d.c
	var all []result
	readOne := func() {
		var r result
		c.Object(func(key string) {
			switch key {
			case "source_call_id":
				r.callID, _ = c.ID()
			case "content":
				r.value = partsText(c.Raw())
			default:
				c.Skip()
			}
		})
		if r.value.Kind() == arena.Array {
			nonText = nonText || strings.Contains(string(r.value), `"image"`)
		}
		if r.value.Kind() > arena.Null {
			all = append(all, r)
		}
	}
	c.Object(func(key string) {
		if key == "results" {
			c.Array(readOne)
			return
		}
		c.Skip()
	})
	return all, nonText
}

// partsText joins a list of nothing but parts of text, as a message's are.
// Any other value stays what it is.
func partsText(raw arena.Raw) arena.Raw {
	if raw.Kind() != arena.Array {
		return raw
	}
	var texts []string
	only := true
	gjson.Parse(string(raw)).ForEach(func(_, part gjson.Result) bool {
		text := part.Get("text")
		if only = part.Get("type").Str == "text" && text.Type == gjson.String; only {
			texts = append(texts, text.Str)
		}
		return only
	})
	if !only || len(texts) == 0 {
		return raw
	}
	return quote(strings.Join(texts, "\n"))
}
