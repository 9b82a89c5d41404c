package rollout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
)

func (p *play) say(m model.Turn) { p.messages = p.messages.Append(m) }

// retell tells the whole conversation in one message, as both public loops do.
func (p *play) retell(more ...string) {
	p.told = append(p.told, more...)
	p.messages = model.Conversation{}
	p.say(model.Turn{Role: "user", Content: "# Dialogue Records History\n" + strings.Join(p.told, "\n\n")})
}

const reminder = "No tool was called. Call a tool, or terminate when you are done."

func (p *play) answer(r model.Reply, s step) {
	if p.env.Form == History {
		p.retell(s.parts(s.observation())...)
		return
	}
	m := model.Turn{Role: "assistant", Content: r.Content, Reasoning: r.Reasoning}
	if !s.turn.Native {
		p.say(m)
		p.say(model.Turn{Role: "user", Content: cmp.Or(s.observation(), reminder)})
		return
	}
	m.ToolCalls = slices.Clone(r.Calls)
	for i, a := range s.answers {
		m.ToolCalls[i].ID = a.ID
		if a.call.Malformed != "" { // vLLM refuses conversations with arguments that are no object
			said := python.String(m.ToolCalls[i].Function.Arguments)
			m.ToolCalls[i].Function.Arguments = python.Dumps(python.DictOf(item("malformed", said)))
		}
	}
	p.say(m)
	for _, a := range s.answers {
		p.say(model.Turn{Role: "tool", Content: toolText(a.Result), CallID: a.ID})
	}
}

// observation is what a model reads of the answers; empty where there are none.
func (s step) observation() string {
	if len(s.answers) == 0 {
		return ""
	}
	answers := make([]shop.Answer, len(s.answers))
	for i, a := range s.answers {
		answers[i] = a.Answer
	}
	return shop.Observation(answers)
}

// toolText is a result as a tool message holds it: text as it is, anything
// else as JSON without blanks, the way corpora are rendered.
func toolText(v python.Value) string {
	if v.Kind == python.Str {
		return strings.ToValidUTF8(v.Text, "\ufffd")
	}
	b := newText()
	defer b.free()
	b.text = python.AppendTight(b.text, v)
	return string(b.text)
}
