package cold

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// spans are calls of models, one attempt a trace. Each call repeats what was said
// before it, so the longest of a trace is read.
var spans = Format{
	Name: "spans", Kept: "tools, model, error",
	Writers: "OpenTelemetry GenAI spans (OTLP/JSON), OpenInference (Phoenix exports), Langfuse's SDK and exports",
	is: func(top object) bool {
		first := top["session"].Get("0")
		return top["observations"].IsArray() || first.Get("resourceSpans").Exists() || isSpan(fields(first)) || isSpan(fields(top["data"].Get("0")))
	},
	read: func(r *reader, top object) {
		var order []string
		longest := map[string]*span{}
		r.eachSpan(top, func(s *span) {
			before := longest[s.trace]
			if before == nil {
				order = append(order, s.trace)
			} else if s.others = before.others || s.asked() != before.asked(); before.longer(s) {
				before.others, s = s.others, before
			}
			longest[s.trace] = s
		})
		for _, trace := range order {
			r.span(longest[trace])
		}
	},
}

// span is one call of a model, with the messages that it was given.
type span struct {
	trace, start  string
	raw           string
	top           object
	gen, llm      object
	input, output gjson.Result
	count         int
	// others reports whether a call of the trace belongs to another conversation.
	others bool
}

func (s *span) longer(than *span) bool {
	return s.count > than.count || s.count == than.count && s.start > than.start
}

// asked is the first message of a user, by which conversations are told apart.
func (s *span) asked() (text string) {
	listed(s.input, func(m gjson.Result) bool {
		if inner := m.Get("message"); inner.IsObject() {
			m = inner
		}
		text = m.Raw
		return roles[m.Get("role").Str] != User
	})
	return text
}

func isSpan(top object) bool {
	top = tree(top)
	observed := top["traceId"].Exists() && top["type"].Type == gjson.String && top["startTime"].Exists()
	return observed || len(top.within("attributes")) > 0 && spanTrace(top) != ""
}

func spanTrace(top object) string {
	top = tree(top)
	return cmp.Or(top.within("context").id("trace_id"), top.id("traceId", "trace_id"))
}

// eachSpan visits the calls of models of a document, wherever its exporter puts
// spans.
func (r *reader) eachSpan(top object, visit func(*span)) {
	one := func(v gjson.Result) {
		if s := newSpan(tree(fields(v))); s.count > 0 {
			s.raw = v.Raw
			visit(s)
		}
	}
	r.each(top.first("observations", "session", "data"), func(v gjson.Result) {
		if !v.Get("resourceSpans").Exists() {
			one(v)
			return
		}
		r.each(v.Get("resourceSpans"), func(v gjson.Result) {
			r.each(v.Get("scopeSpans"), func(v gjson.Result) { r.each(v.Get("spans"), one) })
		})
	})
}

// newSpan finds the messages under the names that the conventions have had for
// them: GenAI's, GenAI's before they were messages, OpenInference's, Langfuse's.
func newSpan(top object) *span {
	s := &span{trace: spanTrace(top), start: top.id("startTimeUnixNano", "start_time", "startTime"), top: top}
	attributes := tree(top.within("attributes"))
	if list := top["attributes"]; list.IsArray() {
		attributes = tree(otlpValues(list))
	}
	if seen := attributes.within("langfuse").within("observation"); len(seen) > 0 { // as its SDK notes what its server gives out
		top["input"], top["output"], top["model"] = seen["input"], seen["output"], seen.within("model")["name"]
	}
	s.gen, s.llm = attributes.within("gen_ai"), attributes.within("llm")
	in := top.within("input")
	s.input = object{
		"a": s.gen.within("input")["messages"], "b": s.gen["prompt"], "c": s.llm["input_messages"], "d": in["messages"], "e": Unpacked(top["input"]),
	}.first("a", "b", "c", "d", "e")
	s.output = object{
		"a": s.gen.within("output")["messages"], "b": s.gen["completion"], "c": s.llm["output_messages"], "d": Unpacked(top["output"]),
	}.first("a", "b", "c", "d")
	listed(s.input, func(m gjson.Result) bool {
		s.count++
		said := m.Get("role").Exists() || m.Get("message.role").Exists() || m.Get(`message\.role`).Exists()
		if !said {
			s.count = 0
		}
		return said
	})
	return s
}

// otlpValues are attributes as OTLP writes them: a list of keys and typed values.
func otlpValues(list gjson.Result) object {
	all := object{}
	for _, v := range list.ForEach {
		v.Get("value").ForEach(func(_, value gjson.Result) bool {
			all[v.Get("key").Str] = value
			return false
		})
	}
	return all
}

// deepestName is how many names within names a dotted one has at most.
const deepestName = 12

// tree puts what dotted names hold under names within names: a.0.b is b in 0 in a.
func tree(o object) object {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(o)), func(name string) bool { return strings.Contains(name, ".") }) {
		return o
	}
	root := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		at, steps := root, strings.SplitN(name, ".", deepestName)
		for _, step := range steps[:len(steps)-1] {
			next, is := at[step].(map[string]any)
			if !is {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
		at[steps[len(steps)-1]] = json.RawMessage(cmp.Or(o[name].Raw, "null"))
	}
	b, err := json.Marshal(root)
	if err != nil {
		return o
	}
	return fields(gjson.ParseBytes(b))
}

func (r *reader) span(s *span) {
	a := r.begin(s.raw)
	a.Session, a.Model = s.trace, cmp.Or(s.gen.within("request").id("model"), s.llm.id("model_name"), s.top.id("model"))
	r.lose(lostBranches, s.others)
	if text := r.content(Unpacked(s.gen["system_instructions"])).step.Content; text != "" {
		r.tell(System, text)
	}
	r.spanMessages(s.input)
	r.spanMessages(s.output)
	a.Tools = cmp.Or(Tools(s.gen.within("tool")["definitions"]), r.schemas(s.llm["tools"]), Tools(s.top.within("input")["tools"]))
	status := s.top.within("status")
	if why := cmp.Or(s.top.id("status_message", "statusMessage"), status.id("message", "description")); why != "" {
		r.fails(&arena.AttemptError{Message: why})
	}
}

// spanMessages reads messages that may each be wrapped in an object of their own;
// a text alone is the model's.
func (r *reader) spanMessages(list gjson.Result) {
	if m := fields(Unpacked(list)); m["role"].Exists() {
		r.message(m)
		return
	}
	if text := r.text(list); text != "" && !Unpacked(list).IsArray() {
		r.tell(Agent, text)
		return
	}
	r.each(list, func(v gjson.Result) {
		m := tree(fields(v))
		if inner := tree(m.within("message")); len(inner) > 0 {
			m = inner
		}
		r.message(m)
	})
}

// schemas are the tools of OpenInference: each JSON in a string.
func (r *reader) schemas(list gjson.Result) arena.Raw {
	var all []string
	listed(list, func(v gjson.Result) bool {
		if def := Unpacked(tree(fields(v)).within("tool")["json_schema"]); def.IsObject() {
			all = append(all, def.Raw)
		}
		return true
	})
	if all == nil {
		return ""
	}
	return arena.Raw("[" + strings.Join(all, ",") + "]")
}
