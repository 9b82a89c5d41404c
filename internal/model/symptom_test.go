package model

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/internal/memnet"
)

// TestRefusalsAreDistinguished checks the meaning of a refusal by its status and message.
// "overflow" is certain at any turn, "length" only after earlier turns.
func TestRefusalsAreDistinguished(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{400, `{"error":{"message":"This model's maximum context length is 4096 tokens."}}`, "overflow"},
		{500, `{"error":{"message":"the request exceeds the available context size"}}`, "overflow"},
		{400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, "length"},
		{400, `{"error":{"message":"the input token count is 32825 but model only supports up to 32768."}}`, "length"},
		{400, `{"message":"The sum of prompt length (5000) and max_tokens (100) should not exceed max_num_tokens (4096)"}`, "length"},
		{413, `{"detail":"Too many input tokens"}`, "length"},
		{422, `{"error":"the conversation has 9000 tokens, more than this deployment takes"}`, "length"},
		{500, `{"message":"sequence is longer than n_ctx"}`, "length"},
		{400, `{"error":{"message":"your own words"}}`, "overflow"}, // configured

		{400, `{"error":{"message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."}}`, ""},
		{400, `{"error":{"message":"Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40"}}`, ""},
		{413, `<html><h1>413 Request Entity Too Large</h1></html>`, ""},
		{500, `context deadline exceeded`, ""},
		{500, `{"error":"Unexpected token < in JSON at position 0"}`, ""},
		{400, `{"error":{"message":"invalid access token"}}`, ""},
		{413, `{"error":{"message":"Request too large for the model on tokens per minute (TPM): Limit 6000, Requested 9000","code":"rate_limit_exceeded"}}`, ""},
		{404, `{"error":{"message":"no model with this context"}}`, ""},
		{429, `{"error":{"message":"tokens per minute"}}`, "waits"},
		{502, ``, "waits"}, {503, ``, "waits"}, {504, ``, "waits"}, {529, ``, "waits"}, {522, ``, "waits"},
		{500, ``, ""}, {400, ``, ""},
		// LiteLLM, Envoy, Go's proxy and Node's, with their server away.
		{500, `{"error":{"message":"litellm.InternalServerError: Hosted_vllmException - Cannot connect to host 127.0.0.1:8000 ssl:default [Connect call failed ('127.0.0.1', 8000)]"}}`, "waits"},
		{500, `{"error":{"message":"litellm.InternalServerError: InternalServerError: OpenAIException - Connection error."}}`, "waits"},
		{500, `upstream connect error or disconnect/reset before headers`, "waits"},
		{500, `dial tcp 10.0.0.1:8000: connect: connection refused`, "waits"},
		{500, `{"error":"connect ECONNREFUSED 127.0.0.1:8000"}`, "waits"},
		{500, `{"error":{"message":"Failed to parse input at pos 12: <tool_call>{\"q\": \"connection error\""}}`, "output"},
		{500, `{"error":{"message":"internal error: assertion failed"}}`, ""},

		{401, ``, "account"}, {402, ``, "account"}, {403, ``, "account"},
		{403, `{"error":{"message":"your input was flagged by moderation"}}`, ""},
		{429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, "account"},
		{429, `{"error":{"message":"You exceeded your current quota. Please retry in 22.5s."}}`, "waits"},
		{400, `{"error":{"message":"Your credit balance is too low"}}`, "account"},

		{500, `{"error":{"message":"Failed to parse input at pos 12: <tool_call>{\"name\""}}`, "output"},
		{400, `{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"a context of tokens"}}`, "output"},
		{500, `{"error":{"message":"error parsing tool call: raw='{\"q\": '"}}`, "output"},
		{400, `{"error":{"message":"Failed to parse tool call arguments as JSON"}}`, ""},   // of the request
		{400, `{"error":{"message":"Failed to parse messages: unsupported content"}}`, ""}, // of the request
	} {
		p := newTestPool(t, Config{URLs: []string{"http://models.test/v1"}, OverflowWords: []string{"Your OWN words"}})
		f := p.replyFault(&http.Response{StatusCode: c.status, Header: http.Header{}}, []byte(c.body), nil)
		var got []string
		for name, is := range map[string]bool{"overflow": f.Overflow, "length": f.Length && !f.Overflow, "output": f.RefusedOutput, "waits": f.Waits(), "account": f.Kind == Auth} {
			if is {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d %s: %q, want %q", c.status, c.body, got, c.want)
		}
	}
}

