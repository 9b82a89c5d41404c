package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/internal/longtest"
)

const (
	secretKey      = "sk-malice-0123456789abcdef"
	secretPassword = "pass-malice-0123456789"
)

// endless writes a piece for ever.
func endless(head, piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, err := io.WriteString(w, head)
		for err == nil && r.Context().Err() == nil {
			_, err = io.WriteString(w, strings.Repeat(piece, 4096))
		}
	}
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// completion is a chat completion whose message has these fields.
func completion(message string) string {
	return `{"id":"c","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",` + message + `}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
}

// malice returns the handlers of malicious servers by the name of their behaviour.
func malice(elsewhere string) map[string]http.HandlerFunc {
	words := strings.Repeat("lamp ", (4<<20-400)/5)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = io.CopyN(z, emptyLines{}, 64<<20)
	_ = z.Close()
	return map[string]http.HandlerFunc{
		"endless body":    endless("", "x"),
		"endless text":    endless(`{"choices":[{"message":{"content":"`, "lamp "),
		"endless list":    endless(`{"data":[`, `{"index":0,"embedding":[1,2]},`),
		"endless stream":  endless("data: {}\n\n", `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n"),
		"endless metrics": endless("", "vllm:num_requests_running 1\n"),
		"deep":            text(200, strings.Repeat("[", 4<<20-8)),
		"nearly too long": text(200, completion(`"content":"`+words+`","tool_calls":[{"id":"a","type":"function","function":{"name":"find_product","arguments":"{\"q\":\"lamp\"}"}}]`)),
		"grows":           text(200, completion(`"content":"`+words[:200<<10]+`","tool_calls":[{"id":"a","type":"function","function":{"name":"find_product","arguments":"{\"q\":\"lamp\"}"}}]`)),
		"calls":           text(200, completion(`"content":"","tool_calls":[`+strings.TrimSuffix(strings.Repeat(`{"id":"a","function":{"name":"find_product","arguments":"{}"}},`, 60_000), ",")+"]")),
		"one long call":   text(200, completion(`"content":"","tool_calls":[{"id":"a","function":{"name":"find_product","arguments":"{\"q\":\"`+words[:3<<20]+`\"}"}}]`)),
		"promises": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99999999999")
			_, _ = io.WriteString(w, "{")
		},
		"long head": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 8<<20)) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"echo": func(w http.ResponseWriter, r *http.Request) {
			text(400, r.Header.Get("Authorization")+" "+secretKey+" "+secretPassword)(w, r)
		},
		"echo in words": func(w http.ResponseWriter, r *http.Request) {
			text(200, completion(`"content":"`+secretKey+" "+secretPassword+`"`))(w, r)
		},
		"terminal": text(500, "\x1b]0;owned\x07\x1b[2J\u202e"),
		"hangs":    func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
		"bomb": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
		"wrong kinds": text(200, `{"choices":[{"message":{"content":{"a":1},"tool_calls":{"b":2}},"finish_reason":7}],"usage":{"prompt_tokens":1e308,"completion_tokens":-1},"data":[{"index":-1,"embedding":[null]}]}`),
		"retry in three years": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "99999999")
			text(429, "no")(w, r)
		},
	}
}

// cruel are what each client is asked to bear: 52 servers in all, an evaluation with
// 32 rollouts at once, or 12 where the first reply makes each a long one.
var cruel = map[string][]string{
	"eval":       {"endless body", "grows", "nearly too long", "one long call", "calls", "endless text", "endless stream", "deep", "promises", "long head", "elsewhere", "echo", "echo in words", "terminal", "hangs", "bomb", "wrong kinds", "retry in three years"},
	"judge":      {"endless text", "endless stream", "deep", "nearly too long", "long head", "elsewhere", "echo in words", "terminal", "bomb", "wrong kinds"},
	"embeddings": {"endless list", "deep", "promises", "long head", "elsewhere", "echo", "wrong kinds"},
	"telemetry":  {"endless metrics", "deep", "long head", "elsewhere", "terminal", "bomb"},
	"shop":       {"endless body", "elsewhere"},
	"fetch":      {"endless body", "deep", "promises", "long head", "elsewhere", "echo", "terminal", "bomb", "wrong kinds"},
}

// TestMaliciousServers checks for each malicious server that the command ends by itself with a
// known exit code, that the page of a finished run is written, that the command used less than 300
// MB, and that the key and the password of the address are in no file and reached no other host.
// Without the tag long each client runs against one server.
func TestMaliciousServers(t *testing.T) {
	t.Parallel()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("needs Linux, and is left out by -short: it measures processes")
	}
	var strayed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer other.Close()
	kinds := malice(other.URL)
	queries := make([]string, 32)
	for i := range queries {
		queries[i] = fmt.Sprintf("lamp %d", i)
	}
	catalog, problems := evalInputs(t, queries...)
	_, few := evalInputs(t, queries[:12]...)
	var group errgroup.Group
	group.SetLimit(6) // most cases wait for a time limit, so that more of them than processors can run at once
	for _, client := range slices.Sorted(maps.Keys(cruel)) {
		names := cruel[client]
		for _, name := range names[:longtest.Pick(len(names), 1)] {
			group.Go(func() error {
				requests := problems
				if name == "nearly too long" || name == "one long call" { // the run plays four of these at a time
					requests = few
				}
				t.Run(client+"/"+name, func(t *testing.T) { attack(t, client, kinds[name], catalog, requests) })
				return nil
			})
		}
	}
	_ = group.Wait() // a case that fails reports it on its own t
	if n := strayed.Load(); n > 0 {
		t.Errorf("%d requests reached another host, want 0", n)
	}
}

// attack runs a client against one server.
func attack(t *testing.T, client string, bad http.HandlerFunc, catalog, problems string) {
	web := httptest.NewServer(setting(client, bad))
	defer web.Close()
	dir := t.TempDir()
	base := strings.Replace(web.URL, "http://", "http://user:"+secretPassword+"@", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program(t), attacked(client, base, catalog, problems, dir)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "OPENAI_API_KEY="+secretKey, "JUDGE_API_KEY="+secretKey)
	var stderr bytes.Buffer
	c.Stdout = &stderr
	c.Stderr = &stderr
	mb, err := peak(c)
	var exit *exec.ExitError
	code := c.ProcessState.ExitCode()
	isUnstarted := err != nil && !errors.As(err, &exit)
	isKnown := slices.Contains([]int{0, 1, 3}, code)
	if ctx.Err() != nil || isUnstarted || !isKnown || strings.Contains(stderr.String(), "goroutine ") {
		t.Errorf("exit %d, %v: %.2000s", code, err, stderr.String())
	}
	if mb >= 300 {
		t.Errorf("it took %d MB", mb)
	} else {
		t.Logf("exit %d, %d MB", code, mb)
	}
	if strings.ContainsAny(stderr.String(), "\x1b\x07\u202e") {
		t.Errorf("the output has control characters: %.500q", stderr.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "run", "summary.json")); err == nil {
		runPage(t, filepath.Join(dir, "run"))
	}
	secrets := []string{secretKey, secretPassword}
	if client == "judge" || client == "fetch" { // which take no address with a password
		secrets = secrets[:1]
	}
	holdsNoSecret(t, dir, stderr.Bytes(), secrets)
}

// peak runs a command and returns its peak memory in MB. The count of the system for a process
// starts from that of its parent, so peak polls /proc.
func peak(c *exec.Cmd) (mb int, err error) {
	if err = c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid)) // the process has exited
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			var kb int
			_, _ = fmt.Sscan(after, &kb)
			mb = max(mb, kb/1000)
		}
		select {
		case err = <-ended:
			return mb, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// setting is a server of a client that is malicious where it hurts: after the first
// question of an evaluation, and in telemetry's pages alone.
func setting(client string, bad http.HandlerFunc) http.Handler {
	good := solving()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		completions := strings.HasSuffix(r.URL.Path, "/completions")
		switch {
		case client == "telemetry" && completions:
			good.ServeHTTP(w, r)
		case client == "eval" && completions:
			unless(func(b string) bool { return strings.Contains(b, `"max_tokens":1`) }, good, bad).ServeHTTP(w, r)
		case client == "eval":
			http.NotFound(w, r)
		default:
			bad(w, r)
		}
	})
}

// attacked is a client's command line.
func attacked(client, base, catalog, problems, dir string) []string {
	day, _ := filepath.Abs(testDay)
	inDir := func(name string) string { return filepath.Join(dir, name) }
	switch client {
	case "judge":
		return []string{"judge", day, "--judge", "llm", "--endpoint", strings.Replace(base, "user:"+secretPassword+"@", "", 1) + "/v1", "--model", "m", "--concurrency", "32", "--set", "tries=1",
			"--set", "request_timeout=3s", "--ledger", inDir("ledger"), "-o", inDir("judged.jsonl")}
	case "embeddings":
		return []string{"score", day, "--problems", filepath.Join(day, "problems.jsonl"), "--catalog", filepath.Join(day, "catalog.jsonl"), "--embeddings", base + "/v1",
			"--embeddings-key-env", "OPENAI_API_KEY", "--embeddings-tries", "1", "--embeddings-timeout", "3s", "-o", inDir("scores.jsonl")}
	case "shop":
		if os.WriteFile(inDir("calls.jsonl"), []byte(`{"id":"1","tool":"find_product","arguments":{"q":"lamp"}}`+"\n"), 0o600) != nil {
			return nil
		}
		return []string{"shop", "call", inDir("calls.jsonl"), "--remote", base, "-o", inDir("answers.jsonl")}
	case "fetch":
		return []string{"fetch", "--api", strings.Replace(base, "user:"+secretPassword+"@", "", 1), "--run", "01234567-89ab-cdef-0123-456789abcdef", "-o", inDir("days")}
	default:
		args := []string{"eval", "--endpoint", base + "/v1", "--model", "m", "--problems", problems, "--catalog", catalog, "--concurrency", "32", "--retries", "0", "--timeout", "20s",
			"--min-coverage", "0", "-o", inDir("run")}
		if otherBuild() == "" { // which may know no such flag
			args = append(args, "--wait-for-server", "1s")
		}
		return args
	}
}

// holdsNoSecret checks that no file below dir and no output holds one of the secrets.
func holdsNoSecret(t *testing.T, dir string, output []byte, secrets []string) {
	t.Helper()
	look := func(where string, b []byte) {
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds %s", where, secret)
			}
		}
	}
	look("what it said", output)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		look(path, b)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
