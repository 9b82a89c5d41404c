package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// requests are the bodies of the requests for completions that a server got.
type requests struct {
	mu     sync.Mutex
	bodies []struct {
		Messages []rows.Msg
		Tools    []json.RawMessage
	}
}

// before returns the address of a server that records requests and passes them to the server at to.
func (q *requests) before(t *testing.T, marker string) string {
	t.Helper()
	target, err := url.Parse(strings.TrimSuffix(marker, "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && strings.HasSuffix(r.URL.Path, "/chat/completions") {
			q.mu.Lock()
			q.bodies = append(q.bodies, struct {
				Messages []rows.Msg
				Tools    []json.RawMessage
			}{})
			err = json.Unmarshal(body, &q.bodies[len(q.bodies)-1])
			q.mu.Unlock()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL + "/v1"
}

// TestEvalAsACorpus checks that the prompts for a student have the form of its corpus. With profile
// text they have the corpus's system prompt and its tags around results; with hf-json they have its
// tools. A folder without the rows and a second system prompt are refused.
func TestEvalAsACorpus(t *testing.T) {
	t.Parallel()
	built := filepath.Join(t.TempDir(), "corpus")
	export := filepath.Join(t.TempDir(), "export")
	buildTestDay(t, built)
	if code, _, words := arenaRun("export", built, "--profile", "hf-json", "--profile", "text", "-o", export, "-q"); code != cli.ExitOK {
		t.Fatal(words)
	}
	source, err := finish.Open(corpus.Disk{}, export)
	if err != nil {
		t.Fatal(err)
	}
	var chosen string
	err = finish.Rows(source, "text", corpus.SplitTrain, func(r *rows.Text) error {
		chosen = strings.Clone(r.Messages[0].Content)
		return nil
	})
	if err != nil || !strings.Contains(chosen, "<tools>") {
		t.Fatalf("%v, the rows show %.100q", err, chosen)
	}

	catalog, problems := evalInputs(t, "one")
	solves := func(string, int64) bool { return true }
	for _, dialect := range []string{"text", "auto"} {
		var q requests
		endpoint := q.before(t, scripted(t, solves))
		args := []string{
			"eval", "--as", export, "--dialect", dialect, "--endpoint", endpoint, "--model", "m",
			"--problems", problems, "--catalog", catalog, "-q", "-o", filepath.Join(t.TempDir(), "run"),
		}
		if code, _, words := arenaRun(args...); code != cli.ExitOK {
			t.Fatalf("%s: exit %d, %s", dialect, code, words)
		}
		last := q.bodies[len(q.bodies)-1]
		isText := dialect == "text"
		if system := last.Messages[0].Content; (system == chosen) != isText || !strings.HasPrefix(chosen, system) {
			t.Errorf("%s: the system prompt is %.200q", dialect, system)
		}
		if isText != (len(last.Tools) == 0) {
			t.Errorf("%s: %d tools were sent", dialect, len(last.Tools))
		}
		if result := last.Messages[3].Content; strings.HasPrefix(result, "<tool_response>\n") != isText {
			t.Errorf("%s: a result is %.60q", dialect, result)
		}
	}

	for name, args := range map[string][]string{
		"no corpus":          {"--as", t.TempDir()},
		"no rows of text":    {"--as", built, "--dialect", "text"},
		"two system prompts": {"--as", export, "--system", problems},
	} {
		args = append(args, "--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--problems", problems, "--catalog", catalog, "-q", "-o", filepath.Join(t.TempDir(), "run"))
		if code, _, words := arenaRun(append([]string{"eval"}, args...)...); code == cli.ExitOK || !strings.Contains(words, "as") {
			t.Errorf("%s: exit %d, %s", name, code, words)
		}
	}
}
