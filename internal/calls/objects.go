package calls

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/lenient"
	"github.com/trajectory-arena/arena/internal/text"
)

// callBlock reads the body of a call tag: a list of calls, several lists, or one object. It
// cuts out a think block in the middle first.
func (r *Reader) callBlock(body string, closed bool) {
	if r.skipCalls {
		return
	}
	body = r.withoutThink(body)
	remaining := strings.TrimSpace(body)
	for n := 0; remaining != ""; n++ {
		json, after, m, ok := cutValue(remaining)
		if !ok || (m&lenient.Closers != 0 && !closed) {
			r.fault(FaultCall)
			return
		}
		r.addRepairs(m)
		if n == 1 {
			r.repair(RepairLists)
		}
		if json[0] == '{' {
			r.repair(RepairHermes)
		}
		r.callsOf(json)
		remaining = strings.TrimLeft(after, ", \t\r\n")
	}
}

func (r *Reader) withoutThink(body string) string {
	if !containsTag(body, thinking) {
		return body
	}
	r.repair(RepairSplit)
	var out strings.Builder
	for body != "" {
		before, tag, k, after := nextTag(body)
		out.WriteString(before)
		if k != thinking {
			out.WriteString(body[len(before) : len(body)-len(after)])
			body = after
			continue
		}
		inner, remaining, _ := cutClose(after, tag, thinking)
		r.Think = text.Join(r.Think, "\n", strings.TrimSpace(inner))
		body = remaining
	}
	return out.String()
}

func (r *Reader) callsOf(json string) {
	switch v := gjson.Parse(json); {
	case v.IsObject():
		r.call(v)
	case v.IsArray():
		for _, item := range v.ForEach {
			r.call(item)
		}
	default:
		r.fault(FaultCall)
	}
}

// call adds one call written as an object: a name next to its arguments, under any of the
// keys that harnesses ask models for, or both inside of "function".
func (r *Reader) call(v gjson.Result) {
	if inner := v.Get("function"); inner.IsObject() {
		r.repair(RepairFunctionNested)
		r.append(v.Get("id").String(), inner)
		return
	}
	id := v.Get("tool_call_id")
	if !id.Exists() {
		id = v.Get("id")
	}
	r.append(id.String(), v)
}

func (r *Reader) append(id string, v gjson.Result) {
	name := toolName(v)
	if name == "" {
		r.fault(FaultName)
		return
	}
	args, word := Arguments(argumentsOf(v))
	if args == "" {
		r.fault(FaultArguments)
		return
	}
	if word != "" {
		r.repair(word)
	}
	r.Calls = append(r.Calls, arena.Call{
		ID:        id,
		Name:      name,
		Arguments: args,
	})
}

// toolName returns the name of the tool in a call, or "". Hermes and OpenAI write "name";
// the other keys are those of harnesses that ask for JSON.
func toolName(v gjson.Result) string {
	for _, key := range [...]string{"name", "tool", "tool_name", "action", "function"} {
		if name := v.Get(key); name.Type == gjson.String {
			return name.Str
		}
	}
	return ""
}

func argumentsOf(v gjson.Result) arena.Raw {
	for _, key := range [...]string{"parameters", "arguments", "args", "input", "tool_input", "action_input", "params", "kwargs"} {
		if a := v.Get(key); a.Exists() {
			return arena.Raw(a.Raw)
		}
	}
	return inlineArguments(v)
}

// inlineArguments collects the arguments of a call that writes them next to its name, as
// {"tool": "find", "q": "lamp"} does. It returns "" if there are none. The key "name" alone
// makes no call, since people and products have names too.
func inlineArguments(v gjson.Result) arena.Raw {
	var args []byte
	named := false
	for key, value := range v.ForEach {
		switch key.Str {
		case "tool", "tool_name", "action":
			named = true
		case "name", "function", "id", "tool_call_id", "type", "thought", "think", "thinking", "reasoning":
		default:
			if args = append(args, ','); len(args) == 1 {
				args[0] = '{'
			}
			args = append(args, key.Raw...)
			args = append(append(args, ':'), value.Raw...)
		}
	}
	if !named || args == nil {
		return ""
	}
	return arena.Raw(append(args, '}'))
}

// Arguments returns the arguments of a call as a JSON object: an object as it is, {} for
// absent or null, and the JSON that a string holds, which it reports in repair. It returns
// "" for anything else.
func Arguments(raw arena.Raw) (args arena.Raw, repair string) {
	switch raw.Kind() {
	case arena.Absent, arena.Null:
		return "{}", ""
	case arena.Object:
		return raw, ""
	case arena.String:
		if args = ArgumentsIn(gjson.Parse(string(raw)).Str); args != "" {
			return args, RepairArgumentsText
		}
	case arena.Bool, arena.Number, arena.Array:
	}
	return "", ""
}

// ArgumentsIn returns the JSON object in a text, {} for an empty text, and "" if the text is
// no object.
func ArgumentsIn(text string) arena.Raw {
	text = strings.TrimSpace(text)
	if text == "" {
		return "{}"
	}
	json, remaining, _, ok := cutValue(text)
	if !ok || strings.TrimSpace(remaining) != "" || json[0] != '{' {
		return ""
	}
	return arena.Raw(json)
}

// resultBlock reads quoted tool results: a list of {tool_call_id, results}, a
// single such object, or any other text as one result.
func (r *Reader) resultBlock(body string) {
	body = strings.TrimSpace(body)
	if body == "" || r.skipCalls {
		return
	}
	json, remaining, _, ok := cutValue(body)
	if !ok || strings.TrimSpace(remaining) != "" {
		r.Results = append(r.Results, Result{Content: arena.Raw(gjson.AppendJSONString(nil, body))})
		return
	}
	v := gjson.Parse(json)
	if v.IsArray() && v.Get("0.tool_call_id").Exists() {
		for _, item := range v.ForEach {
			r.result(item)
		}
		return
	}
	r.result(v)
}

func (r *Reader) result(v gjson.Result) {
	id := v.Get("tool_call_id").String()
	for _, key := range [...]string{"results", "result", "content"} {
		if c := v.Get(key); c.Exists() && id != "" {
			r.Results = append(r.Results, Result{
				ID:      id,
				Content: arena.Raw(c.Raw),
			})
			return
		}
	}
	r.Results = append(r.Results, Result{
		ID:      id,
		Content: arena.Raw(v.Raw),
	})
}
