package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// exchange is one request to a server with a quirk and the reply that a sound server would send.
type exchange struct {
	w http.ResponseWriter
	// body is the request. step counts the replies in it, and is -1 in the preflight.
	body gjson.Result
	step int
	// first reports whether the request is sent for the first time. odd is every second problem.
	first, odd bool

	text    string
	message map[string]any
	calls   []map[string]any
	choice  map[string]any
	reply   map[string]any
}

// quirk is one way in which servers differ.
type quirk struct {
	name string
	// change changes the reply, or sends another one and returns true.
	change func(x *exchange) bool
	// want is "" if the evaluation must equal that of a correct server; otherwise it is a text that
	// the output or the results must contain.
	want string
	args []string
}

// sends returns a change that sends a status and a body for those exchanges that match.
func sends(status int, body string, when func(x *exchange) bool) func(*exchange) bool {
	return func(x *exchange) bool {
		if !when(x) {
			return false
		}
		x.w.WriteHeader(status)
		_, _ = io.WriteString(x.w, body)
		return true
	}
}

func onceAStep(x *exchange) bool { return x.first && x.odd && x.step >= 0 }
func late(x *exchange) bool      { return x.odd && x.step == 2 }
func played(x *exchange) bool    { return x.step >= 0 }
func greeted(x *exchange) bool   { return x.step < 0 }

// edits returns a change of a played reply.
func edits(edit func(x *exchange)) func(*exchange) bool {
	return func(x *exchange) bool {
		if x.step >= 0 {
			edit(x)
		}
		return false
	}
}

func function(call map[string]any) map[string]any {
	f, _ := call["function"].(map[string]any)
	return f
}

// eachCall returns a change of every call.
func eachCall(edit func(i int, call map[string]any)) func(*exchange) bool {
	return edits(func(x *exchange) {
		for i, call := range x.calls {
			edit(i, call)
		}
	})
}

// refuses returns a change that refuses requests in which a message or call matches a path.
func refuses(path, words string) func(*exchange) bool {
	return sends(400, `{"error":{"message":"`+words+`"}}`, func(x *exchange) bool {
		return len(x.body.Get(path).Array()) > 0
	})
}

// both joins changes.
func both(changes ...func(*exchange) bool) func(*exchange) bool {
	return func(x *exchange) bool {
		for _, change := range changes {
			if change(x) {
				return true
			}
		}
		return false
	}
}

