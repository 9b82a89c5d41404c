package filters_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// writtenCall is a call that a model writes: its arguments are a text and, for some tools, a
// short second value.
type writtenCall struct {
	tool string
	keys []string
	args map[string]any
}

func (c *writtenCall) json() string {
	out, err := json.Marshal(c.args)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// pairs writes every argument with a format of its key and its value.
func (c *writtenCall) pairs(format, separator string, value func(any) string) string {
	var parts []string
	for _, key := range c.keys {
		parts = append(parts, fmt.Sprintf(format, key, value(c.args[key])))
	}
	return strings.Join(parts, separator)
}

func asWritten(v any) string { return fmt.Sprint(v) }

func asJSON(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func asXML(v any) string { return html.EscapeString(fmt.Sprint(v)) }

// callForms are the ways in which models write a call: in the text of a reply, or as its message or
// body.
var callForms = []struct {
	name string
	// text writes the call into the text of a message; body is the full reply.
	text func(c *writtenCall) string
	body func(c *writtenCall) any
}{
	{name: "OpenAI tool_calls", body: func(c *writtenCall) any {
		return chat(map[string]any{"content": nil, "tool_calls": []any{map[string]any{
			"id": "c1", "type": "function", "function": map[string]any{"name": c.tool, "arguments": c.json()},
		}}})
	}},
	{name: "OpenAI function_call", body: func(c *writtenCall) any {
		return chat(map[string]any{"content": nil, "function_call": map[string]any{"name": c.tool, "arguments": c.json()}})
	}},
	{name: "OpenAI responses", body: func(c *writtenCall) any {
		return map[string]any{"id": "r1", "object": "response", "output": []any{
			map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "Next."}}},
			map[string]any{"type": "function_call", "call_id": "c1", "name": c.tool, "arguments": c.json()},
		}}
	}},
	{name: "Anthropic messages", body: func(c *writtenCall) any {
		return map[string]any{"id": "m1", "type": "message", "role": "assistant", "content": []any{
			map[string]any{"type": "text", "text": "Next."},
			map[string]any{"type": "tool_use", "id": "t1", "name": c.tool, "input": c.args},
		}}
	}},
	{name: "Gemini", body: func(c *writtenCall) any {
		return map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{
			map[string]any{"text": "Next."},
			map[string]any{"functionCall": map[string]any{"name": c.tool, "args": c.args}},
		}}}}}
	}},
	{name: "Hermes", text: func(c *writtenCall) string {
		return `<tool_call>{"name":` + asJSON(c.tool) + `,"arguments":` + c.json() + `}</tool_call>`
	}},
	{name: "list in a tag", text: func(c *writtenCall) string {
		return `<tool_call>[{"name":` + asJSON(c.tool) + `,"parameters":` + c.json() + `}]</tool_call>`
	}},
	{name: "ReAct lines", text: func(c *writtenCall) string {
		return "Thought: next.\nAction: " + c.tool + "\nAction Input: " + c.json()
	}},
	{name: "fenced JSON", text: func(c *writtenCall) string {
		return "Next.\n```json\n{\"name\": " + asJSON(c.tool) + ", \"arguments\": " + c.json() + "}\n```"
	}},
	{name: "JSON alone", text: func(c *writtenCall) string {
		return `{"thought": "next", "tool": ` + asJSON(c.tool) + `, "args": ` + c.json() + `}`
	}},
	{name: "tool_name and parameters", text: func(c *writtenCall) string {
		return `{"reasoning": "next", "tool_name": ` + asJSON(c.tool) + `, "parameters": ` + c.json() + `}`
	}},
	{name: "command within JSON", text: func(c *writtenCall) string {
		return `{"thoughts": {"text": "next", "plan": "- go on"}, "command": {"name": ` + asJSON(c.tool) + `, "args": ` + c.json() + `}}`
	}},
	{name: "JSON in a string of JSON", text: func(c *writtenCall) string {
		return `{"next_action": ` + asJSON(`{"do": `+asJSON(c.tool)+`, "with": `+c.json()+`}`) + `}`
	}},
	{name: "Python call", text: func(c *writtenCall) string {
		return "Next.\n" + c.tool + "(" + c.pairs("%s=%s", ", ", asJSON) + ")"
	}},
	{name: "Python list of calls", text: func(c *writtenCall) string {
		return "[" + c.tool + "(" + c.pairs("%s=%s", ", ", asJSON) + ")]"
	}},
	{name: "Python with variables", text: func(c *writtenCall) string {
		return "```python\n" + c.pairs("%s = %s", "\n", asJSON) + "\nprint(" + c.tool + "(" + c.pairs("%[1]s=%[1]s%.0[2]s", ", ", asJSON) + "))\n```"
	}},
	{name: "Qwen3-Coder", text: func(c *writtenCall) string {
		return "<tool_call>\n<function=" + c.tool + ">\n" + c.pairs("<parameter=%s>\n%s\n</parameter>\n", "", asWritten) + "</function>\n</tool_call>"
	}},
	{name: "GLM", text: func(c *writtenCall) string {
		return "<tool_call>" + c.tool + "\n" + c.pairs("<arg_key>%s</arg_key>\n<arg_value>%s</arg_value>\n", "", asWritten) + "</tool_call>"
	}},
	{name: "invoke in XML", text: func(c *writtenCall) string {
		return "<function_calls><invoke name=\"" + c.tool + "\">" + c.pairs("<parameter name=\"%s\">%s</parameter>", "", asXML) + "</invoke></function_calls>"
	}},
	{name: "tool as a tag", text: func(c *writtenCall) string {
		return "<" + c.tool + ">" + c.pairs("<%[1]s>%[2]s</%[1]s>", "", asXML) + "</" + c.tool + ">"
	}},
	{name: "DSPy", text: func(c *writtenCall) string {
		return "[[ ## next_thought ## ]]\nNext.\n\n[[ ## next_tool_name ## ]]\n" + c.tool + "\n\n[[ ## next_tool_args ## ]]\n" + c.json() + "\n\n[[ ## completed ## ]]"
	}},
	{name: "next_tool_name lines", text: func(c *writtenCall) string {
		return "next_thought: next\nnext_tool_name: " + c.tool + "\nnext_tool_args: " + c.json()
	}},
	{name: "Kimi", text: func(c *writtenCall) string {
		return "<|tool_calls_section_begin|><|tool_call_begin|>functions." + c.tool + ":0<|tool_call_argument_begin|>" + c.json() + "<|tool_call_end|><|tool_calls_section_end|>"
	}},
	{name: "DeepSeek", text: func(c *writtenCall) string {
		return "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>" + c.tool + "\n```json\n" + c.json() + "\n```<｜tool▁call▁end｜>"
	}},
	{name: "harmony", text: func(c *writtenCall) string {
		return "<|channel|>commentary to=functions." + c.tool + " <|constrain|>json<|message|>" + c.json() + "<|call|>"
	}},
	{name: "Mistral", text: func(c *writtenCall) string {
		return `[TOOL_CALLS] [{"name": ` + asJSON(c.tool) + `, "arguments": ` + c.json() + `}]`
	}},
	{name: "Llama", text: func(c *writtenCall) string {
		return `<|python_tag|>{"name": ` + asJSON(c.tool) + `, "parameters": ` + c.json() + `}<|eom_id|>`
	}},
	{name: "YAML", text: func(c *writtenCall) string {
		return "tool: " + c.tool + "\narguments:\n  " + c.pairs("%s: %s", "\n  ", asJSON)
	}},
	{name: "Markdown labels", text: func(c *writtenCall) string {
		return "**Tool:** `" + c.tool + "`\n**Input:** " + c.json()
	}},
	{name: "labels in Chinese", text: func(c *writtenCall) string {
		return "思考：好\n行动：" + c.tool + "\n参数：" + c.json()
	}},
	{name: "command line", text: func(c *writtenCall) string {
		return "$ " + c.tool + " " + c.pairs("--%s %s", " ", asJSON)
	}},
	{name: "URL", text: func(c *writtenCall) string {
		query := c.pairs("%s=%s", "&", func(v any) string { return url.QueryEscape(fmt.Sprint(v)) })
		return "GET /" + c.tool + "?" + query
	}},
}

