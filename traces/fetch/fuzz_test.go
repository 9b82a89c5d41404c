package fetch_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/traces/fetch"
)

// replies answers every request with one of two texts, of which one is for attempts.
type replies struct {
	list, attempt string
	requests      int
}

func (s *replies) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests++
	text := s.list
	if strings.Contains(r.URL.Path, "/episode-results/") || !strings.HasPrefix(r.URL.Path, "/v1/public/") {
		text = s.attempt
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// FuzzRepliesAreADayOrAnError holds for any replies of the API that a fetch ends, sends a number of
// requests that the length of the list limits, and writes JSON below its folder only.
func FuzzRepliesAreADayOrAnError(f *testing.F) {
	a := &api{}
	for _, path := range []string{"races/history", "races/" + race, "agent-versions/agent-0", "agent-versions/agent-0/runs", "evaluation-runs/agent-0-run-0", "suites/4/problems"} {
		list, err := json.Marshal(a.answer(path))
		if err != nil {
			f.Fatal(err)
		}
		attempt, err := json.Marshal(a.answer("episode-results/agent-0-run-0-e1"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(list), string(attempt), uint8(len(path)))
	}
	f.Add(`{"total":999999999,"races":[{"race_id":"a","race_completed_at":"2026-11-02T00:00:00Z"}]}`, `[]`, uint8(3))
	f.Add(`{"agent_version_id":"a","eval_run_id":"../../r","items":{"detail_released":true,"items":[{"item_kind":"envpack_episode","episode_result_id":"../x"}]}}`, `{}`, uint8(2))
	f.Fuzz(func(t *testing.T, list, attempt string, kind uint8) {
		out := filepath.Join(t.TempDir(), "days")
		server := &replies{list: list, attempt: attempt}
		query := []fetch.Query{{Race: race}, {Agent: "a"}, {Run: "r"}, {Since: time.Unix(1, 0)}}[kind%4]
		synctest.Test(t, func(t *testing.T) {
			_ = (&fetch.Fetch{
				Client: &fetch.Client{Base: "http://models.test", HTTP: &http.Client{Transport: server}, PerMinute: 90, Logf: func(string, ...any) {}},
				Query:  query, Out: out, Network: "local",
			}).Run(t.Context())
		})
		if limit := 2000 + 10*len(list); server.requests > limit {
			t.Errorf("%d requests for lists of %d bytes", server.requests, len(list))
		}
		if others, err := os.ReadDir(filepath.Dir(out)); err != nil || len(others) > 1 {
			t.Errorf("got the files %v outside of its folder, want none, %v", others, err)
		}
		if _, err := os.Stat(out); err != nil {
			return
		}
		for path, text := range files(t, out) {
			for line := range strings.Lines(text) {
				if !json.Valid([]byte(line)) && !json.Valid([]byte(text)) {
					t.Errorf("%s holds no JSON: %q", path, text)
				}
			}
		}
	})
}