// quirkServer answers at /NAME/v1 as a sound server with the quirk of that name.
func quirkServer(t *testing.T, quirks []quirk) string {
	t.Helper()
	var mu sync.Mutex
	seen := map[string]bool{}
	byName := map[string]quirk{}
	for _, q := range quirks {
		byName[q.name] = q
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Split(r.URL.Path, "/")[1]
		if strings.HasSuffix(r.URL.Path, "/models") {
			_, _ = io.WriteString(w, `{"data":[{"id":"m","max_model_len":4096}]}`)
			return
		}
		request, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		x := soundReply(gjson.ParseBytes(request))
		key := name + x.body.Get("messages").Raw
		mu.Lock()
		x.first = !seen[key]
		seen[key] = true
		mu.Unlock()
		x.w = w
		if change := byName[name].change; change == nil || !change(x) {
			_ = json.NewEncoder(w).Encode(x.reply)
		}
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// soundReply is the exchange with the reply of a sound server, which solves the even problems.
func soundReply(body gjson.Result) *exchange {
	x := &exchange{body: body, step: -1, text: "Hello."}
	query := body.Get("messages.1.content").Str
	if strings.HasPrefix(query, "problem") {
		x.step = len(body.Get(`messages.#(role=="assistant")#`).Array())
		x.odd = strings.HasSuffix(query, "odd")
	}
	id := "700"
	if x.odd {
		id = "701"
	}
	plan := [][3]string{
		{"Searching.", "find_product", `{"q": "lamp"}`}, {"Looking.", "view_product_information", `{"product_ids": "` + id + `"}`},
		{"Choosing.", "recommend_product", `{"product_ids": "` + id + `"}`}, {"Done.", "terminate", `{"status": "success"}`},
	}
	x.message = map[string]any{"role": "assistant", "content": x.text}
	x.choice = map[string]any{"index": 0, "message": x.message, "finish_reason": "stop", "logprobs": nil}
	x.reply = map[string]any{
		"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []any{x.choice},
		"usage": map[string]any{"prompt_tokens": promptTokens(body), "completion_tokens": 20, "total_tokens": 20 + promptTokens(body)},
	}
	if x.step >= 0 {
		next := plan[min(x.step, len(plan)-1)]
		x.text = next[0]
		x.calls = []map[string]any{{
			"id": fmt.Sprintf("call_%d", x.step), "type": "function", "function": map[string]any{"name": next[1], "arguments": next[2]},
		}}
		x.message["content"] = x.text
		x.message["tool_calls"] = x.calls
		x.choice["finish_reason"] = "tool_calls"
	}
	return x
}

// promptTokens is a count of the prompt with its tools.
func promptTokens(body gjson.Result) int {
	return (len(body.Get("messages").Raw) + len(body.Get("tools").Raw)) / 4
}

// quirks returns the modes of the server: behaviours of servers that public reports describe.
func quirks() (list []quirk) {
	for _, group := range [][]quirk{replyQuirks(), textQuirks(), returnQuirks(), overflowQuirks(), faultQuirks(), streamQuirks(), refusalQuirks(), reportedQuirks()} {
		list = append(list, group...)
	}
	return list
}

// TestQuirks runs an evaluation with each quirk of a server: its results equal those with a correct
// server, or the output or the results name the fault. No fault counts silently as the model's.
func TestQuirks(t *testing.T) {
	t.Parallel()
	quirkList := quirks()
	if names := map[string]bool{}; true {
		for _, q := range quirkList {
			if names[q.name] {
				t.Fatalf("two quirks %s", q.name)
			}
			names[q.name] = true
		}
	}
	if len(quirkList) < 150 {
		t.Errorf("%d quirks", len(quirkList))
	}
	clean := 0
	for _, q := range quirkList {
		if q.want == "" {
			clean++
		}
	}
	t.Logf("%d quirks, %d of them as a sound server, %d named", len(quirkList), clean, len(quirkList)-clean)
	catalog, problems := evalInputs(t, "problem one even", "problem two odd", "problem three even", "problem four odd")
	url := quirkServer(t, quirkList)
	for _, q := range quirkList {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			run := filepath.Join(t.TempDir(), "run")
			args := []string{"eval", "--endpoint", url + "/" + q.name + "/v1", "--model", "m", "--problems", problems, "--catalog", catalog, "--retries", "2", "--wait-for-server", "3s", "-o", run}
			code, _, words := arenaRun(append(args, q.args...)...)
			b, _ := os.ReadFile(filepath.Join(run, "summary.json")) // missing after a refusal
			s := gjson.ParseBytes(b)
			sound := code == cli.ExitOK && s.Get("asr_scored").Num == 0.5 && s.Get("scored").Num == 4 && s.Get("stops").Raw != "" &&
				s.Get("stops.terminated").Num == 4 && s.Get("labels.wrong_product").Num == 2 && !s.Get("unparsed_calls").Exists()
			switch {
			case q.want == "" && !sound:
				t.Errorf("exit %d: %s", code, words)
			case !strings.Contains(words, q.want):
				t.Errorf("exit %d, %q is not named: %s", code, q.want, words)
			}
			account, _ := os.ReadFile(filepath.Join(run, "telemetry.json"))
			if mentioned := strings.Contains(words, "refuses fields of its own replies"); mentioned != gjson.GetBytes(account, "left_out").Exists() {
				t.Errorf("left out, by the words: %v; in the run: %s", mentioned, account)
			}
			wantField := fallbacksOf[q.name]
			if got := gjson.GetBytes(account, "fallbacks").Raw; strings.Join(strings.Fields(got), "") != wantField {
				t.Errorf("the run has the fallbacks %q, want %q", got, wantField)
			}
		})
	}
}

// fallbacksOf has the fields of telemetry.json by quirk, for servers that refuse the usual fields.
var fallbacksOf = map[string]string{
	"refuses_max_tokens_512": `["max_completion_tokens"]`,
	"stream_only":            `["stream"]`,
}

