package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
)

func TestFaultsAreClassified(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		action modeltest.Action
		want   model.Kind
	}{
		"wrong key":         {modeltest.Status(401), model.Auth},
		"forbidden":         {modeltest.Status(403), model.Auth},
		"too many":          {modeltest.Status(429), model.Limited},
		"broken":            {modeltest.Status(500), model.Server},
		"bad gateway":       {modeltest.Status(502), model.Server},
		"overloaded":        {modeltest.Status(529), model.Server},
		"bad request":       {modeltest.Status(400), model.Rejected},
		"too large":         {modeltest.Status(413), model.Rejected},
		"no such model":     {modeltest.Status(404), model.Missing},
		"redirect":          {modeltest.Status(307), model.Rejected},
		"hang":              {modeltest.Hang(), model.Network},
		"reset":             {modeltest.Reset(), model.Network},
		"cut body":          {modeltest.Truncate(), model.Network},
		"empty body":        {modeltest.Body(""), model.Unreadable},
		"a web page":        {modeltest.Body("<html>busy</html>"), model.Unreadable},
		"429 within 200":    {modeltest.Body(`{"error": {"message": "slow down", "code": 429}}`), model.Limited},
		"502 within 200":    {modeltest.Body(`{"error": {"message": "upstream", "code": 502}}`), model.Server},
		"401 within 200":    {modeltest.Body(`{"error": {"message": "no credits", "code": "401"}}`), model.Auth},
		"cut stream":        {modeltest.Body("data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\n"), model.Unreadable},
		"error in stream":   {modeltest.Body("data: {\"error\":{\"message\":\"no\"}}\n\ndata: [DONE]\n\n"), model.Unreadable},
		"error as 200":      {modeltest.Body(`{"error": {"message": "overloaded"}}`), model.Unreadable},
		"no choices":        {modeltest.Body(`{"choices": []}`), model.Unreadable},
		"endless":           {modeltest.Body(strings.Repeat("x", 5<<20)), model.Unreadable},
		"deeply nested":     {modeltest.Body(strings.Repeat("[", 1<<20)), model.Unreadable},
		"number as choices": {modeltest.Body(`{"choices": 7}`), model.Unreadable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := modeltest.Virtual(t, 0, modeltest.Sequence(tt.action))
				_, err := open(t, s, endpoint(s)).Chat(t.Context(), question())
				var fault *model.Fault
				if !errors.As(err, &fault) || fault.Kind != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				if n := len(s.Calls()); n != 1 {
					t.Errorf("%d requests, want 1", n)
				}
			})
		})
	}
}

// TestReadIgnoresUnknownFields checks that other fields do not matter: servers fill the other fields of a
// completion, and of a stream's events, as they like.
func TestReadIgnoresUnknownFields(t *testing.T) {
	t.Parallel()
	const choices = `"choices":[{"index":"0","logprobs":[],"message":{"role":"assistant","content":"yes"}}]`
	const event = `"choices":[{"index":"0","delta":{"content":"yes"},"finish_reason":"stop"}]`
	for body, counted := range map[string]int{
		`{"id":7,"created":1712345678.25,` + choices + `}`:                           0,
		`{"created":"today",` + choices + `,"usage":{"prompt_tokens":3.0}}`:          3,
		`{` + choices + `,"usage":{"prompt_tokens":3,"prompt_tokens_details":0.5}}`:  3,
		`{` + choices + `,"usage":{"prompt_tokens":3,"completion_tokens":1e18}}`:     0,
		`{` + choices + `,"usage":{"prompt_tokens":9e18,"completion_tokens":9e18}}`:  0,
		"data: {\"error\":null," + event + "}\n\ndata: [DONE]\n\n":                   0,
		"event: message\ndata: {\"created\":0.5," + event + ",\"usage\":null}\n\n":   0,
		"\r\nid: 1\nretry: 5\ndata: {" + event + ",\"usage\":{\"prompt_tokens\":3}}": 3,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := modeltest.Virtual(t, 0, modeltest.Sequence(modeltest.Body(body)))
			r, err := open(t, s, endpoint(s)).Chat(t.Context(), question())
			sameUsage := !r.Counted() || *r.Usage == model.Usage{Prompt: int64(counted)}
			if err != nil || r.Text() != "yes" || r.Counted() != (counted > 0) || !sameUsage {
				t.Errorf("%s: %q, %+v, %v", body, r.Text(), r.Usage, err)
			}
		})
	}
}

