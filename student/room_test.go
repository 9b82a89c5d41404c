package student

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/rollout"
)

// TestARequestThatReservesTooMuchIsNoLongPrompt holds that a prompt is sent again without
// max_tokens if vLLM refuses it because the prompt and max_tokens exceed the context together.
// vLLM's message is the one for a prompt that is too long, which would count against the model.
func TestARequestThatReservesTooMuchIsNoLongPrompt(t *testing.T) {
	t.Parallel()
	const tooLarge = `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 900 input tokens (4096 > 4096 - 900)."}}`
	const sum = `{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 9096 tokens (5000 in the messages, 4096 in the completion)."}}`
	const tooLong = `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your prompt has 5000 tokens."}}`
	for name, c := range map[string]struct {
		// limited and free are the answers to requests with max_tokens and without. If one is
		// empty, the scripted server answers such requests.
		limited, free string
		status        int
		stop          rollout.Stop
		requests      int32
	}{
		"the prompt fits":             {tooLarge, "", 400, rollout.StopTerminated, 6},
		"the prompt does not":         {tooLong, tooLong, 400, rollout.StopOverflow, 1},
		"neither does":                {sum, tooLong, 400, rollout.StopOverflow, 2},
		"max_tokens is asked for":     {sum, `{"error":{"message":"max_tokens: field required"}}`, 400, rollout.StopOverflow, 2},
		"it is missed with a 422":     {sum, `{"detail":"max_tokens: field required"}`, 422, rollout.StopOverflow, 2},
		"max_tokens fits":             {"", tooLarge, 400, rollout.StopTerminated, 3},
		"the server breaks meanwhile": {tooLarge, `{"error":"no key"}`, 401, rollout.StopInfra, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &script.Server{Dialect: "oro", Plan: func(string, int64) script.Plan { return script.Plan{search, recommend, terminate} }}
			var requests atomic.Int32
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				refusal, status := c.free, c.status
				if bytes.Contains(body, []byte(`"max_tokens":4096`)) {
					refusal = c.limited
					status = http.StatusBadRequest
				}
				if refusal == "" {
					server.ServeHTTP(w, r)
					return
				}
				w.WriteHeader(status)
				fmt.Fprint(w, refusal)
			}))
			defer web.Close()
			run := newRun(t, openShop(t), problemFile(t, []string{"one"}), web.URL, 1, filepath.Join(t.TempDir(), "run"))
			run.Environment.Template = limited(t, 4096)
			s, err := run.Play(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if s.Stops[string(c.stop)] != 1 || requests.Load() != c.requests {
				t.Errorf("stops %v after %d requests, want %s after %d", s.Stops, requests.Load(), c.stop, c.requests)
			}
		})
	}
}

func limited(t *testing.T, limit int) *model.Template {
	t.Helper()
	h, err := shop.Profile("7-tool")
	if err != nil {
		t.Fatal(err)
	}
	template := model.NewTemplate("script", h.System, model.Sampling{MaxTokens: &limit}, h.Tools)
	return template
}
