package llm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/model/modeltest"
)

// sayAs answers with text and the name of another model.
func sayAs(model, text string) modeltest.Action {
	return modeltest.Complete(func(m map[string]any, _ modeltest.Call) { m["content"] = text },
		func(reply map[string]any) { reply["model"] = model })
}

// uncounted answers with text and without token counts.
func uncounted(text string) modeltest.Action {
	return modeltest.Complete(func(m map[string]any, _ modeltest.Call) { m["content"] = text },
		func(reply map[string]any) { delete(reply, "usage") })
}

// cutOff answers with text and the finish reason of a reply that ran out of tokens.
func cutOff(text string) modeltest.Action {
	return finish(text, "length")
}

// filtered answers nothing, as a content filter does.
func filtered() modeltest.Action { return finish("", "content_filter") }

// refuse declines in the field made for it.
func refuse() modeltest.Action {
	return modeltest.Complete(func(m map[string]any, _ modeltest.Call) {
		m["content"] = nil
		m["refusal"] = "I can't help with that."
	}, nil)
}

// obey grades 0.9 if the text orders it outside the judge's instructions, as a
// gullible model does.
func obey(order string) modeltest.Action {
	return modeltest.Complete(func(m map[string]any, c modeltest.Call) {
		score := 0.3
		if strings.Contains(c.Text, order) {
			score = 0.9
		}
		m["content"] = modeltest.Grade(score)
	}, nil)
}

func finish(text, reason string) modeltest.Action {
	return modeltest.Complete(func(m map[string]any, _ modeltest.Call) { m["content"] = text }, func(reply map[string]any) {
		choices, _ := reply["choices"].([]any)
		first, _ := choices[0].(map[string]any)
		first["finish_reason"] = reason
	})
}

// stream answers with text in server-sent events, a few bytes each.
func stream(text string) modeltest.Action {
	return func(w http.ResponseWriter, _ *http.Request, c modeltest.Call) {
		event := func(v any) {
			b, _ := json.Marshal(v)
			_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
		}
		delta := func(piece, finish string) map[string]any {
			choice := map[string]any{"index": 0, "delta": map[string]any{"content": piece}}
			if finish != "" {
				choice["finish_reason"] = finish
			}
			return map[string]any{"model": c.Model, "choices": []any{choice}}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, ": keep-alive\n\n")
		for i := 0; i < len(text); i += 7 {
			event(delta(text[i:min(i+7, len(text))], ""))
		}
		event(delta("", "stop"))
		prompt := modeltest.Tokens(c.Text)
		completion := modeltest.Tokens(text)
		event(map[string]any{"model": c.Model, "choices": []any{}, "usage": map[string]any{"prompt_tokens": prompt, "completion_tokens": completion}})
		modeltest.Charge(w, prompt, completion)
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// late does what then does, after a while.
func late(after time.Duration, next modeltest.Action) modeltest.Action {
	return func(w http.ResponseWriter, r *http.Request, c modeltest.Call) {
		select {
		case <-time.After(after):
			next(w, r, c)
		case <-r.Context().Done():
		}
	}
}