func TestFaultHasServerMessage(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error": {"message": "context is 4096 tokens"}}`: "server (status 500): context is 4096 tokens",
		"<h1>out of order</h1>":                            "server (status 500): <h1>out of order</h1>",
		"":                                                 "server (status 500): error, status code: 500",
	} {
		s := modeltest.New(t, func(modeltest.Call) modeltest.Action {
			return func(w http.ResponseWriter, _ *http.Request, _ modeltest.Call) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(body))
			}
		})
		if _, err := open(t, s, endpoint(s)).Chat(t.Context(), question()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRequestHasConfiguredFields(t *testing.T) {
	t.Setenv("CLIENT_TEST_KEY", "sk-test-0123456789")
	s := modeltest.New(t, modeltest.Sequence(modeltest.Reply("well")))
	e := endpoint(s)
	e.KeyEnv = "CLIENT_TEST_KEY"
	e.Headers = map[string]string{"X-Title": "arena", "X-Key": "$CLIENT_TEST_KEY"}
	e.ExtraBody = map[string]any{"top_k": 1, "max_tokens": nil}
	q := question()
	q.Schema = json.RawMessage(`{"type":"object"}`)
	q.Name = "answer"
	reply, err := open(t, s, e).Chat(t.Context(), q)
	if err != nil || reply.Text() != "well" || !reply.Counted() {
		t.Fatalf("%+v, %v", reply, err)
	}
	c := s.Calls()[0]
	if c.Body["temperature"] != 0.0 || c.Body["top_k"] != 1.0 || c.Body["stream"] != false || !c.Schema {
		t.Errorf("body %v", c.Body)
	}
	if _, limited := c.Body["max_tokens"]; limited {
		t.Error("a field that null takes out was sent")
	}
	if c.Header.Get("Authorization") != "Bearer sk-test-0123456789" || c.Header.Get("X-Title") != "arena" || c.Header.Get("X-Key") != "sk-test-0123456789" {
		t.Errorf("headers %v", c.Header)
	}
}

func TestErrorsHoldNoSecret(t *testing.T) {
	const key = "sk-test-0123456789"
	t.Setenv("CLIENT_TEST_KEY", key)
	s := modeltest.New(t, modeltest.Sequence(modeltest.Status(401)))
	e := endpoint(s)
	e.KeyEnv = "CLIENT_TEST_KEY"
	reply, err := open(t, s, e).Chat(t.Context(), question())
	for name, text := range map[string]string{"error": err.Error(), "request": string(reply.Request), "reply": string(reply.Body)} {
		if strings.Contains(text, key) {
			t.Errorf("the %s holds the key: %s", name, text)
		}
	}
	if !strings.Contains(string(reply.Body), "[secret]") {
		t.Errorf("reply %s", reply.Body)
	}
}

func TestMissingSecretIsNamed(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Reply("well")))
	e := endpoint(s)
	e.KeyEnv = "CLIENT_TEST_NO_SUCH_KEY"
	if _, err := model.New(e, nil, time.Now); err == nil || !strings.Contains(err.Error(), e.KeyEnv) {
		t.Errorf("got %v", err)
	}
}

