package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Grade is a reply with a score, as a good judge writes it.
func Grade(score float64) string {
	return fmt.Sprintf(`{"evidence": [{"gate": 1, "step": 0, "quote": "completion_tokens=55"}], "reasoning_quality": %v, "explanation": "Gate failed: as scripted"}`, score)
}

// Say answers with text.
func Say(text string) Action {
	return Complete(func(m map[string]any, _ Call) { m["content"] = text }, nil)
}

// Verdicts answers with a verdict on each step that it is shown, as a good
// judge of steps writes it.
func Verdicts(verdict func(step int) string) Action {
	return Complete(func(m map[string]any, c Call) {
		var steps []string
		for step := range strings.Count(c.Text, "\n--- step ") {
			steps = append(steps, Verdict(step+1, verdict(step+1)))
		}
		m["content"] = `{"steps": [` + strings.Join(steps, ", ") + `]}`
	}, nil)
}

// Verdict is one of them.
func Verdict(step int, verdict string) string {
	return fmt.Sprintf(`{"step": %d, "quote": "the first lamp costs less", "reason": "it finds what step %d recommends", "verdict": %q}`, step, step+1, verdict)
}

// Complete answers with a completion; both changes may be nil.
func Complete(message func(map[string]any, Call), reply func(map[string]any)) Action {
	return func(w http.ResponseWriter, _ *http.Request, c Call) {
		m := map[string]any{"role": "assistant"}
		message(m, c)
		said, _ := m["content"].(string)
		prompt, completion := Tokens(c.Text), Tokens(said)
		out := map[string]any{
			"id": "chatcmpl-test", "object": "chat.completion", "model": c.Model,
			"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": "stop"}},
			"usage":   map[string]any{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
		}
		if reply != nil {
			reply(out)
		}
		Charge(w, prompt, completion)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	}
}

// Status fails with an HTTP status and an OpenAI error body.
func Status(code int) Action {
	return func(w http.ResponseWriter, r *http.Request, _ Call) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		// Servers like to repeat the key that they do not accept.
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
			"message": fmt.Sprintf("scripted %d for %s", code, r.Header.Get("Authorization")), "type": "scripted",
		}})
	}
}

// RetryAfter fails with 429 and asks for a pause in whole seconds.
func RetryAfter(seconds int) Action {
	return func(w http.ResponseWriter, r *http.Request, c Call) {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		Status(http.StatusTooManyRequests)(w, r, c)
	}
}

// Body answers 200 with bytes that may be anything.
func Body(text string) Action {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) { _, _ = w.Write([]byte(text)) }
}

// Hang answers never.
func Hang() Action {
	return func(_ http.ResponseWriter, r *http.Request, _ Call) { <-r.Context().Done() }
}

// Reset breaks the connection before a reply.
func Reset() Action {
	return func(http.ResponseWriter, *http.Request, Call) { panic(http.ErrAbortHandler) }
}

// Cut breaks the connection in the middle of the body.
func Cut() Action {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"choices": [{"message": {"content": "{\"reasoning_q`))
		panic(http.ErrAbortHandler)
	}
}

// Plain refuses structured output, as older servers do, and else acts.
func Plain(then Action) Action {
	return func(w http.ResponseWriter, r *http.Request, c Call) {
		if c.Schema {
			Status(http.StatusBadRequest)(w, r, c)
			return
		}
		then(w, r, c)
	}
}

// First does each action once, in order, and then the last for ever.
func First(actions ...Action) func(Call) Action {
	return func(c Call) Action { return actions[min(c.Number, len(actions))-1] }
}
