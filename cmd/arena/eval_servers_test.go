package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/loopback"
	"github.com/trajectory-arena/arena/internal/script"
)

// solving returns the handler of a student that solves all problems of evalInputs.
func solving() http.Handler {
	act := func(name, arguments string) script.Act {
		return script.Act{Content: "<think>Next.</think>", Calls: []script.Call{{Name: name, Arguments: arguments}}}
	}
	return &script.Server{Dialect: "native", Plan: func(string, int64) script.Plan {
		return script.Plan{act("find_product", `{"q":"lamp"}`), act("recommend_product", `{"product_ids":"700"}`), act("terminate", "{}")}
	}}
}

// saying returns a handler that answers every completion with a status and a text.
func saying(status int, words string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"data":[{"id":"qwen","owned_by":"vllm"},{"id":"qwen-tuned"}]}`)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, words)
	})
}

// unless returns a handler that answers with refusal where refuses reports true for the body of a
// request, and with other for the rest.
func unless(refuses func(body string) bool, refusal, other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if refuses(string(body)) {
			refusal.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}

// first returns a handler that answers a number of requests with one handler, and the others with
// another.
func first(n int64, with, later http.Handler) http.Handler {
	var requests atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") && requests.Add(1) > n {
			later.ServeHTTP(w, r)
			return
		}
		with.ServeHTTP(w, r)
	})
}

// streaming returns a handler that sends the answers of another handler as streams.
func streaming(other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := httptest.NewRecorder()
		other.ServeHTTP(reply, r)
		message := gjson.GetBytes(reply.Body.Bytes(), "choices.0.message")
		calls := ""
		for i, c := range message.Get("tool_calls").Array() {
			calls = fmt.Sprintf(`,"tool_calls":[{"index":%d,%s]`, i, c.Raw[1:])
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s%s}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
			message.Get("content").Raw, calls)
	})
}

const (
	vllmRefusal = `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}}`
	tooLong     = `{"error":{"message":"This model's maximum context length is 512 tokens. However, you requested 1840 tokens."}}`
)

// TestServersAreNamedInTheirOwnWords plays the same two problems on servers of every common kind.
// No failed run may end with scores of zero.
func TestServersAreNamedInTheirOwnWords(t *testing.T) {
	t.Parallel()
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the client is not noticed
		<-r.Context().Done()
	})
	for name, c := range map[string]struct {
		server http.Handler
		args   string
		code   int
		words  []string
	}{
		"whole": {server: solving()},
		"slow": {server: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(50 * time.Millisecond)
			solving().ServeHTTP(w, r)
		})},
		"streams unasked":      {server: streaming(solving())},
		"streams alone":        {server: unless(func(b string) bool { return strings.Contains(b, `"stream":false`) }, saying(400, `{"error":{"message":"stream must be true"}}`), streaming(solving()))},
		"no max_tokens":        {server: unless(func(b string) bool { return strings.Contains(b, `"max_tokens"`) }, saying(400, `{"error":{"message":"Unsupported parameter: 'max_tokens'"}}`), solving())},
		"loading":              {server: first(4, saying(503, `{"error":{"message":"Loading model"}}`), solving()), args: "--retries 0", words: []string{"waiting for http", "Loading model"}},
		"wrong key":            {server: saying(401, `{"error":{"message":"Incorrect API key provided"}}`), code: 1, words: []string{"(status 401): Incorrect API key provided", "--api-key-env"}},
		"forbidden":            {server: saying(403, "no entry"), code: 1, words: []string{"(status 403): no entry", "--api-key-env"}},
		"wrong model":          {server: saying(404, `{"error":{"message":"The model m does not exist."}}`), code: 1, words: []string{"The model m does not exist.", "it serves qwen, qwen-tuned; name one with --model"}},
		"wrong address":        {server: http.NotFoundHandler(), code: 1, words: []string{"(status 404): 404 page not found", "ending in /v1"}},
		"vLLM without parser":  {server: saying(400, vllmRefusal), code: 1, words: []string{`"auto" tool choice requires`, "--enable-auto-tool-choice --tool-call-parser NAME", "--dialect hermes"}},
		"llama without jinja":  {server: saying(500, `{"error":{"message":"tools param requires --jinja flag"}}`), args: "--retries 0", code: 1, words: []string{"requires --jinja flag", "start llama-server with --jinja"}},
		"takes no tools":       {server: unless(func(b string) bool { return strings.Contains(b, `"tools"`) }, saying(422, "tools are not supported"), solving()), code: 1, words: []string{"tools are not supported", "SGLang: --tool-call-parser NAME"}},
		"in words then":        {server: unless(func(b string) bool { return strings.Contains(b, `"tools"`) }, saying(422, "tools are not supported"), &script.Server{Dialect: "hermes", Plan: solving().(*script.Server).Plan}), args: "--dialect hermes"},
		"base model":           {server: saying(400, "default chat template is no longer allowed, so you must provide a chat template"), code: 1, words: []string{"--chat-template FILE"}},
		"short context":        {server: saying(400, tooLong), code: 1, words: []string{"maximum context length is 512", "--max-model-len"}},
		"another program":      {server: saying(200, "<html>It works!</html>"), args: "--retries 0", code: 1, words: []string{"what is no chat completion", "not JSON"}},
		"always 500":           {server: saying(500, "CUDA error: device-side assert"), args: "--retries 0", code: 1, words: []string{"(status 500): CUDA error"}},
		"always busy":          {server: saying(429, "slow down"), args: "--retries 0 --wait-for-server 1s", code: 1, words: []string{"to answer, for up to 1s (--wait-for-server)", "(status 429): slow down"}},
		"hangs":                {server: silent, args: "--retries 0 --timeout 200ms", code: 1, words: []string{"no reply within the time-out"}},
		"breaks in the middle": {server: first(1, solving(), saying(500, "CUDA out of memory")), args: "--retries 0", code: 3, words: []string{"no result     nothing was scored: 2 of 2", "2 http_500: CUDA out of memory"}},
		"loses the key":        {server: first(4, solving(), saying(401, "the key has expired")), args: "--concurrency 1", code: 1, words: []string{"the run is not finished", "(status 401): the key has expired", "renew the key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(c.server)
			defer web.Close()
			run, args := filepath.Join(t.TempDir(), "run"), strings.Fields(c.args)
			code, _, words := arenaRun(append(asking(t, web.URL, run), args...)...)
			if code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, words)
			}
			for _, want := range c.words {
				if !strings.Contains(words, want) {
					t.Errorf("%q is not in %s", want, words)
				}
			}
			summary, err := os.ReadFile(filepath.Join(run, "summary.json"))
			if (err == nil) != (code != cli.ExitFailure) {
				t.Errorf("exit %d, summary: %v", code, err)
			}
			s := gjson.ParseBytes(summary)
			missesSuccesses := code == cli.ExitOK && s.Get("successes").Int() != 2
			hasRateOfNone := err == nil && s.Get("scored").Int() == 0 && s.Get("asr_all").Type != gjson.Null
			if missesSuccesses || hasRateOfNone {
				t.Errorf("summary %s", summary)
			}
		})
	}
}

// asking is a command line that evaluates two problems at a server.
func asking(t *testing.T, url, run string) []string {
	t.Helper()
	catalog, problems := evalInputs(t, "one", "two")
	return []string{"eval", "--endpoint", url + "/v1", "--model", "m", "--problems", problems, "--catalog", catalog, "-o", run}
}

// TestServerIsUnreachable checks that a run without a reachable server writes no result, and that a run
// waits for a server that starts late.
func TestServerIsUnreachable(t *testing.T) {
	t.Parallel()
	address := loopback.Free(t)
	run := filepath.Join(t.TempDir(), "run")
	code, _, words := arenaRun(append(asking(t, "http://"+address, run), "--wait-for-server", "500ms", "--retries", "0")...)
	if _, err := os.Stat(filepath.Join(run, "summary.json")); code != cli.ExitFailure || err == nil || !strings.Contains(words, "connection refused") || !strings.Contains(words, "--wait-for-server") {
		t.Errorf("exit %d: %s", code, words)
	}
	late := 700 * time.Millisecond
	if longtest.Tests {
		late = 12 * time.Second // a pool drops a server that is silent for ten
	}
	time.AfterFunc(late, func() { listenAt(t, address, solving()) })
	if code, _, words = arenaRun(append(asking(t, "http://"+address, filepath.Join(t.TempDir(), "run")), "--retries", "0")...); code != cli.ExitOK || !strings.Contains(words, "waiting for http://"+address) {
		t.Errorf("late: exit %d: %s", code, words)
	}
}

// listenAt serves at an address until the test ends or the server is closed.
func listenAt(t *testing.T, address string, h http.Handler) *http.Server {
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Error(err)
		return nil
	}
	s := &http.Server{Handler: h}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return s
}

// TestServerRestartsDuringTheRun kills the server half-way through a run. The run remains
// unfinished if the server is not restarted in time, and continues if it is. In both cases the
// final results equal those of an undisturbed run.
func TestServerRestartsDuringTheRun(t *testing.T) {
	t.Parallel()
	address := loopback.Free(t)
	dir := t.TempDir()
	args := func(run, patience string) []string {
		return append(asking(t, "http://"+address, filepath.Join(dir, run)), "-k", "8", "--concurrency", "2", "--wait-for-server", patience)
	}
	var server atomic.Pointer[http.Server]
	dying := func(after int64, act func()) http.Handler {
		var requests atomic.Int64
		good := solving()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/completions") && requests.Add(1) == after {
				server.Load().Close()
				act()
			}
			good.ServeHTTP(w, r)
		})
	}
	server.Store(listenAt(t, address, dying(9, func() {})))
	if code, _, words := arenaRun(args("killed", "1s")...); code != cli.ExitFailure || !strings.Contains(words, "the run is not finished: no server answers") || !strings.Contains(words, "start the server again") {
		t.Errorf("exit %d: %s", code, words)
	}
	if _, err := os.Stat(filepath.Join(dir, "killed", "summary.json")); err == nil {
		t.Error("a dead server finished a run")
	}
	server.Store(listenAt(t, address, dying(13, func() {
		time.AfterFunc(1500*time.Millisecond, func() { server.Store(listenAt(t, address, solving())) })
	})))
	for _, run := range []string{"killed", "alone"} {
		if code, _, words := arenaRun(args(run, "1m")...); code != cli.ExitOK {
			t.Fatalf("%s: exit %d: %s", run, code, words)
		}
	}
	for _, name := range []string{"summary.json", "results.jsonl", "results.parquet"} {
		got, err := os.ReadFile(filepath.Join(dir, "killed", name))
		want, errWant := os.ReadFile(filepath.Join(dir, "alone", name))
		if got, want = bytes.ReplaceAll(got, []byte("killed"), []byte("alone")), bytes.ReplaceAll(want, []byte("killed"), []byte("alone")); err != nil || errWant != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: %v, %v", name, err, errWant)
		}
	}
}
