package evidence

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
)

// Tool is the kind of a tool, such as one that searches or one that commits.
type Tool uint8

// The kinds of tools. ToolAsk is a tool that is not the harness's but is called through the proxy,
// as the log shows. ToolOther is a tool that the log does not show.
const (
	ToolOther Tool = iota
	ToolFind
	ToolView
	ToolMatch
	ToolFindWithin
	ToolTotal
	ToolAsk
	ToolCommit
	ToolTerminate
)

// IsCatalogue reports whether a call of this tool requests something from the tool server. Such a call
// must go through the proxy or a local tool.
func (t Tool) IsCatalogue() bool { return t >= ToolFind && t <= ToolAsk }

// TakesIDs reports whether the arguments of this tool are ids of items in results.
func (t Tool) TakesIDs() bool { return t == ToolView || t == ToolMatch || t == ToolCommit }

// Role is the kind of a tool in a harness, with the names of its arguments: Words for the words
// of a search, IDs for ids. Other arguments are classified by their value.
type Role struct {
	Tool  Tool
	Words []string
	IDs   []string
	// name is the hash of the tool's name, to distinguish tools of the kind ToolAsk.
	name uint64
}

// Tools maps the names of a harness's tools to their roles.
type Tools map[string]Role

// Roles maps the words for the kinds of tools in the configuration to the kinds.
var Roles = map[string]Tool{
	"search": ToolFind,
	"open":   ToolView,
	"match":  ToolMatch,
	"answer": ToolCommit,
	"end":    ToolTerminate,
	"ask":    ToolAsk,
}

// Declared is the name of the harness whose tools are the schemas that each trace declares.
const Declared = "declared"

// Harnesses returns the tools of each built-in harness by its name. Any other tool is ToolAsk if
// the log contains it. A harness with the name of a built-in domain has the tools of its file.
var Harnesses = sync.OnceValue(func() map[string]Tools {
	return map[string]Tools{
		domain.Shop:    domainTools(domain.Shop),
		domain.EnvPack: domainTools(domain.EnvPack),
		"webshop": {
			"search": {Tool: ToolFind, Words: []string{"keywords", "query"}},
			"click":  {Tool: ToolView, IDs: []string{"value", "item"}},
			"buy":    {Tool: ToolCommit, IDs: []string{"item"}},
		},
		Declared: {},
		// The customer names what to open, so that no search is needed.
		"tau-bench": {
			"search_direct_flight":     {Tool: ToolFind, Words: []string{"origin", "destination", "date"}},
			"search_onestop_flight":    {Tool: ToolFind, Words: []string{"origin", "destination", "date"}},
			"transfer_to_human_agents": {Tool: ToolTerminate},
		},
	}
})

// domainTools returns the tools of the built-in domain (kind of tasks with their tools) with
// this name. It panics if there is none.
func domainTools(name string) Tools {
	var builtin *domain.Set
	return ToolsOf(builtin.ByName(name).Tools)
}

// ToolsOf returns the roles of tools that a domain's file describes.
func ToolsOf(described map[string]domain.Tool) Tools {
	tools := Tools{}
	for name, t := range described {
		tools[name] = Role{
			Tool:  toolsOfRoles[t.Role],
			Words: t.Words,
			IDs:   t.IDs,
		}
	}
	return tools
}

// toolsOfRoles maps the name of a role that a domain's file gives a tool, such as search, to the
// kind of tool that the evidence distinguishes.
var toolsOfRoles = map[domain.Role]Tool{
	domain.RoleSearch: ToolFind,
	domain.RoleWithin: ToolFindWithin,
	domain.RoleOpen:   ToolView,
	domain.RoleMatch:  ToolMatch,
	domain.RoleTotal:  ToolTotal,
	domain.RoleAct:    ToolAsk,
	domain.RoleAsk:    ToolAsk,
	domain.RoleCommit: ToolCommit,
	domain.RoleEnd:    ToolTerminate,
}

// maxTools is the maximum number of tools of one attempt. Further tools that a trace declares are
// ignored.
const maxTools = 256

// AddDeclared returns tools, with the tools added that a trace declares as schemas in OpenAI's
// form. The parameters of a schema determine the kind: a tool that takes ids (id, ids, …_id,
// …_ids) opens things, one that takes other strings searches, and any other asks. No schema
// shows which tool gives the answer; the setting filter.tools does.
func AddDeclared(tools Tools, declared arena.Raw) Tools {
	result := maps.Clone(tools)
	for _, schema := range gjson.Parse(string(declared)).ForEach {
		if f := schema.Get("function"); f.IsObject() {
			schema = f
		}
		name := schema.Get("name").String()
		if _, ok := result[name]; ok || name == "" || len(result) >= maxTools {
			continue
		}
		result[name] = roleOfSchema(schema.Get("parameters.properties"))
	}
	return result
}