// chat returns a chat completion of one message.
func chat(message map[string]any) any {
	message["role"] = "assistant"
	return map[string]any{"id": "", "choices": []any{map[string]any{"index": 0, "message": message}}}
}

// argumentTexts are texts that are hard to recognise in a model's reply.
var argumentTexts = []struct{ name, text string }{
	{"1 word", "spatula"},
	{"33 words", words(33)},
	{"300 words", words(300)},
	{"line breaks", "first line\nsecond line\n\tthird line, indented\n"},
	{"quotes", `the "brand new" one, it's 'cheap'`},
	{"escapes", `C:\new\table 50% off & more <b>bold</b> \n`},
	{"not Latin", "红色 键盘 كيبورد أحمر красная клавиатура"},
}

func words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s%d", [...]string{"oak", "linen", "brass", "red"}[i%4], i)
	}
	return strings.Join(list, " ")
}

// callHarnesses are the tools of four harnesses, called with a text and with something short.
var callHarnesses = []struct {
	name  string
	calls func(text string) []writtenCall
}{
	{"shop", func(text string) []writtenCall {
		return []writtenCall{
			{"find_product", []string{"q"}, map[string]any{"q": text}},
			{"view_product_information", []string{"product_ids"}, map[string]any{"product_ids": "8689528976"}},
		}
	}},
	{"pack", func(text string) []writtenCall {
		return []writtenCall{
			{"search", []string{"query"}, map[string]any{"query": text}},
			{"add_to_cart", []string{"product_id", "quantity"}, map[string]any{"product_id": "8689528976", "quantity": 2}},
		}
	}},
	{"customer service", func(text string) []writtenCall {
		return []writtenCall{
			{"get_order", []string{"order_id"}, map[string]any{"order_id": "W2611340"}},
			{"update_address", []string{"order_id", "address"}, map[string]any{"order_id": "W2611340", "address": text}},
		}
	}},
	{"coding", func(text string) []writtenCall {
		return []writtenCall{
			{"write_file", []string{"path", "content"}, map[string]any{"path": "src/main.txt", "content": text}},
			{"run_tests", nil, map[string]any{}},
		}
	}},
}