func TestRepliesThatAreNone(t *testing.T) {
	t.Parallel()
	for body, isReply := range map[string]bool{
		`{"choices":[{"message":{"content":"upstream error: 503 Service Unavailable"},"finish_reason":"stop"}]}`:                    false,
		`{"choices":[{"message":{"content":"Error code: 429 - Too Many Requests"},"finish_reason":"stop"}]}`:                        false,
		`{"choices":[{"message":{"content":null},"finish_reason":null}],"usage":{"completion_tokens":0}}`:                           false,
		`{"choices":[{"message":{"content":null},"finish_reason":"stop"}],"usage":{"completion_tokens":0}}`:                         true,
		`{"choices":[{"message":{"content":null},"finish_reason":null}]}`:                                                           true,
		`{"choices":[{"message":{"content":"It costs 503 pesos, Service included."},"finish_reason":"stop"}]}`:                      true,
		`{"choices":[{"message":{"content":"Model 404 Not Found Lamp, by Error."},"finish_reason":"stop"}]}`:                        false, // the price of the rule
		`{"choices":[{"message":{"content":"` + strings.Repeat("long ", 80) + `503 Service Unavailable"},"finish_reason":"stop"}]}`: true,
	} {
		if _, err := ReadTurn([]byte(body)); (err == nil) != isReply {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestPatienceBySymptom holds that the client waits within one limit for a server that a router
// reports as missing or that limits the rate. A single request that is never answered fails by
// itself.
func TestPatienceBySymptom(t *testing.T) {
	t.Parallel()
	const unreachable, account = "unreachable", "account"
	elapsed := func(s time.Time) time.Duration { return time.Since(s) }
	for _, c := range []struct {
		name string
		// status returns the status of request n at a time since the start.
		status func(n int64, elapsed time.Duration, body string) int
		want   string
	}{
		{"away for 20 s", func(_ int64, elapsed time.Duration, _ string) int {
			if elapsed < 20*time.Second {
				return 503
			}
			return 200
		}, ""},
		{"two of three limited", func(n int64, _ time.Duration, _ string) int {
			if n%3 != 0 {
				return 429
			}
			return 200
		}, ""},
		{"away for good", func(int64, time.Duration, string) int { return 502 }, unreachable},
		{"one request alone", func(_ int64, _ time.Duration, body string) int {
			if body == "{}" {
				return 502
			}
			return 200
		}, "http_502"},
		{"always 500", func(int64, time.Duration, string) int { return 500 }, "http_500"},
		{"key expired", func(int64, time.Duration, string) int { return 401 }, account},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var n atomic.Int64
				_, memory := memnet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					w.WriteHeader(c.status(n.Add(1), elapsed(start), string(body)))
					_, _ = w.Write([]byte(good))
				}))
				p := newTestPool(t, Config{URLs: []string{"http://models.test/v1"}, Retries: 2, Patience: time.Minute, Transport: memory})
				others := make(chan struct{})
				go func() {
					defer close(others)
					for range 20 {
						_, _, _ = p.Chat(t.Context(), Body{[]byte(`{"other":1}`)})
						time.Sleep(5 * time.Second)
					}
				}()
				_, _, err := p.Chat(t.Context(), Body{[]byte("{}")})
				got := ""
				fault, is := errors.AsType[*Fault](err)
				switch {
				case errors.Is(err, ErrUnreachable):
					got = unreachable
				case errors.Is(err, ErrAccount):
					got = account
				case is:
					got = fault.Reason
				}
				if waited := elapsed(start); got != c.want || waited > 80*time.Second {
					t.Errorf("%q (%v) after %v, want %q", got, err, waited, c.want)
				}
				<-others
			})
		})
	}
}
