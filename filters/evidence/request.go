package evidence

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// request is a logged tool request in the form in which the texts of replies are searched for it:
// the names of its tool in lower case, and the keys and values of its arguments.
type request struct {
	names  []string
	keys   []uint64
	values []value
}

// requestOf returns the words by which replies are searched for the logged request d: the names of
// its tool, and the keys and values of its arguments. The tool has the name in the URL and, if it
// differs, the one that the dialogue's call uses.
func (a *Attempt) requestOf(d *Dispatch) *request {
	r := &request{names: []string{strings.ToLower(Endpoint(d.Call.Path))}}
	if d.Claimed >= 0 {
		name := strings.ToLower(ToolName(a.Claims[d.Claimed].Call.Name))
		r.names = slicesx.AppendUnique(r.names, name)
	}
	for _, raw := range [...]arena.Raw{d.Call.Params, d.Call.Body} {
		r.addArguments(gjson.Parse(string(raw)), true, 0)
	}
	return r
}

// value is one argument value of a tool request, as the hashes of its words.
type value struct {
	words []uint64
	// distinct reports whether a text that is not about the call is unlikely to contain the
	// value. The value then has at least two words or at least minDistinct characters.
	distinct bool
}

// minDistinct is the minimum number of characters of an argument value of one word that is
// distinct: if a model's reply contains it, the reply is probably about the call. Most counts, page
// numbers and units are shorter, and so is "true".
const minDistinct = 5

// maxValues is the maximum number of argument values of one logged tool request that are searched
// for in the model's replies.
const maxValues = 64

// addArguments adds the keys and values of v, the JSON arguments of a tool request, to r, also
// those nested in objects and lists. encoded reports whether strings are URL-encoded, as they are
// in the proxy's log. depth is how deep v is nested; nothing deeper than calls.MaxDepth is read.
func (r *request) addArguments(v gjson.Result, encoded bool, depth int) {
	if depth > calls.MaxDepth || v.Type == gjson.Null {
		return
	}
	if v.Type == gjson.JSON {
		v.ForEach(func(key, item gjson.Result) bool {
			if key.Type == gjson.String {
				r.keys = append(r.keys, HashText(strings.ToLower(key.Str)))
			}
			r.addArguments(item, encoded, depth+1)
			return len(r.values) < maxValues
		})
		return
	}

	text := unquote(valueText(v), encoded && v.Type == gjson.String)
	ids := calls.AppendIDs(nil, gjson.Result{Type: gjson.String, Str: text}, maxIDs)
	if len(ids) < 2 || slices.ContainsFunc(ids, isNotID) {
		ids = []string{text}
	}
	for _, text := range ids {
		if one := newValue(text); len(one.words) > 0 {
			r.values = append(r.values, one)
		}
	}
}

func newValue(text string) value {
	v := value{words: AppendWords(nil, text)}
	isBool := text == "true" || text == "false"
	v.distinct = len(v.words) > 1 || len(v.words) == 1 && utf8.RuneCountInString(text) >= minDistinct && !isBool
	return v
}

// toolNames returns the sorted lower-case names of the tools of the attempt, at most maxTools:
// those requested in the log, those that the trace calls or declares, and those of the harness (the
// configured set of tools).
func (a *Attempt) toolNames() []string {
	if a.tools != nil {
		return a.tools
	}
	add := func(name string) {
		if name != "" && len(a.tools) < maxTools {
			a.tools = slicesx.AppendUnique(a.tools, strings.ToLower(ToolName(name)))
		}
	}
	for i := range a.Log.Dispatches {
		add(Endpoint(a.Log.Dispatches[i].Call.Path))
	}
	for i := range a.Claims {
		add(a.Claims[i].Call.Name)
	}
	for _, schema := range gjson.Parse(string(a.Trace.Tools)).ForEach {
		add(schema.Get("name").String())
		add(schema.Get("function.name").String())
	}
	for name := range a.scratch.harness {
		add(name)
	}
	slices.Sort(a.tools)
	return a.tools
}

func (r *request) isKeyOrName(word string) bool {
	return slices.Contains(r.keys, HashText(strings.ToLower(word))) || slices.ContainsFunc(r.names, func(name string) bool {
		return strings.EqualFold(name, word)
	})
}