// formTrace returns an attempt in which a model writes calls in one form and the client sends others,
// or the same if it obeys.
func formTrace(run string, form int, written, sentCalls []writtenCall) *arena.Trace {
	t := &arena.Trace{
		ID: run + "/p", RunID: run, ProblemID: "p", Agent: arena.Agent{VersionID: run},
		Source: arena.Source{HasProxyLog: true}, Status: arena.StatusSuccess, Query: "Do it.",
		HasDialogue: true, InferenceTotal: len(written),
	}
	now := int64(start)
	for i := range written {
		c := &written[i]
		f := &callForms[form]
		body := any(nil)
		if f.body != nil {
			body = f.body(c)
		} else {
			body = chat(map[string]any{"content": f.text(c)})
		}
		now += 1700 + int64(i)*13
		reply := arena.ProxyCall{
			Method: "POST", Path: "/inference/chat/completions", AtMS: now, DurationMS: 1500 + float64(i)*7, Status: 200,
			Body: `{"model":"m"}`, Response: arena.Raw(asJSON(body)), Length: -1,
		}
		now += 90
		c = &sentCalls[i]
		request := arena.ProxyCall{
			Method: "GET", Path: "/search/" + c.tool, AtMS: now, DurationMS: 60, Status: 200,
			Params: arena.Raw(c.json()), Response: `[{"product_id":"8689528976","title":"x","price":1}]`, Length: -1,
		}
		if q, ok := c.args["q"]; ok {
			params := maps.Clone(c.args)
			params["q"] = url.QueryEscape(fmt.Sprint(q))
			request.Params = arena.Raw(asJSON(params))
		}
		t.Steps = append(t.Steps, arena.Step{
			Number: i + 1, Timestamp: arena.Raw(fmt.Sprint(now)),
			Calls: []arena.ToolCall{{ID: fmt.Sprint(i), Name: c.tool, Arguments: arena.Raw(c.json()), Result: request.Response}},
			Proxy: []arena.ProxyCall{reply, request},
		})
	}
	return t
}

