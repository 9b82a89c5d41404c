package calls

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/lenient"
	"github.com/trajectory-arena/arena/internal/text"
)

// callBlock reads the content of a call tag: one or several JSON objects, or lists of objects,
// where each object is a call. Thinking tags in the content are moved to the thinking first. closed
// reports whether the tag was closed. If it was not, the message was cut off, and a value that
// lacks closing brackets is recorded as a fault and not repaired.
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

// call adds one call, which is written as a JSON object. The tool's name and the arguments are in
// the object or in an object under its key "function", under any of the keys that agent programs
// use for them. If either is missing or cannot be read, call records a fault (a reason why the
// message is invalid) instead.
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
	args, repairs := Arguments(argumentsOf(v))
	if args == "" {
		r.fault(FaultArguments)
		return
	}
	for _, word := range repairs {
		r.repair(word)
	}
	r.Calls = append(r.Calls, arena.Call{
		ID:        id,
		Name:      name,
		Arguments: args,
	})
}

// toolName returns the name of the tool in a call, "" if there is none. Hermes and OpenAI use
// the key "name", harnesses that ask for JSON the other keys.
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

// inlineArguments returns, as a JSON object, the arguments of a call in which they are next to
// the tool's name, as in {"tool": "find", "q": "lamp"}. It returns "" if there are none, or if
// the object has none of the keys "tool", "tool_name" and "action". An object with only the key
// "name" may describe a person or a thing.
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

// Arguments returns the arguments of a call as a JSON object. An object is returned unchanged.
// An absent value or null becomes {}. A JSON string that contains an object becomes that object,
// with the repair RepairArgumentsText and those that the object needed; an object that breaks off is
// none. It returns "" for anything else.
func Arguments(raw arena.Raw) (args arena.Raw, repairs []string) {
	switch raw.Kind() {
	case arena.Absent, arena.Null:
		return "{}", nil
	case arena.Object:
		return raw, nil
	case arena.String:
		args, mends := argumentsIn(gjson.Parse(string(raw)).Str)
		if args != "" && mends&lenient.Closers == 0 {
			return args, append(mendWordsOf(mends), RepairArgumentsText)
		}
	case arena.Bool, arena.Number, arena.Array:
	}
	return "", nil
}

// ArgumentsIn returns the JSON object of which text consists, and {} for an empty text. An object
// that breaks off is closed. It returns "" for any other text.
func ArgumentsIn(text string) arena.Raw {
	args, _ := argumentsIn(text)
	return args
}

func argumentsIn(text string) (arena.Raw, lenient.Repairs) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "{}", 0
	}
	json, remaining, mends, ok := cutValue(text)
	if !ok || strings.TrimSpace(remaining) != "" || json[0] != '{' {
		return "", 0
	}
	return arena.Raw(json), mends
}

// resultBlock adds the tool results that a message quotes. They may be a list of objects with
// tool_call_id and result, a single such object, or any other text, which is one result.
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
