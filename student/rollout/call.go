package rollout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

type callAnswer struct {
	call dialect.Call
	shop.Answer
	malformed  bool
	terminates bool
}

func (p *play) run(calls []dialect.Call) []callAnswer {
	answers := make([]callAnswer, 0, len(calls))
	for _, c := range calls {
		answers = append(answers, p.call(c))
	}
	return answers
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

func (p *play) note(c dialect.Call, result python.Value) {
	switch c.Name {
	case "recommend_product":
		v, _ := c.Arguments.Get("product_ids")
		p.result.Recommended = idList(v)
		p.name(p.result.Recommended)
	case "view_product_information":
		v, _ := c.Arguments.Get("product_ids")
		p.name(idList(v))
	case "check_product_match":
		v, _ := c.Arguments.Get("product_id")
		p.name(idList(v))
	}
	// A check repeats the id it was asked about only where the product exists.
	collect(result, p.returned)
}

func (p *play) name(ids []string) {
	for _, id := range ids {
		p.named[id] = true
	}
}

// idList reads a comma list of ids by the scoring rule: stripped, without
// empties and repeats; what is no string holds none. Halves of surrogate pairs,
// which Python's text may hold, are replaced: results are UTF-8.
func idList(v python.Value) []string {
	ids := []string{}
	if v.Kind != python.Str {
		return ids
	}
	seen := map[string]bool{"": true}
	for part := range strings.SplitSeq(strings.ToValidUTF8(v.Text, "\ufffd"), ",") {
		if id := python.Strip(part); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
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