// roleOfSchema determines the role of a tool from its parameters, the properties of its JSON
// schema. A tool with a parameter for ids opens items (ToolView), one with other strings searches
// (ToolFind), and any other is ToolAsk.
func roleOfSchema(properties gjson.Result) Role {
	r := Role{Tool: ToolAsk}
	for key, value := range properties.ForEach {
		singular := strings.TrimSuffix(strings.ToLower(key.String()), "s")
		switch {
		case singular == "id" || strings.HasSuffix(singular, "_id"):
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

// HarnessTools returns the tools of the subnet's domain, which every harness may have, and of the
// named harness, with the extra tools added.
func HarnessTools(harness string, extra Tools) Tools {
	tools := maps.Clone(Harnesses()[domain.Shop])
	maps.Copy(tools, Harnesses()[harness])
	maps.Copy(tools, extra)
	return tools
}

// roleFor returns the role of the named tool: what it does (search, open items …) and which
// arguments matter. A tool that is not in the harness (the configured set of tools) is ToolAsk if
// the log contains it, else ToolOther.
func (s *scratch) roleFor(name string) Role {
	r, ok := s.harness[name]
	if !ok && slices.Contains(s.proxied, name) {
		r.Tool = ToolAsk
	}
	if r.Tool == ToolAsk {
		r.name = HashText(name)
	}
	return r
}

// CanCommit reports whether the agent had a tool that commits items: the trace declares
// one, or declares no tools and calls one of the harness's.
func (a *Attempt) CanCommit() bool {
	isDeclared := false
	for _, schema := range gjson.Parse(string(a.Trace.Tools)).ForEach {
		isDeclared = true
		name := schema.Get("function.name").String()
		if name == "" {
			name = schema.Get("name").String()
		}
		if a.scratch.roleFor(ToolName(name)).Tool == ToolCommit {
			return true
		}
	}
	isKnownCall := func(c Claim) bool { return c.Act.Tool != ToolOther && c.Act.Tool != ToolAsk }
	return !isDeclared && (len(a.Claims) == 0 || slices.ContainsFunc(a.Claims, isKnownCall))
}

// learnToolNames adds to s.proxied the names of tools called in the dialogue that the configured
// harness (set of tools) lacks but the proxy's log contains.
func (s *scratch) learnToolNames(t *arena.Trace, d *arena.Dialogue) {
	for i := range d.Turns {
		for j := range d.Turns[i].Calls {
			name := d.Turns[i].Calls[j].Name
			if _, ok := s.harness[name]; ok || slices.Contains(s.proxied, name) {
				continue
			}
			if logHasEndpoint(t, name) {
				s.proxied = append(s.proxied, name)
			}
		}
	}
}

// logHasEndpoint reports whether the URL path of a log entry ends in this name.
func logHasEndpoint(t *arena.Trace, name string) bool {
	hasName := func(c arena.ProxyCall) bool { return Endpoint(c.Path) == name }
	return slices.ContainsFunc(t.Steps, func(step arena.Step) bool {
		return slices.ContainsFunc(step.Proxy, hasName)
	})
}

// readArgument reads one argument of a call into a, for a tool whose role is taken from a domain's
// file or the tool's schema. r lists the names of the arguments with search words or ids. encoded
// reports whether the value is URL-encoded. It reads nothing and returns false for any other name.
func (r *Role) readArgument(
	a *Act,
	s *scratch,
	key string,
	v gjson.Result,
	encoded bool,
) bool {
	switch {
	case slices.Contains(r.Words, key):
		start := len(s.words) - len(a.Words) // the earlier words of this call are the last ones
		s.words = AppendWords(s.words, unquote(valueText(v), encoded))
		a.Words = s.words[start:len(s.words):len(s.words)]
		if len(r.Words) > 1 {
			slices.Sort(a.Words) // the order of keys does not matter
		}
	case slices.Contains(r.IDs, key):
		a.IDs = s.appendIDs(v, encoded)
	default:
		return false
	}
	return true
}

// ToolName returns the name of a tool without the namespaces that some clients prepend.
func ToolName(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "functions."), "tools.")
}
