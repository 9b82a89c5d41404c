package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// textQuirks leave the calls in the text, as a server does that was started without the parser of
// the model.
func textQuirks() (list []quirk) {
	for form, write := range map[string]string{
		"qwen3_coder":        "<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>",
		"glm45":              "<tool_call>NAME\n<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>",
		"harmony":            `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>ARGUMENTS<|call|>`,
		"deepseek_v3":        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\nARGUMENTS\n```<｜tool▁call▁end｜>",
		"deepseek_v31":       "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>ARGUMENTS<｜tool▁call▁end｜>",
		"deepseek_dsml":      `<｜DSML｜function_calls><｜DSML｜invoke name="NAME"><｜DSML｜parameter name="KEY" string="true">VALUE</｜DSML｜parameter></｜DSML｜invoke>`,
		"mistral":            `[TOOL_CALLS][{"name":"NAME","arguments":ARGUMENTS}]`,
		"llama3_json":        `<|python_tag|>{"name":"NAME","parameters":ARGUMENTS}`,
		"llama_function_tag": `<function=NAME>ARGUMENTS</function>`,
		"kimi_k2":            "<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>ARGUMENTS<|tool_call_end|>",
		"minimax_m2":         `<minimax:tool_call><invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke></minimax:tool_call>`,
		"seed_oss":           `<seed:tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></seed:tool_call>`,
		"longcat":            `<longcat_tool_call>{"name":"NAME","arguments":ARGUMENTS}</longcat_tool_call>`,
		"step3":              `<steptml:invoke name="NAME"><steptml:parameter name="KEY">VALUE</steptml:parameter></steptml:invoke>`,
		"granite":            `<|tool_call|>[{"name":"NAME","arguments":ARGUMENTS}]`,
		"lfm2":               `<|tool_call_start|>[NAME(KEY="VALUE")]<|tool_call_end|>`,
		"internlm":           `<|action_start|><|plugin|>{"name":"NAME","parameters":ARGUMENTS}<|action_end|>`,
		"phi4_mini":          `functools[{"name":"NAME","arguments":ARGUMENTS}]`,
		"functiongemma":      `<start_function_call>call:NAME{KEY:<escape>VALUE<escape>}<end_function_call>`,
		"gemma4":             `<|tool_call>call:NAME{KEY:<|"|>VALUE<|"|>}<tool_call|>`,
		"cohere":             `<|START_ACTION|>[{"tool_call_id":"0","tool_name":"NAME","parameters":ARGUMENTS}]<|END_ACTION|>`,
		"gigachat":           `function call<|role_sep|>{"name":"NAME","arguments":ARGUMENTS}`,
		"apertus":            `<|tools_prefix|>[{"NAME":ARGUMENTS}]<|tools_suffix|>`,
		"hunyuan":            `<tool_calls>[{"name":"NAME","arguments":ARGUMENTS}]</tool_calls>`,
		"invoke_tags":        `<function_calls><invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke></function_calls>`,
		"tool_code":          "```tool_code\nNAME(KEY='VALUE')\n```",
		"pythonic":           `[NAME(KEY="VALUE")]`,
		"python":             `NAME(KEY="VALUE")`,
		"tags":               `<NAME><KEY>VALUE</KEY></NAME>`,
		"react":              "Thought: hm\nAction: NAME\nAction Input: ARGUMENTS",
		"fenced_json":        "```json\n{\"name\":\"NAME\",\"arguments\":ARGUMENTS}\n```",
		"json_parameters":    `{"name":"NAME","parameters":ARGUMENTS}`,
		"json":               `{"name":"NAME","arguments":ARGUMENTS}`,
		"json_in_tags":       `<function_call>{"name":"NAME","arguments":ARGUMENTS}</function_call>`,
		"other":              `NAME {KEY: VALUE}`,
	} {
		list = append(list, quirk{name: "text_" + form, change: written(write), want: "in the form " + form})
	}
	list = append(list,
		quirk{name: "text_hermes", change: written(`<tool_call>{"name":"NAME","arguments":ARGUMENTS}</tool_call>`)},
		quirk{name: "text_oro", change: written(`<tool_call>[{"name":"NAME","parameters":ARGUMENTS}]</tool_call>`)},
		quirk{name: "text_hermes_null", change: both(written(`<tool_call>{"name":"NAME","arguments":ARGUMENTS}</tool_call>`), edits(func(x *exchange) { x.message["tool_calls"] = nil }))},
		quirk{name: "text_hermes_empty_list", change: both(written(`<tool_call>{"name":"NAME","arguments":ARGUMENTS}</tool_call>`), edits(func(x *exchange) { x.message["tool_calls"] = []any{} }))},
		quirk{name: "text_cut_at_the_end_tag", change: written("<tool_call>\n{\"name\":\"NAME\",\"arguments\":ARGUMENTS}\n"), want: "in the form hermes"},
		quirk{name: "text_in_the_reasoning", change: both(written(`<tool_call>{"name":"NAME","arguments":ARGUMENTS}</tool_call>`), edits(func(x *exchange) {
			x.message["reasoning_content"] = x.message["content"]
			x.message["content"] = nil
		})), want: "hermes in the reasoning"},
		quirk{name: "text_where_native_is_asked", change: written(`<tool_call>{"name":"NAME","arguments":ARGUMENTS}</tool_call>`), args: []string{"--dialect", "native"}, want: "in the form hermes"},
	)
	return list
}

// written returns a change that writes the call into the text.
func written(form string) func(*exchange) bool {
	return edits(func(x *exchange) {
		f := function(x.calls[0])
		arguments := fmt.Sprint(f["arguments"])
		key := ""
		value := ""
		gjson.Parse(arguments).ForEach(func(k, v gjson.Result) bool {
			key = k.Str
			value = v.Str
			return true
		})
		text := strings.NewReplacer("NAME", fmt.Sprint(f["name"]), "ARGUMENTS", arguments, "KEY", key, "VALUE", value).Replace(form)
		delete(x.message, "tool_calls")
		x.message["content"] = x.text + "\n" + text
		if strings.HasPrefix(form, "[") || strings.HasPrefix(form, "{") {
			x.message["content"] = text
		}
		x.choice["finish_reason"] = "stop"
	})
}

// returnQuirks returns the quirks of servers that expect fields of their replies in the next
// request, or refuse them.
func returnQuirks() []quirk {
	signed := eachCall(func(_ int, c map[string]any) {
		c["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": "c2ln"}}
	})
	wants := func(path string) func(*exchange) bool {
		return sends(400, `{"error":{"message":"a field is missing"}}`, func(x *exchange) bool {
			for _, m := range x.body.Get("messages").Array() {
				if m.Get("role").Str == "assistant" && !m.Get(path).Exists() {
					return true
				}
			}
			return false
		})
	}
	reasons := func(name string) func(*exchange) bool {
		return edits(func(x *exchange) { x.message[name] = "Hm." })
	}
	greets := func(name string) func(*exchange) bool {
		return func(x *exchange) bool { x.message[name] = "Hm."; return false }
	}
	const unsupported = "property 'x' is unsupported"
	return []quirk{
		{name: "wants_signature", change: both(wants("tool_calls.0.extra_content.google.thought_signature"), signed)},
		{name: "wants_reasoning_content", change: both(wants("reasoning_content"), reasons("reasoning_content"))},
		{name: "wants_reasoning", change: both(wants("reasoning"), reasons("reasoning"))},
		{name: "wants_details", change: both(wants("reasoning_details.0.signature"), edits(func(x *exchange) {
			x.message["reasoning_details"] = []any{map[string]any{"signature": "s"}}
		}))},
		{name: "wants_null_content", change: both(refuses(`messages.#(content=="")#`, "text content blocks must be non-empty"), edits(func(x *exchange) { x.message["content"] = nil }))},
		{name: "refuses_reasoning_content", change: both(refuses(`messages.#.reasoning_content`, unsupported), reasons("reasoning_content"))},
		{name: "refuses_reasoning", change: both(refuses(`messages.#.reasoning`, unsupported), reasons("reasoning"))},
		{name: "refuses_reasoning_at_once", change: both(refuses(`messages.#.reasoning_content`, unsupported), greets("reasoning_content"))},
		{name: "refuses_reasoning_wants_signature", change: both(refuses(`messages.#.reasoning_content`, unsupported), wants("tool_calls.0.extra_content"), reasons("reasoning_content"), signed)},
		{name: "refuses_unknown", change: both(refuses(`messages.#.annotations`, unsupported), edits(func(x *exchange) { x.message["annotations"] = []any{1} }))},
		{name: "refuses_parts", change: both(refuses(`messages.#.content.0.type`, unsupported), edits(func(x *exchange) {
			x.message["content"] = []any{map[string]any{"type": "text", "text": x.text}}
		}))},
		{name: "refuses_null_content", change: both(sends(400, `{"error":{"message":"content must be a string"}}`, func(x *exchange) bool {
			return strings.Contains(x.body.Get("messages.#.content").Raw, "null")
		}), edits(func(x *exchange) { x.message["content"] = nil }))},
		{name: "ids_of_nine", change: both(sends(400, `{"message":"Tool call id must have a length of 9"}`, func(x *exchange) bool {
			for _, id := range x.body.Get("messages.#.tool_calls.0.id").Array() {
				if len(id.Str) != 9 {
					return true
				}
			}
			return false
		}), eachCall(func(_ int, c map[string]any) { c["id"] = "abcdefgh" + fmt.Sprint(c["id"])[5:] }))},
		{name: "ids_with_names", change: both(sends(400, `{"message":"bad id"}`, func(x *exchange) bool {
			for _, id := range x.body.Get("messages.#.tool_calls.0.id").Array() {
				if !strings.HasPrefix(id.Str, "functions.") {
					return true
				}
			}
			return false
		}), eachCall(func(_ int, c map[string]any) { c["id"] = "functions." + fmt.Sprint(c["id"]) }))},
	}
}

