// Package script provides a chat-completion server for tests. Every conversation follows a plan,
// which is found by the request, with one act for each turn. An act can imitate every known
// behaviour of real servers and models.
package script

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// Act is what the server does on one turn.
type Act struct {
	// Calls are tool calls, written in the server's dialect after Content.
	Calls   []Call
	Content string
	// Reasoning and Refusal are separate fields of the message.
	Reasoning string
	Refusal   string
	// Finish is the finish_reason. If it is empty, the server sends "stop" or "tool_calls".
	Finish string
	// Fault is a failure of the server. It happens Times times for each conversation and turn;
	// then the rest of the act follows. If Times is 0, it always happens.
	Fault Fault
	Times int
}

// Call is a tool call. Arguments is JSON, or any text to send in its place.
type Call struct {
	Name      string
	Arguments string
}

// Fault is a way in which a server fails.
type Fault = http.HandlerFunc

// Reply returns a fault that sends a reply with this status and text. The client may retry at
// once.
func Reply(status int, text string) Fault {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(status)
		w.Write([]byte(text)) //nolint:errcheck // the client went away
	}
}

// Faults: a reply without an answer, and a refusal of a prompt that is longer than the model's
// context.
var (
	NoChoices = Reply(http.StatusOK, `{"id":"x","choices":[]}`)
	Overflow  = Reply(http.StatusBadRequest, `{"error":{"message":"This model's maximum context length is 4096 tokens.","code":"context_length_exceeded"}}`)
)

// Plan is the list of acts of one conversation. The last act is repeated.
type Plan []Act

// Server is a server that answers by plans. It is an http.Handler.
type Server struct {
	// Dialect is the form in which calls are written: native, oro, hermes or react.
	Dialect string
	// Plan returns the plan for a conversation, by the text of its request and its seed.
	Plan func(query string, seed int64) Plan
	// Latency is the pause before every answer.
	Latency time.Duration

	mu sync.Mutex
	// asked counts the requests by conversation and turn. answered counts the complete replies.
	asked    map[string]int
	answered map[string]int
}

// ServeHTTP serves /v1/chat/completions. Other paths are not found.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	var body bytes.Buffer
	body.Grow(int(max(0, r.ContentLength)) + bytes.MinRead) // a server of measurements is to take little of the machine
	_, err := body.ReadFrom(r.Body)
	request := gjson.ParseBytes(body.Bytes())
	messages := request.Get("messages").Array()
	if err != nil || !gjson.ValidBytes(body.Bytes()) || len(messages) < 2 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	if s.Latency > 0 {
		time.Sleep(s.Latency)
	}
	turn := 0
	for _, m := range messages {
		if m.Get("role").String() == "assistant" {
			turn++
		}
	}
	query := messages[1].Get("content").String()
	seed := request.Get("seed").Int()
	plan := s.Plan(query, seed)
	act := plan[min(turn, len(plan)-1)]
	times := s.count(fmt.Sprintf("%s#%d#%d", query, seed, turn), act)
	if act.Fault != nil && (act.Times == 0 || times <= act.Times) {
		act.Fault(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(s.reply(act)) //nolint:errcheck // the client went away
}

// count records a request for one turn of a conversation, and returns how many times that turn was
// requested, including this request. It also counts the turn as answered if the scripted reply,
// act, does not fail at this request: it has no fault, or only at the first act.Times requests.
func (s *Server) count(turn string, act Act) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
		s.answered = map[string]int{}
	}
	s.asked[turn]++
	if act.Fault == nil || act.Times > 0 && s.asked[turn] > act.Times {
		s.answered[turn]++
	}
	return s.asked[turn]
}

// Asked returns how many times each turn was requested, by "query#seed#turn".
func (s *Server) Asked() map[string]int { return s.copied(&s.asked) }

// Answered returns how many times each turn was answered with a complete reply, by
// "query#seed#turn".
func (s *Server) Answered() map[string]int { return s.copied(&s.answered) }

func (s *Server) copied(m *map[string]int) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(*m)
}

// reply returns a chat completion as JSON, with the text and the tool calls that act a scripts for
// one turn. The calls are written in the server's dialect: native ones, or as text.
func (s *Server) reply(a Act) []byte {
	message := map[string]any{"role": "assistant", "content": a.Content}
	if a.Reasoning != "" {
		message["reasoning_content"] = a.Reasoning
	}
	if a.Refusal != "" {
		message["refusal"] = a.Refusal
	}
	finish := a.Finish
	if finish == "" {
		finish = "stop"
	}
	if len(a.Calls) > 0 && s.Dialect == "native" {
		message["tool_calls"] = nativeCalls(a.Calls)
		if a.Finish == "" {
			finish = "tool_calls"
		}
	} else if len(a.Calls) > 0 {
		message["content"] = strings.TrimSpace(a.Content + "\n" + textCalls(s.Dialect, a.Calls))
	}
	var b bytes.Buffer
	if err := asjson.NewEncoder(&b).Encode(map[string]any{
		"id": "c", "object": "chat.completion", "model": "script",
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": message}},
		"usage": map[string]any{
			"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140, "prompt_tokens_details": map[string]int{"cached_tokens": 60},
		},
	}); err != nil {
		return nil
	}
	return b.Bytes()
}

func nativeCalls(calls []Call) []any {
	out := make([]any, len(calls))
	for i, c := range calls {
		out[i] = map[string]any{
			"id":       fmt.Sprintf("call_%d", i),
			"type":     "function",
			"function": map[string]string{"name": c.Name, "arguments": c.Arguments},
		}
	}
	return out
}

func textCalls(dialect string, calls []Call) string {
	var b strings.Builder
	switch dialect {
	case "oro":
		b.WriteString("<tool_call>[")
		for i, c := range calls {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, `{"name": %q, "parameters": %s}`, c.Name, c.Arguments)
		}
		b.WriteString("]</tool_call>")
	case "react":
		for _, c := range calls {
			fmt.Fprintf(&b, "Action: %s\nAction Input: %s", c.Name, c.Arguments)
		}
	default:
		for _, c := range calls {
			fmt.Fprintf(&b, "<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>\n", c.Name, c.Arguments)
		}
	}
	return b.String()
}
