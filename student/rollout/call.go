package rollout

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

type callAnswer struct {
	call dialect.Call
	shop.Answer
	malformed  bool
	terminates bool
}

func (p *play) call(c dialect.Call) callAnswer {
	if c.Malformed != "" {
		p.result.MalformedCalls++
		text := python.String("Error: " + c.Malformed)
		return callAnswer{call: c, Answer: shop.Answer{ID: c.ID, Result: text, Raised: true}, malformed: true}
	}
	a := callAnswer{call: c, Answer: p.tools.Call(p.ctx, c.Name, c.Arguments)}
	a.ID = c.ID
	if r, lost := a.Unanswered(); lost {
		p.lost = &model.Fault{Kind: model.Network, Reason: "search_unreachable", Detail: r.Path}
		if r.Status != 0 {
			p.lost.Reason = "search_http_" + strconv.Itoa(r.Status)
		}
	}
	if !slices.Contains(p.env.ToolNames, c.Name) {
		p.result.MalformedCalls++
		a.malformed = true
		return a
	}
	p.result.ToolCalls++
	if a.Raised {
		p.result.ToolErrors++
	}
	text := c.Name + "\n" + string(python.AppendCompact(nil, c.Arguments)) // whatever order the keys are in
	if p.known[text] {
		p.result.RepeatedCalls++
	}
	p.known[text] = true
	p.made = append(p.made, text)
	p.note(c, a.Result)
	a.terminates = c.Name == "terminate"
	return a
}

// idFields are the arguments that name products, by tool.
var idFields = map[string]string{"recommend_product": "product_ids", "view_product_information": "product_ids", "check_product_match": "product_id"}

func (p *play) note(c dialect.Call, result python.Value) {
	if field, names := idFields[c.Name]; names {
		v, _ := c.Arguments.Get(field)
		ids := idList(v)
		for _, id := range ids {
			p.named[id] = true
		}
		if c.Name == "recommend_product" {
			p.result.Recommended = ids
		}
	}
	// A check repeats the id it was asked about only where the product exists.
	collect(result, p.returned)
}

// idList reads a comma list of ids; what is no string holds none. Halves of surrogate
// pairs, which Python's text may hold, are replaced: results are UTF-8.
func idList(v python.Value) []string {
	if v.Kind != python.Str {
		return []string{}
	}
	return python.IDs(strings.ToValidUTF8(v.Text, "\ufffd"))
}

// collect adds the product ids in a value, each in memory of its own: a found
// one is a part of the text of its whole product.
func collect(v python.Value, ids map[string]bool) {
	for _, e := range v.List {
		collect(e, ids)
	}
	for _, it := range v.Dict {
		if id := it.Value; it.Key == "product_id" && !ids[id.String()] {
			ids[strings.Clone(id.String())] = true
		}
		collect(it.Value, ids)
	}
}

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
	answers := slicesx.Map(s.answers, func(a callAnswer) shop.Answer { return a.Answer })
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
