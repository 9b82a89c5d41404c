package student

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trajectory-arena/arena/internal/script"
)

// TestRepliesWithoutACountAreCounted holds that a server which counts some replies only has partial
// totals, and that the summary has the number of replies without a count.
func TestRepliesWithoutACountAreCounted(t *testing.T) {
	t.Parallel()
	server := &script.Server{Dialect: "oro", Plan: func(string, int64) script.Plan { return script.Plan{search, recommend, terminate} }}
	var requests atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := httptest.NewRecorder()
		server.ServeHTTP(reply, r)
		text := reply.Body.String()
		if requests.Add(1) == 2 {
			text = strings.Replace(text, `"usage"`, `"spent"`, 1)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}))
	defer web.Close()
	run := newRun(t, openShop(t), problemFile(t, []string{"one"}), web.URL, 1, filepath.Join(t.TempDir(), "run"))
	s, err := run.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Turns != 3 || s.Tokens.Prompt == nil || *s.Tokens.Prompt != 200 || s.Tokens.Uncounted != 1 {
		t.Errorf("%d turns, tokens %+v", s.Turns, s.Tokens)
	}
}
