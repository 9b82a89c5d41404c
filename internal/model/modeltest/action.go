package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Grade returns a judge's reply with a score, and with a quote for each gate that passed by that
// score.
func Grade(score float64) string {
	quotes := make([]string, int(score*5)) // 0.1 passes no gate, 0.9 four
	for i := range quotes {
		quotes[i] = fmt.Sprintf(`{"gate": %d, "step": 0, "quote": "recorded outside the agent"}`, i+1)
	}
	const format = `{"evidence": [%s], "reasoning_quality": %v, "explanation": "Gate failed: as scripted"}`
	return fmt.Sprintf(format, strings.Join(quotes, ", "), score)
}

// Reply returns an action that answers with a text.
func Reply(text string) Action {
	return Complete(func(m map[string]any, _ Call) {
		m["content"] = text
	}, nil)
}

// Verdicts returns an action that answers like a judge of steps, with a verdict on each step in
// the request.
func Verdicts(verdict func(step int) string) Action {
	return Complete(func(m map[string]any, c Call) {
		var steps []string
		for step := range strings.Count(c.Text, "\n--- step ") {
			steps = append(steps, Verdict(step+1, verdict(step+1)))
		}
		m["content"] = `{"steps": [` + strings.Join(steps, ", ") + `]}`
	}, nil)
}

// Verdict returns the verdict on one step as a judge would write it.
func Verdict(step int, verdict string) string {
	return fmt.Sprintf(`{"step": %d, "quote": "the first lamp costs less", "reason": "it finds what step %d answers", "verdict": %q}`, step, step+1, verdict)
}

// Complete returns an action that answers with a completion. message changes its message, and
// reply the whole JSON object; reply may be nil.
func Complete(message func(map[string]any, Call), reply func(map[string]any)) Action {
	return func(w http.ResponseWriter, _ *http.Request, c Call) {
		m := map[string]any{"role": "assistant"}
		message(m, c)
		content, _ := m["content"].(string)
		tools, _ := c.Body["tools"].([]any)
		prompt := Tokens(c.Text) + 50*len(tools) // a chat template writes them into the prompt
		completion := Tokens(content)
		out := map[string]any{
			"id": "chatcmpl-test", "object": "chat.completion", "model": c.Model,
			"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": "stop"}},
			"usage": map[string]any{
				"prompt_tokens":     prompt,
				"completion_tokens": completion,
				"total_tokens":      prompt + completion,
			},
		}
		if reply != nil {
			reply(out)
		}
		Charge(w, prompt, completion)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	}
}

// Status returns an action that fails with an HTTP status and an OpenAI error body.
func Status(code int) Action {
	return func(w http.ResponseWriter, r *http.Request, _ Call) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		// Real servers repeat the key that they refuse, so this one does too.
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
			"message": fmt.Sprintf("scripted %d for %s", code, r.Header.Get("Authorization")), "type": "scripted",
		}})
	}
}

// RetryAfter returns an action that fails with status 429 and requests a pause in whole seconds.
func RetryAfter(seconds int) Action {
	return func(w http.ResponseWriter, r *http.Request, c Call) {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		Status(http.StatusTooManyRequests)(w, r, c)
	}
}

// Body returns an action that answers with status 200 and the given text.
func Body(text string) Action {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		_, _ = w.Write([]byte(text))
	}
}

// Hang returns an action that never answers.
func Hang() Action {
	return func(_ http.ResponseWriter, r *http.Request, _ Call) {
		<-r.Context().Done()
	}
}

// Reset returns an action that breaks the connection before the reply.
func Reset() Action {
	return func(http.ResponseWriter, *http.Request, Call) {
		panic(http.ErrAbortHandler)
	}
}

// Truncate returns an action that breaks the connection in the middle of the body.
func Truncate() Action {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"choices": [{"message": {"content": "{\"reasoning_q`))
		panic(http.ErrAbortHandler)
	}
}

// RefuseSchema returns an action that refuses structured output, as older servers do. Other
// requests are passed to action.
func RefuseSchema(action Action) Action {
	return func(w http.ResponseWriter, r *http.Request, c Call) {
		if c.Schema {
			Status(http.StatusBadRequest)(w, r, c)
			return
		}
		action(w, r, c)
	}
}

// Reasoning returns an action that refuses first max_tokens and then temperature, in the words
// of OpenAI's reasoning models. Other requests are passed to action.
func Reasoning(action Action) Action {
	return func(w http.ResponseWriter, r *http.Request, c Call) {
		refuse := func(message string) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error": {"message": %q, "type": "invalid_request_error", "code": "unsupported_parameter"}}`, message)
		}
		switch {
		case c.Body["max_tokens"] != nil:
			refuse("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		case c.Body["temperature"] != nil:
			refuse("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.")
		default:
			action(w, r, c)
		}
	}
}

// Sequence returns a script that runs each action once, in order, and then repeats the last one.
func Sequence(actions ...Action) func(Call) Action {
	return func(c Call) Action {
		return actions[min(c.Number, len(actions))-1]
	}
}