func TestRefusedSchemasCostOneRequest(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.RefuseSchema(modeltest.Reply("well"))))
	c := open(t, s, endpoint(s))
	q := question()
	q.Schema = json.RawMessage(`{}`)
	var fault *model.Fault
	if _, err := c.Chat(t.Context(), q); !errors.As(err, &fault) || fault.Kind != model.Schema {
		t.Fatalf("got %v", err)
	}
	for range 3 {
		if _, err := c.Chat(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Calls()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

// TestReasoningModelsCostOneRequest holds that a model that refuses max_tokens is
// asked with max_completion_tokens and without a temperature, and keeps its schema.
func TestReasoningModelsCostOneRequest(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Reasoning(modeltest.Reply("well"))))
	c := open(t, s, endpoint(s))
	q := question()
	q.Schema = json.RawMessage(`{}`)
	q.Params["max_tokens"] = 7
	var fault *model.Fault
	if _, err := c.Chat(t.Context(), q); !errors.As(err, &fault) || fault.Kind != model.Schema {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Chat(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	last := s.Calls()[1]
	if last.Body["max_completion_tokens"] != 7.0 || !last.Schema || last.Body["temperature"] != nil {
		t.Errorf("asked with %v", last.Body)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := modeltest.Virtual(t, 0, modeltest.Sequence(modeltest.RetryAfter(7), modeltest.Reply("well")))
		c := open(t, s, endpoint(s))
		if _, err := c.Chat(t.Context(), question()); err == nil {
			t.Fatal("no fault")
		}
		if _, err := c.Chat(t.Context(), question()); err != nil {
			t.Fatal(err)
		}
		calls := s.Calls()
		if waited := calls[1].At.Sub(calls[0].At); waited != 7*time.Second {
			t.Errorf("asked again after %v", waited)
		}
	})
}

func TestPauseBeyondDeadlineFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.RetryAfter(3600)))
	c := open(t, s, endpoint(s))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3 {
		var fault *model.Fault
		if _, err := c.Chat(ctx, question()); !errors.As(err, &fault) || fault.Kind != model.Limited {
			t.Fatalf("got %v", err)
		}
	}
	if n := len(s.Calls()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// late cancels the caller's context just when the reply has arrived.
type late struct{ cancel func() }

func (l late) RoundTrip(r *http.Request) (*http.Response, error) {
	l.cancel()
	body := io.NopCloser(strings.NewReader(`{"choices":[{"message":{"content":"well"}}]}`))
	return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
}

func TestAnswerAfterCancelIsReturned(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, err := model.New(model.Endpoint{BaseURL: "http://models.invalid/v1", Concurrency: 1}, late{cancel}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := c.Chat(ctx, question()); err != nil || reply.Text() != "well" {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestKeyDependsOnQuestionAndNotOnAddress(t *testing.T) {
	t.Parallel()
	a := modeltest.New(t, nil)
	b := modeltest.New(t, nil)
	key := func(s *modeltest.Server, change func(*model.Endpoint, *model.Question)) string {
		e := endpoint(s)
		q := question()
		change(&e, &q)
		k, err := open(t, s, e).Key(q)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	unchanged := func(*model.Endpoint, *model.Question) {}
	base := key(a, unchanged)
	if key(b, unchanged) != base {
		t.Error("another address has another key")
	}
	if key(a, func(_ *model.Endpoint, q *model.Question) {
		q.Schema = json.RawMessage(`{}`)
		q.Timeout = 1
	}) != base {
		t.Error("what is not asked changes the key")
	}
	for name, change := range map[string]func(*model.Endpoint, *model.Question){
		"model":   func(_ *model.Endpoint, q *model.Question) { q.Model = "other" },
		"message": func(_ *model.Endpoint, q *model.Question) { q.Messages[0].Content += "." },
		"param":   func(_ *model.Endpoint, q *model.Question) { q.Params = map[string]any{"temperature": 1} },
		"extra":   func(e *model.Endpoint, _ *model.Question) { e.ExtraBody = map[string]any{"top_k": 1} },
	} {
		if key(a, change) == base {
			t.Errorf("another %s has the same key", name)
		}
	}
}

func TestValidateRejectsBadEndpoints(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]model.Endpoint{
		"no scheme":       {BaseURL: "localhost:8000/v1", Concurrency: 1},
		"user in address": {BaseURL: "http://me:secret@host/v1", Concurrency: 1},
		"key in address":  {BaseURL: "http://host/v1?key=secret", Concurrency: 1},
		"no concurrency":  {BaseURL: "http://host/v1"},
		"model as extra":  {BaseURL: "http://host/v1", Concurrency: 1, ExtraBody: map[string]any{"model": "x"}},
	} {
		if err := e.Validate(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func endpoint(s *modeltest.Server) model.Endpoint {
	return model.Endpoint{Name: "test", BaseURL: s.BaseURL(), Concurrency: 8}
}

func question() model.Question {
	return model.Question{
		Model: "judge", Messages: []model.Message{{Role: "user", Content: "How well?"}},
		Params: map[string]any{"temperature": 0, "max_tokens": 10}, Timeout: time.Minute,
	}
}

func open(t *testing.T, s *modeltest.Server, e model.Endpoint) *model.Client {
	t.Helper()
	c, err := model.New(e, s.Transport(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