// overflowQuirks returns the quirks of servers that refuse a prompt which is too long for the
// model, each with its own message.
func overflowQuirks() (list []quirk) {
	for i, c := range []struct {
		status int
		words  string
	}{
		{400, "This model's maximum context length is 4096 tokens. However, you requested 4400 tokens."},
		{400, "You passed 4097 input tokens and requested 1 output tokens. However, the context length is only 4096 tokens."},
		{400, "Input length (265330) exceeds model's maximum context length (262144)."},
		{400, "Input length (5000 tokens) exceeds the maximum allowed length (4095 tokens)."},
		{400, "Unable to submit request because the input token count is 32825 but model only supports up to 32768."},
		{400, "the request exceeds the available context size, try increasing it"},
		{500, "the request exceeds the available context size"},
		{400, "Trying to keep the first 4821 tokens when context the overflows."},
		{400, "Reached context length of 4096 tokens with this model"},
		{422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 512"},
		{422, "`inputs` must have less than 4096 tokens. Given: 5000"},
		{400, "Input tokens exceed the configured limit of 272000 tokens."},
		{400, "prompt is too long: 210000 tokens > 200000 maximum"},
		{400, "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"},
		{400, "Please reduce the length of the messages or completion."},
		{400, "The sum of prompt length (5000) and query length (0) should not exceed max_num_tokens (4096)"},
		{400, "input length exceeds the context length"},
		{400, "Input is too long for requested model."},
		{400, "ContextWindowExceededError: The prompt exceeds"},
		{500, "prompt too long, max seq len is 4096"},
		{400, "Prompt exceeds max length"},
		{400, "Requested tokens (5000) exceed context window of 4096"},
		{413, "the prompt is larger than this model's window of tokens"},
		{400, "Range of input length should be [1, 30720]"},
		{400, "max_tokens must be at least 1, got -300"},
		{400, "too many tokens: size limit exceeded by 900 tokens"},
		{500, "sequence length is longer than the specified maximum sequence length"},
		{400, "The conversation does not fit the context"},
		{422, "n_ctx is 4096"},
		// vLLM 0.32, llama.cpp, and both of them through LiteLLM 1.108
		{400, "This model's maximum context length is 12000 tokens. However, your prompt contains at least 12001 input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=12001)"},
		{400, "request (90017 tokens) exceeds the available context size (12032 tokens), try increasing it"},
		{400, `litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: Hosted_vllmException - {"error":{"message":"This model's maximum context length is 12000 tokens.","param":"input_tokens","code":400}}` + "\nLiteLLM: model group 'm' failed with the error above. No fallback was attempted."},
		{400, "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - request (90017 tokens) exceeds the available context size (12032 tokens), try increasing it\nmodel=m. context_window_fallbacks=None. fallbacks=None."},
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": c.words, "code": c.status}})
		list = append(list, quirk{name: fmt.Sprintf("overflow_%d", i), change: sends(c.status, string(body), late), want: "context_overflow 2"})
	}
	return append(list,
		quirk{name: "overflow_own_words", change: sends(400, `{"message":"El texto es muy largo"}`, late), args: []string{"--overflow-words", "muy largo"}, want: "context_overflow 2"},
		quirk{name: "no_overflow_rate", change: sends(413, `{"error":{"message":"Request too large on tokens per minute (TPM): Limit 6000","code":"rate_limit_exceeded"}}`, late), want: "http_413"},
		quirk{name: "no_overflow_id", change: sends(400, `{"message":"Invalid id: string too long. Expected maximum length 40"}`, late), want: "http_400"},
		quirk{name: "no_overflow_body", change: sends(413, "<h1>413 Request Entity Too Large</h1>", late), want: "http_413"},
		quirk{name: "no_overflow_deadline", change: sends(500, "context deadline exceeded", late), want: "http_500"},
	)
}

// faultQuirks fail now and then, or for good.
func faultQuirks() (list []quirk) {
	for _, status := range []int{408, 425, 429, 500, 502, 503, 504, 520, 524, 529} {
		list = append(list, quirk{name: fmt.Sprintf("once_%d", status), change: sends(status, "<html>busy</html>", onceAStep)})
	}
	for name, body := range map[string]string{
		"html": "<html>Bad gateway</html>", "nothing": "", "no_choices": `{"choices":[]}`, "no_message": `{"choices":[{"index":0}]}`, "half": `{"choices":[{"mess`,
		"error":        `{"error":{"message":"Rate limit exceeded","code":429}}`,
		"error_text":   `{"error":{"message":"Provider returned error","code":"rate_limit_exceeded"},"choices":[]}`,
		"error_choice": `{"choices":[{"index":0,"error":{"code":502,"message":"lost"},"finish_reason":"error","message":{"role":"assistant","content":""}}]}`,
		"status_text":  `{"choices":[{"index":0,"message":{"role":"assistant","content":"upstream error: 503 Service Unavailable"},"finish_reason":"stop"}]}`,
		"unwritten":    `{"choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":0}}`,
		"null":         `null`, "list": `[]`,
	} {
		list = append(list, quirk{name: "once_200_" + name, change: sends(200, body, onceAStep)})
	}
	list = append(list, quirk{name: "once_reset", change: func(x *exchange) bool {
		if onceAStep(x) {
			panic(http.ErrAbortHandler)
		}
		return false
	}}, quirk{name: "once_cut", change: func(x *exchange) bool {
		if onceAStep(x) {
			x.w.Header().Set("Content-Length", "5000")
			_, _ = x.w.Write([]byte(`{"id":`))
			panic(http.ErrAbortHandler)
		}
		return false
	}}, quirk{name: "once_retry_after", change: func(x *exchange) bool {
		if !onceAStep(x) || x.step > 0 {
			return false
		}
		x.w.Header().Set("Retry-After", "1")
		x.w.WriteHeader(http.StatusTooManyRequests)
		return true
	}})
	for status, want := range map[int]string{400: "http_400", 404: "http_404", 409: "http_409", 500: "http_500", 501: "http_501"} {
		list = append(list, quirk{name: fmt.Sprintf("always_%d", status), change: sends(status, "no", late), want: want})
	}
	for name, body := range map[string]string{
		"llamacpp": `{"error":{"message":"Failed to parse input at pos 12: <tool_call>"}}`,
		"ollama":   `{"error":{"message":"error parsing tool call: raw='x'"}}`,
		"groq":     `{"error":{"message":"Failed to call a function.","code":"tool_use_failed"}}`,
	} {
		list = append(list, quirk{name: "output_refused_" + name, change: sends(500, body, late), want: "malformed 2"})
	}
	const refused = "refuses the key or the account"
	return append(list,
		quirk{name: "always_503", change: sends(503, "", played), want: "the run is not finished: no server answers"},
		quirk{name: "account_401", change: sends(401, "key expired", late), want: refused},
		quirk{name: "account_402", change: sends(402, "", late), want: refused},
		quirk{name: "account_403", change: sends(403, "", late), want: refused},
		quirk{name: "account_quota", change: sends(429, `{"error":{"code":"insufficient_quota"}}`, late), want: refused},
		quirk{name: "account_credit", change: sends(400, `{"error":{"message":"Your credit balance is too low"}}`, late), want: refused},
		quirk{name: "moderation_403", change: sends(403, `{"error":{"message":"flagged by moderation"}}`, late), want: "http_403"},
	)
}

// refusalQuirks refuse something of every request, as the preflight finds.
func refusalQuirks() []quirk {
	has := func(field string) func(*exchange) bool {
		return func(x *exchange) bool { return x.body.Get(field).Exists() }
	}
	return []quirk{
		{name: "refuses_key", change: sends(401, "", greeted), want: "--api-key-env"},
		{name: "refuses_quota", change: sends(429, `{"error":{"code":"insufficient_quota"}}`, greeted), want: "pay the account"},
		{name: "refuses_seed", change: sends(422, `{"detail":"seed: extra inputs are not permitted"}`, has("seed")), want: "--no-seed"},
		{name: "takes_no_seed", change: sends(422, `{"detail":"seed: extra inputs are not permitted"}`, has("seed")), args: []string{"--no-seed"}},
		{name: "refuses_tools", change: sends(400, `{"error":"does not support tools"}`, has("tools")), want: "--dialect hermes"},
		{name: "refuses_system", change: sends(400, `{"error":"System role not supported"}`, greeted), want: "no system message"},
		{name: "refuses_max_tokens", change: sends(400, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`, has("max_tokens"))},
		{name: "refuses_max_tokens_512", change: sends(400, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`, has("max_tokens")), args: []string{"--max-tokens", "512"}},
		{name: "wants_extra", change: sends(400, `{"error":"provider?"}`, func(x *exchange) bool { return x.body.Get("provider.sort").Str != "price" }), args: []string{"--extra-body", `{"provider": {"sort": "price"}}`}},
		{name: "wants_effort", change: sends(400, `{"error":"effort?"}`, func(x *exchange) bool { return x.body.Get("reasoning_effort").Str != "low" }), args: []string{"--reasoning-effort", "low"}},
		{name: "wants_penalty", change: sends(400, `{"error":"penalty?"}`, func(x *exchange) bool {
			return x.body.Get("presence_penalty").Num != 1.5 || x.body.Get("repetition_penalty").Num != 1.1
		}), args: []string{"--presence-penalty", "1.5", "--repetition-penalty", "1.1"}},
		{name: "missing_model", change: sends(404, `{"error":"no such model"}`, greeted), want: "--model"},
		{name: "portal", change: sends(200, "<html>Sign in</html>", greeted), want: "no chat completion"},
		{name: "starts_late", change: sends(503, "loading", func(x *exchange) bool { return x.step < 0 && x.first })},
	}
}
