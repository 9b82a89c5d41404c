package dialect

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model"
)

func TestUnparsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"<tool_call>\n<function=find_product>\n<parameter=q>\nlamp\n</parameter>\n</function>\n</tool_call>", "qwen3_coder"},
		{"<tool_call>find_product\n<arg_key>q</arg_key>\n<arg_value>lamp</arg_value>\n</tool_call>", "glm45"},
		{`<|channel|>commentary to=functions.find_product <|constrain|>json<|message|>{"q":"lamp"}<|call|>`, "harmony"},
		{"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find_product\n```json\n{\"q\":\"lamp\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "deepseek_v3"},
		{`<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find_product<｜tool▁sep｜>{"q":"lamp"}<｜tool▁call▁end｜>`, "deepseek_v31"},
		{`<｜DSML｜function_calls><｜DSML｜invoke name="find_product"><｜DSML｜parameter name="q" string="true">lamp</｜DSML｜parameter></｜DSML｜invoke>`, "deepseek_dsml"},
		{`[TOOL_CALLS][{"name":"find_product","arguments":{"q":"lamp"}}]`, "mistral"},
		{`[TOOL_CALLS]find_product[ARGS]{"q":"lamp"}`, "mistral"},
		{`<|python_tag|>{"name":"find_product","parameters":{"q":"lamp"}}`, "llama3_json"},
		{`<|python_tag|>find_product.call(q="lamp")`, "llama3_json"},
		{`<function=find_product>{"q":"lamp"}</function>`, "llama_function_tag"},
		{"<|tool_calls_section_begin|><|tool_call_begin|>functions.find_product:0<|tool_call_argument_begin|>{\"q\":\"lamp\"}<|tool_call_end|>", "kimi_k2"},
		{`<minimax:tool_call><invoke name="find_product"><parameter name="q">lamp</parameter></invoke></minimax:tool_call>`, "minimax_m2"},
		{`<seed:tool_call><function=find_product><parameter=q>lamp</parameter></function></seed:tool_call>`, "seed_oss"},
		{`<longcat_tool_call>{"name":"find_product","arguments":{"q":"lamp"}}</longcat_tool_call>`, "longcat"},
		{`<steptml:invoke name="find_product"><steptml:parameter name="q">lamp</steptml:parameter></steptml:invoke>`, "step3"},
		{`<|tool_call|>[{"name":"find_product","arguments":{"q":"lamp"}}]`, "granite"},
		{`<|tool_call_start|>[find_product(q="lamp")]<|tool_call_end|>`, "lfm2"},
		{`<|action_start|><|plugin|>{"name":"find_product","parameters":{"q":"lamp"}}<|action_end|>`, "internlm"},
		{`functools[{"name":"find_product","arguments":{"q":"lamp"}}]`, "phi4_mini"},
		{`<start_function_call>call:find_product{q:<escape>lamp<escape>}<end_function_call>`, "functiongemma"},
		{`<|tool_call>call:find_product{q:<|"|>lamp<|"|>}<tool_call|>`, "gemma4"},
		{`<|START_ACTION|>[{"tool_call_id":"0","tool_name":"find_product","parameters":{"q":"lamp"}}]<|END_ACTION|>`, "cohere"},
		{`function call<|role_sep|>{"name":"find_product","arguments":{"q":"lamp"}}`, "gigachat"},
		{`<|tools_prefix|>[{"find_product":{"q":"lamp"}}]<|tools_suffix|>`, "apertus"},
		{`<tool_calls>[{"name":"find_product","arguments":{"q":"lamp"}}]</tool_calls>`, "hunyuan"},
		{`<function_calls><invoke name="find_product"><parameter name="q">lamp</parameter></invoke></function_calls>`, "invoke_tags"},
		{"```tool_code\nfind_product(q='lamp')\n```", "tool_code"},
		{`[find_product(q="lamp"), terminate(status="success")]`, "pythonic"},
		{`I look. find_product(q="lamp")`, "python"},
		{`terminate()`, "python"},
		{"<find_product>\n<q>lamp</q>\n</find_product>", "tags"},
		{"Thought: hm\nAction: find_product\nAction Input: {\"q\": \"lamp\"}", "react"},
		{"I look.\n```json\n{\"name\":\"find_product\",\"arguments\":{\"q\":\"lamp\"}}\n```", "fenced_json"},
		{`{"name":"find_product","parameters":{"q":"lamp"}}`, "json_parameters"},
		{`{"name":"find_product","arguments":{"q":"lamp"}}`, "json"},
		{`find_product {q: lamp}`, "other"},
		{"<tool_call>\n{\"name\":\"find_product\",\"arguments\":{\"q\":\"lamp\"}}\n", "hermes"}, // cut by the server
		{`<toolcall>{"name":"find_product","arguments":{"q":"lamp"}}</toolcall>`, "json_in_tags"},

		{`<tool_call>{"name":"find_product","arguments":{"q":"lamp",}}</tool_call>`, ""}, // the model's own fault
		{`<tool_call>{"name":"find_product","arguments":{"q":"la`, ""},
		{`{"name": "find_product", "arguments": {'q': lamp`, ""},
		{"I would call find_product with the words brass lamp, then recommend_product.", ""},
		{"The tool `find_product` takes q; next I use \"terminate\".", ""},
		{"Here is the product: <b>Lamp 17</b> (id 701), {price: 40}.", ""},
		{"", ""},
	} {
		if got := Unparsed(model.Reply{Content: c.text}, Read(model.Reply{Content: c.text}, Auto)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	cut := model.Reply{Content: `find_product(q="lamp")`, Finish: "length"}
	if got := Unparsed(cut, Read(cut, Auto)); got != "" {
		t.Errorf("a cut reply: %q", got)
	}
	thought := model.Reply{Reasoning: "<tool_call>{\"name\":\"find_product\",\"arguments\":{\"q\":\"lamp\"}}</tool_call>"}
	if got := Unparsed(thought, Read(thought, Auto)); got != "hermes in the reasoning" {
		t.Errorf("a call in the reasoning: %q", got)
	}
	hermes := model.Reply{Content: `<tool_call>{"name":"find_product","arguments":{"q":"lamp"}}</tool_call>`}
	if got := Unparsed(hermes, Read(hermes, Auto)); got != "" {
		t.Errorf("a call that was read: %q", got)
	}
	if got := Unparsed(hermes, Read(hermes, Native)); got != "hermes" {
		t.Errorf("tags where only native calls are read: %q", got)
	}
}

func TestMisreadNativeCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, arguments, want string }{
		{"find_product", `{"q":"lamp"}`, ""},
		{"find_product", `"{\"q\":\"lamp\"}"`, twiceEncoded},
		{"find_product", `{"q":"lamp"}}`, textAfter},
		{"find_product", `{"q":"lamp"}</tool_call>`, textAfter},
		{"find_product", `{"q":"lamp"`, ""},
		{"find_product", `["lamp"]`, ""},
		{"functions.find_product", `{"q":"lamp"}`, decoratedName},
		{" find_product\n", `{"q":"lamp"}`, decoratedName},
		{"search", `{"q":"lamp"}`, ""},
	} {
		r := model.Reply{Calls: []model.Call{{ID: "1", Function: model.Function{Name: c.name, Arguments: c.arguments}}}}
		if got := Unparsed(r, Read(r, Auto)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.arguments, got, c.want)
		}
	}
}