func replyQuirks() []quirk {
	finish := func(reason any) func(*exchange) bool {
		return edits(func(x *exchange) { x.choice["finish_reason"] = reason })
	}
	message := func(name string, value any) func(*exchange) bool {
		return edits(func(x *exchange) { x.message[name] = value })
	}
	usage := func(value any) func(*exchange) bool { return edits(func(x *exchange) { x.reply["usage"] = value }) }
	arguments := func(edit func(text string) any) func(*exchange) bool {
		return eachCall(func(_ int, c map[string]any) { function(c)["arguments"] = edit(fmt.Sprint(function(c)["arguments"])) })
	}
	id := func(value any) func(*exchange) bool {
		return eachCall(func(_ int, c map[string]any) { c["id"] = value })
	}
	name := func(format string) func(*exchange) bool {
		return eachCall(func(_ int, c map[string]any) { function(c)["name"] = fmt.Sprintf(format, function(c)["name"]) })
	}
	raw := func(edit func(b []byte) []byte) func(*exchange) bool {
		return func(x *exchange) bool {
			b, _ := json.Marshal(x.reply)
			_, _ = x.w.Write(edit(b))
			return true
		}
	}
	empty := func(value any) func(*exchange) bool {
		return edits(func(x *exchange) {
			if x.step == 3 {
				function(x.calls[0])["arguments"] = value
			}
		})
	}
	return []quirk{
		{name: "sound"},
		{name: "arguments_object", change: arguments(func(s string) any { return json.RawMessage(s) })},
		{name: "arguments_line_break", change: arguments(func(s string) any { return s + "\n" })},
		{name: "arguments_blank_before", change: arguments(func(s string) any { return "  " + s })},
		{name: "arguments_empty", change: empty("")},
		{name: "arguments_blank", change: empty(" \n")},
		{name: "arguments_null", change: empty(nil)},
		{name: "arguments_null_text", change: empty("null")},
		{name: "arguments_missing", change: edits(func(x *exchange) {
			if x.step == 3 {
				delete(function(x.calls[0]), "arguments")
			}
		})},
		{name: "arguments_twice", change: arguments(func(s string) any { b, _ := json.Marshal(s); return string(b) }), want: "arguments_encoded_twice"},
		{name: "arguments_brace", change: arguments(func(s string) any { return s + "}" }), want: "text_after_arguments"},
		{name: "arguments_tag", change: arguments(func(s string) any { return s + "</tool_call>" }), want: "text_after_arguments"},
		{name: "name_prefix", change: name("functions.%s"), want: "decorated_name"},
		{name: "name_blanks", change: name(" %s\n"), want: "decorated_name"},
		{name: "name_index", change: name("functions.%s:0"), want: "decorated_name"},
		{name: "name_call", change: name("call:%s"), want: "decorated_name"},
		{name: "calls_object", change: edits(func(x *exchange) { x.message["tool_calls"] = x.calls[0] })},
		{name: "call_legacy", change: edits(func(x *exchange) {
			delete(x.message, "tool_calls")
			x.message["function_call"] = function(x.calls[0])
			x.choice["finish_reason"] = "function_call"
		})},
		{name: "call_index", change: eachCall(func(i int, c map[string]any) { c["index"] = i })},
		{name: "call_type_missing", change: eachCall(func(_ int, c map[string]any) { delete(c, "type") })},
		{name: "id_null", change: id(nil)},
		{name: "id_number", change: id(7)},
		{name: "id_empty", change: id("")},
		{name: "id_same", change: id("call_0")},
		{name: "id_missing", change: eachCall(func(_ int, c map[string]any) { delete(c, "id") })},
		{name: "finish_stop", change: finish("stop")},
		{name: "finish_null", change: finish(nil)},
		{name: "finish_eos", change: finish("eos_token")},
		{name: "finish_tool_use", change: finish("tool_use")},
		{name: "finish_length_with_calls", change: finish("length")},
		{name: "finish_abort_once", change: edits(func(x *exchange) {
			if onceAStep(x) {
				x.choice["finish_reason"] = "abort"
			}
		})},
		{name: "finish_malformed", change: edits(func(x *exchange) {
			delete(x.message, "tool_calls")
			x.message["content"] = nil
			x.choice["finish_reason"] = "function_call_filter: MALFORMED_FUNCTION_CALL"
		}), want: "malformed_call"},
		{name: "content_null", change: message("content", nil)},
		{name: "content_empty", change: message("content", "")},
		{name: "content_missing", change: edits(func(x *exchange) { delete(x.message, "content") })},
		{name: "content_parts", change: edits(func(x *exchange) {
			x.message["content"] = []any{map[string]any{"type": "text", "text": x.text}}
		})},
		{name: "content_thinking_parts", change: edits(func(x *exchange) {
			x.message["content"] = []any{map[string]any{"type": "thinking", "thinking": "Hm."}, map[string]any{"type": "text", "text": x.text}}
		})},
		{name: "content_think", change: edits(func(x *exchange) { x.message["content"] = "<think>Hm.</think>" + x.text })},
		{name: "content_think_closed", change: edits(func(x *exchange) { x.message["content"] = "Hm.</think>" + x.text })},
		{name: "content_bracket_think", change: edits(func(x *exchange) { x.message["content"] = "[THINK]Hm.[/THINK]" + x.text })},
		{name: "content_with_the_call", change: edits(func(x *exchange) {
			x.message["content"] = x.text + "<tool_call>" + fmt.Sprintf(`{"name":%q,"arguments":%s}`, function(x.calls[0])["name"], function(x.calls[0])["arguments"]) + "</tool_call>"
		})},
		{name: "refusal_null", change: message("refusal", nil)},
		{name: "annotations", change: message("annotations", []any{})},
		{name: "audio_null", change: message("audio", nil)},
		{name: "reasoning_content", change: message("reasoning_content", "Hm.")},
		{name: "reasoning", change: message("reasoning", "Hm.")},
		{name: "reasoning_details", change: message("reasoning_details", []any{map[string]any{"type": "reasoning.text", "text": "Hm.", "signature": "s"}})},
		{name: "usage_missing", change: edits(func(x *exchange) { delete(x.reply, "usage") })},
		{name: "usage_null", change: usage(nil)},
		{name: "usage_text", change: usage(map[string]any{"prompt_tokens": "100", "completion_tokens": "20"})},
		{name: "usage_negative", change: usage(map[string]any{"prompt_tokens": -1, "completion_tokens": -1})},
		{name: "usage_cached", change: usage(map[string]any{"prompt_tokens": 900, "completion_tokens": 20, "prompt_tokens_details": map[string]any{"cached_tokens": 80}})},
		{name: "usage_details_null", change: usage(map[string]any{"prompt_tokens": 900, "completion_tokens": 20, "prompt_tokens_details": nil})},
		{name: "prompt_cut", change: edits(func(x *exchange) {
			x.reply["usage"] = map[string]any{"prompt_tokens": []int{2400, 4040, 2051, 2051}[min(x.step, 3)], "completion_tokens": 20}
		}), want: "context_overflow"},
		{name: "other_model", change: edits(func(x *exchange) { x.reply["model"] = "other" })},
		{name: "choice_order", change: edits(func(x *exchange) {
			x.reply["choices"] = []any{map[string]any{"index": 1, "message": map[string]any{"role": "assistant", "content": "other"}}, x.choice}
		})},
		{name: "choice_with_calls_second", change: edits(func(x *exchange) {
			x.choice["index"] = 1
			x.reply["choices"] = []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": x.text}}, x.choice}
		})},
		{name: "choice_index_missing", change: edits(func(x *exchange) { delete(x.choice, "index") })},
		{name: "body_blank_lines", change: raw(func(b []byte) []byte { return append([]byte("\n\n \n"), b...) })},
		{name: "body_indented", change: raw(func(b []byte) []byte { return []byte(gjson.ParseBytes(b).Get("@pretty").Raw) })},
		{name: "body_mark", change: raw(func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) }), want: "not JSON"},
		{name: "body_not_a_number", change: raw(func(b []byte) []byte {
			return []byte(strings.Replace(string(b), `"logprobs":null`, `"logprobs":{"a":-Infinity}`, 1))
		}), want: "not JSON"},
		{name: "body_comment", change: raw(func(b []byte) []byte { return append([]byte(": PROCESSING\n\n"), b...) }), want: "not JSON"},
		{name: "body_gzip", change: func(x *exchange) bool {
			x.w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(x.w)
			_ = json.NewEncoder(z).Encode(x.reply)
			return z.Close() == nil
		}, want: "not JSON"},
		{name: "body_as_text", change: edits(func(x *exchange) { x.w.Header().Set("Content-Type", "text/plain") })},
	}
}