// TestEveryFormOfCall checks the table of docs/measured/filter.md: calls in the forms of models and
// clients, with arguments that are hard to recognise, in four harnesses. None is scripted.
func TestEveryFormOfCall(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %8s %9s %8s  %s\n", "form", "agentic", "scripted", "unknown", "not agentic")
	for form := range callForms {
		var day []labelled
		var cases []string
		for _, h := range callHarnesses {
			for _, argument := range argumentTexts {
				run := fmt.Sprintf("%s, %s", h.name, argument.name)
				cases = append(cases, run)
				calls := h.calls(argument.text)
				day = append(day, labelled{trace: formTrace(run, form, calls, calls), agentic: true})
			}
		}
		n := map[arena.Axis]int{}
		var others []string
		for i, j := range judgeDay(t, day) {
			n[j.after.Axis]++
			if j.after.Axis != arena.AxisAgentic {
				others = append(others, cases[i])
			}
		}
		if n[arena.AxisScripted] > 0 {
			t.Errorf("%s: %d attempts are scripted", callForms[form].name, n[arena.AxisScripted])
		}
		line := fmt.Sprintf("%-26s %8d %9d %8d  %s", callForms[form].name, n[arena.AxisAgentic], n[arena.AxisScripted], n[arena.AxisUnknown], strings.Join(others, "; "))
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	golden(t, "forms.txt", b.String())
}

// programs are clients that send calls of their own and ignore the model's reply. Each returns the
// calls that the model writes and those that are sent, for a pair of texts.
var programs = []struct {
	name  string
	calls func(harness func(text string) []writtenCall, modelText, ownText string) (written, sentCalls []writtenCall)
}{
	{"sends its own words", func(harness func(string) []writtenCall, modelText, ownText string) (written, sentCalls []writtenCall) {
		written = harness(modelText)
		return written, renumbered(harness(ownText))
	}},
	{"asks for a class", func(harness func(string) []writtenCall, _, ownText string) (written, sentCalls []writtenCall) {
		sentCalls = harness(ownText)
		for range sentCalls {
			written = append(written, writtenCall{"classify", []string{"label"}, map[string]any{"label": "B"}})
		}
		return written, sentCalls
	}},
	{"asks for words and sends other tools", func(harness func(string) []writtenCall, modelText, ownText string) (written, sentCalls []writtenCall) {
		written = harness(modelText)
		sentCalls = renumbered(harness(ownText))
		slices.Reverse(sentCalls)
		return written, sentCalls
	}},
}

// renumbered returns the calls with other ids than those that models write.
func renumbered(calls []writtenCall) []writtenCall {
	for i := range calls {
		for key, value := range calls[i].args {
			if text, ok := value.(string); ok {
				calls[i].args[key] = strings.NewReplacer("8689528976", "5510338124", "W2611340", "W7700129", "src/main", "lib/other").Replace(text)
			}
		}
	}
	return calls
}

// TestProgramsInEveryFormOfCall checks programs that send calls of their own, in every harness and
// for every form of the replies that they ignore. At most 5 % of a harness's attempts may be
// agentic.
func TestProgramsInEveryFormOfCall(t *testing.T) {
	t.Parallel()
	for _, h := range callHarnesses {
		var day []labelled
		var names []string
		for form := range callForms {
			for _, p := range programs {
				run := p.name + ", " + callForms[form].name
				for i, argument := range argumentTexts {
					modelArgument := argumentTexts[(i+1)%len(argumentTexts)]
					written, sentCalls := p.calls(h.calls, modelArgument.text, argument.text)
					day = append(day, labelled{trace: formTrace(run, form, written, sentCalls)})
					names = append(names, run+", "+argument.name)
				}
			}
		}
		var agentic []string
		n := map[arena.Axis]int{}
		for i, j := range judgeDay(t, day) {
			n[j.after.Axis]++
			if j.after.Axis == arena.AxisAgentic {
				agentic = append(agentic, names[i])
			}
		}
		t.Logf("%s: %d attempts, %v", h.name, len(day), n)
		if share := float64(len(agentic)) / float64(len(day)); share > 0.05 {
			t.Errorf("%s: %.3f of %d attempts are agentic: %s", h.name, share, len(day), strings.Join(agentic, "; "))
		}
	}
}
