package main

import (
	"fmt"
	"strings"
)

// reportedQuirks are modes that were written from public bug reports after the code they test.
func reportedQuirks() (list []quirk) {
	once := func(status int, body string) func(*exchange) bool { return sends(status, body, onceAStep) }
	for name, q := range map[string]quirk{
		"error_429_in_200":       {change: once(200, `{"id":"x","error":{"code":429,"message":"Provider returned error"},"user_id":"u"}`)},                              // litellm #21755
		"error_code_word_in_200": {change: once(200, `{"error":{"code":"server_error","message":"Provider disconnected unexpectedly"},"choices":[]}`)},                  // agent-os #2214
		"finish_error":           {change: once(200, `{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"error","error":{"code":502}}]}`)},       // OpenRouter
		"error_list":             {change: once(429, `[{"error":{"code":429,"message":"Resource exhausted, please try again later.","status":"RESOURCE_EXHAUSTED"}}]`)}, // Gemini
		"html_200":               {change: once(200, `<!DOCTYPE html><html><title>Just a moment...</title></html>`)},                                                    // Cloudflare
		"empty_200":              {change: once(200, ``)},
		"null_200":               {change: once(200, `null`)},
		"cut_200":                {change: once(200, `{"id":"x","choices":[{"message":{"role":"assistant","content":"Sear`)},
		"choices_empty":          {change: once(200, `{"id":"x","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}`)},
		"choices_null":           {change: once(200, `{"id":"x","choices":null}`)},
		"loading_503":            {change: once(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`)},                                    // llama.cpp
		"engine_dead_500":        {change: once(500, `{"object":"error","message":"EngineCore encountered an issue. See stack trace for the root cause.","code":500}`)}, // vLLM
		"connection_error_500":   {change: once(500, `{"error":{"message":"litellm.InternalServerError: OpenAIException - Connection error.","code":"500"}}`)},
		"cannot_connect_500":     {change: once(500, `{"error":{"message":"litellm.InternalServerError: InternalServerError: Hosted_vllmException - Cannot connect to host 127.0.0.1:9101 ssl:<ssl.SSLContext object at 0x7f> [Connect call failed ('127.0.0.1', 9101)] LiteLLM: model group 'm' failed","code":"500"}}`)},
		"timeout_408":            {change: once(408, `{"error":{"message":"litellm.Timeout: APITimeoutError - Request timed out.","code":"408"}}`)},
		"overloaded_529":         {change: once(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)},
		"conflict_409":           {change: once(409, `{"error":{"message":"the model is being swapped, try again"}}`), want: "409"},
		"no_instances_404":       {change: once(404, `{"error":{"message":"no healthy deployments for this model"}}`), want: "404"},
		"capacity_498":           {change: once(498, `{"error":{"message":"flex tier capacity exceeded","code":"capacity_exceeded"}}`), want: "498"},               // Groq
		"moderation_403":         {change: sends(403, `{"error":{"code":403,"message":"Input was flagged","metadata":{"flagged_input":"x"}}}`, late), want: "403"}, // OpenRouter
		"credits_402_in_200":     {change: sends(200, `{"error":{"code":402,"message":"Insufficient credits"}}`, late), want: "account"},
		"finish_tool_call":       {change: edits(func(x *exchange) { x.choice["finish_reason"] = "tool_call" })}, // mlx-lm #782
		"finish_empty":           {change: edits(func(x *exchange) { x.choice["finish_reason"] = "" })},          // sglang #3912
		"name_default_api":       {change: eachCall(func(_ int, c map[string]any) { function(c)["name"] = fmt.Sprint("default_api.", function(c)["name"]) }), want: "decorated_name"},
		"arguments_python": {change: eachCall(func(_ int, c map[string]any) {
			function(c)["arguments"] = strings.ReplaceAll(fmt.Sprint(function(c)["arguments"]), `"`, `'`)
		}), want: "malformed_call"}, // langchain #32109
		"arguments_wrapped": {change: eachCall(func(_ int, c map[string]any) {
			function(c)["arguments"] = fmt.Sprintf(`{"arguments":%s}`, function(c)["arguments"])
		}), want: "arguments"},
		"arguments_in_text": {change: edits(func(x *exchange) {
			x.message["content"] = function(x.calls[0])["arguments"]
			x.message["tool_calls"] = []any{}
			x.choice["finish_reason"] = "stop"
		}), want: "nobody parsed"}, // runpod worker-vllm #271
		"tools_unseen": {change: func(x *exchange) bool { // llama.cpp, vLLM: a chat template without tools
			delete(x.message, "tool_calls")
			x.reply["usage"] = map[string]any{"prompt_tokens": len(x.body.Get("messages").Raw) / 4, "completion_tokens": 20}
			return false
		}, want: "4 of 4 rollouts have no call, and the server showed the tools to no model"},
		"call_type_empty":          {change: eachCall(func(_ int, c map[string]any) { c["type"] = "" })},
		"refusal_empty":            {change: edits(func(x *exchange) { x.message["refusal"] = "" })},
		"usage_zero":               {change: edits(func(x *exchange) { x.reply["usage"] = map[string]any{"prompt_tokens": 0, "completion_tokens": 0} })},
		"content_blank_with_calls": {change: edits(func(x *exchange) { x.message["content"] = "\n\n" })},
	} {
		q.name = "reported_" + name
		list = append(list, q)
	}
	return list
}