// TestUnparsedInProse counts the texts of agents outside of calls that are taken for a call: at most
// 1 % in the shared day, or in the day of the repository without it.
func TestUnparsedInProse(t *testing.T) {
	t.Parallel()
	day := "../../testdata/day"
	if longtest.SharedFolder() != "" {
		day = longtest.Shared(t, "data/day")
	}
	files, _ := filepath.Glob(filepath.Join(day, "traces", "*", "*.jsonl.gz"))
	texts := 0
	calls := 0
	for _, path := range files {
		for _, text := range spokenTexts(t, path) {
			texts++
			if name := formOf(text); name != "" {
				calls++
				t.Logf("%s: %.300q", name, text)
			}
		}
	}
	t.Logf("%d of %d texts are taken for a call", calls, texts)
	if texts == 0 || calls*100 > texts {
		t.Errorf("%d of %d", calls, texts)
	}
}

// spokenTexts returns the thoughts of a file's agents and their texts to the customer.
func spokenTexts(t *testing.T, path string) (texts []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(unpacked)
	for {
		line, err := lines.ReadBytes('\n')
		if json.Valid(line) {
			for _, field := range []string{"response", "think"} {
				gjson.GetBytes(line, "dialogue.#.completion.message."+field).ForEach(func(_, v gjson.Result) bool {
					texts = append(texts, v.String())
					return true
				})
			}
		}
		if err != nil {
			return texts
		}
	}
}

// TestTheObjectAtTheStart checks that an object ends at its own brace, also in a long text of
// braces. It has no time limit of its own.
func TestTheObjectAtTheStart(t *testing.T) {
	t.Parallel()
	braces := strings.Repeat("}", 1<<20)
	for text, want := range map[string]string{
		`{"a":1}}`:                       `{"a":1}`,
		`{"a":"}\"}"} and more {}`:       `{"a":"}\"}"}`,
		` {"a":[{"b":2}]} x`:             ` {"a":[{"b":2}]}`,
		`{"a":1`:                         "-",
		`{a}`:                            "-",
		`["a"]`:                          "-",
		`}`:                              "-",
		`{"a":1}` + braces:               `{"a":1}`,
		`{"a":1,` + braces:               "-",
		strings.Repeat(`{"a":`, 1000000): "-",
	} {
		if got := objectIn(text); got != want {
			t.Errorf("%.30s: %.60s, want %s", text, got, want)
		}
	}
}

// TestArgumentsAlone checks that an object with the parameters of one tool is a call without its
// name, and that no other object is.
func TestArgumentsAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"q": "lamp"}`:              true,
		` {"q":"lamp","page":"2"} `:  true,
		`{"status":"success"}`:       true,
		`{"q":"lamp","answer":"x"}`:  false,
		`{"q":"lamp","status":"ok"}`: false, // of two tools
		`{}`:                         false,
		`{"q": "lamp"`:               false,
		`I search {"q": "lamp"}.`:    false,
		`["q"]`:                      false,
	} {
		if got := isArguments(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
