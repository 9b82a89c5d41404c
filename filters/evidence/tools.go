package evidence

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Tool is what a tool does, as the filter tells them apart.
type Tool uint8

// The tools of the shop. ToolAsk is any other that the log shows to have been asked
// through the proxy, ToolOther one that it does not.
const (
	ToolOther Tool = iota
	ToolFind
	ToolView
	ToolMatch
	ToolShop
	ToolVoucher
	ToolAsk
	ToolRecommend
	ToolTerminate
)

// IsCatalogue reports whether a call of this tool asks the shop for something, so that
// an agent who makes it must have gone through the proxy or a local tool.
func (t Tool) IsCatalogue() bool { return t >= ToolFind && t <= ToolAsk }

// TakesProducts reports whether a call of this tool takes products out of results.
func (t Tool) TakesProducts() bool { return t == ToolView || t == ToolMatch || t == ToolRecommend }

// Role is what a tool of a harness does, and which of its arguments hold the words of
// a search and the ids of things. Without names of arguments they are told by value.
type Role struct {
	Tool       Tool
	Words, IDs []string
	// name tells tools apart that only ask for something.
	name uint64
}

// Tools are the tools of a harness by their names.
type Tools map[string]Role

// Roles are the words by which a configuration says what a tool does.
var Roles = map[string]Tool{"search": ToolFind, "open": ToolView, "match": ToolMatch, "answer": ToolRecommend, "end": ToolTerminate, "ask": ToolAsk}

// shop are the tools of the subnet's shop, which every harness may have; a harness of
// four has the first and the last two and calculate_voucher.
var shop = Tools{
	"find_product": {Tool: ToolFind}, "view_product_information": {Tool: ToolView}, "check_product_match": {Tool: ToolMatch},
	"find_products_in_same_shop": {Tool: ToolShop}, "calculate_voucher": {Tool: ToolVoucher},
	"recommend_product": {Tool: ToolRecommend}, "terminate": {Tool: ToolTerminate},
}

// Harnesses are the ready maps. Tools that a map does not name are ToolAsk where the
// log shows them.
var Harnesses = map[string]Tools{
	"shop": shop,
	"envpack": {
		"search": {Tool: ToolFind, Words: []string{"query"}}, "view": {Tool: ToolView, IDs: []string{"product_id"}},
		"inspect_stock": {Tool: ToolMatch, IDs: []string{"product_id"}}, "add_to_cart": {Tool: ToolRecommend, IDs: []string{"product_id"}},
		"place_order": {Tool: ToolTerminate}, "decline": {Tool: ToolTerminate},
	},
	"webshop": {
		"search": {Tool: ToolFind, Words: []string{"keywords", "query"}}, "click": {Tool: ToolView, IDs: []string{"value", "item"}},
		"buy": {Tool: ToolRecommend, IDs: []string{"item"}},
	},
	// Declared stands for the tools that each trace declares.
	Declared: {},
	// What is opened is named by the customer, not found.
	"tau-bench": {
		"search_direct_flight": {Tool: ToolFind, Words: []string{"origin", "destination", "date"}}, "search_onestop_flight": {Tool: ToolFind, Words: []string{"origin", "destination", "date"}},
		"transfer_to_human_agents": {Tool: ToolTerminate},
	},
}

// Declared names the harness that is made of the schemas that a trace declares.
const Declared = "declared"

// AddDeclared is tools with those that a trace declares in OpenAI's form and that are
// not among them. The schemas say what a tool does: one that takes ids (arguments id,
// ids, …_id, …_ids) opens things, one that takes other strings searches by them, and
// any other asks. Which tool gives the answer no schema says: that takes filter.tools.
func AddDeclared(tools Tools, declared arena.Raw) Tools {
	all := maps.Clone(tools)
	for _, tool := range gjson.Parse(string(declared)).ForEach {
		if f := tool.Get("function"); f.IsObject() {
			tool = f
		}
		if name := tool.Get("name").String(); name != "" {
			if _, known := all[name]; !known && len(all) < maxTools {
				all[name] = roleOf(tool.Get("parameters.properties"))
			}
		}
	}
	return all
}

const maxTools = 256

func roleOf(properties gjson.Result) Role {
	r := Role{Tool: ToolAsk}
	for key, value := range properties.ForEach {
		switch k := strings.TrimSuffix(strings.ToLower(key.String()), "s"); {
		case k == "id" || strings.HasSuffix(k, "_id"):
			r.IDs = append(r.IDs, key.String())
		case value.Get("type").String() == "string":
			r.Words = append(r.Words, key.String())
		}
	}
	switch {
	case len(r.IDs) > 0:
		r.Tool = ToolView
	case len(r.Words) > 0:
		r.Tool = ToolFind
	}
	return r
}

// HarnessTools is the harness of that name with further tools.
func HarnessTools(harness string, more Tools) Tools {
	all := maps.Clone(shop)
	maps.Copy(all, Harnesses[harness])
	maps.Copy(all, more)
	return all
}

func (p *Pad) role(name string) Role {
	r, known := p.harness[name]
	if !known && slices.Contains(p.asked, name) {
		r.Tool = ToolAsk
	}
	if r.Tool == ToolAsk {
		r.name = HashText(name)
	}
	return r
}

// hearTools notes which tools of the dialogue, that are no shop's, the log shows to
// have been asked through the proxy.
func (p *Pad) hearTools(t *arena.Trace, d *arena.Dialogue) {
	for i := range d.Turns {
		for j := range d.Turns[i].Calls {
			name := d.Turns[i].Calls[j].Name
			if _, known := p.harness[name]; !known && !slices.Contains(p.asked, name) && logged(t, name) {
				p.asked = append(p.asked, name)
			}
		}
	}
}

// logged reports whether an entry of the log goes to an endpoint of that name.
func logged(t *arena.Trace, name string) bool {
	named := func(c arena.ProxyCall) bool { return Endpoint(c.Path) == name }
	return slices.ContainsFunc(t.Steps, func(s arena.Step) bool { return slices.ContainsFunc(s.Proxy, named) })
}

// argument takes in the words or ids that the role finds under a key, and reports
// whether there were any.
func (r *Role) argument(a *Act, p *Pad, key string, v gjson.Result, encoded bool) bool {
	switch {
	case slices.Contains(r.Words, key):
		from := len(p.words) - len(a.Words) // what was read of this call stands last
		p.words = AppendWords(p.words, plain(text(v), encoded))
		a.Words = p.words[from:len(p.words):len(p.words)]
		if len(r.Words) > 1 {
			slices.Sort(a.Words) // the order of keys does not count
		}
	case slices.Contains(r.IDs, key):
		from := len(p.ids)
		p.ids = appendIDs(p.ids, v, encoded)
		a.IDs = p.ids[from:len(p.ids):len(p.ids)]
	default:
		return false
	}
	return true
}

// ToolName strips the name spaces that some clients put before a tool's name.
func ToolName(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "functions."), "tools.")
}
