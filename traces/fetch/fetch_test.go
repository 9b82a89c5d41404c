package fetch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/internal/memnet"
	"github.com/trajectory-arena/arena/traces"
	"github.com/trajectory-arena/arena/traces/fetch"
)

const (
	race   = "race-1"
	agents = 3
	runs   = 2
	each   = 5
)

// api is the subnet's server as oro-sdk's models have it, in memory.
type api struct {
	// asked are the times of all requests; paths counts them.
	requests []time.Time
	paths    map[string]int
	// fault answers a request instead of the server if it returns true.
	fault func(path string, n int, w http.ResponseWriter) bool
	score float64
	kind  string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.requests = append(a.requests, time.Now())
	if a.paths == nil {
		a.paths = map[string]int{}
	}
	body, _ := io.ReadAll(r.Body)
	path := strings.TrimPrefix(r.URL.Path, "/v1/public/")
	if path == "artifacts/download-url" {
		var ask map[string]string
		_ = json.Unmarshal(body, &ask)
		path += "/" + ask["eval_run_id"] + "/" + ask["problem_id"]
	}
	a.paths[path]++
	if a.fault != nil && a.fault(path, a.paths[path], w) {
		return
	}
	if answer := a.answer(path); answer != nil {
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	refuse(w, http.StatusNotFound, "ARTIFACT_NOT_FOUND")
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": "no", "error_code": code})
}

type object = map[string]any

func (a *api) answer(path string) any {
	part := strings.Split(path, "/")
	switch {
	case path == "races/history":
		return object{"total": 2, "limit": 100, "offset": 0, "races": []object{
			{"race_id": "old", "race_completed_at": "2026-10-01T00:00:00Z"}, {"race_id": race, "race_completed_at": "2026-11-02T00:00:00Z"}}}
	case path == "races/"+race:
		var q []object
		for i := range agents {
			q = append(q, object{"agent_version_id": fmt.Sprintf("agent-%d", i), "miner_hotkey": fmt.Sprintf("5Hot%d", i)})
		}
		return object{"race": object{"race_id": race}, "qualifiers": q}
	case part[0] == "agent-versions" && len(part) == 2:
		return object{"miner_hotkey": "5Hot0"}
	case part[0] == "agent-versions" && part[2] == "problems":
		return a.problemsOf(part[1])
	case part[0] == "agent-versions":
		return a.runsOf(part[1])
	case part[0] == "evaluation-runs":
		var items []object
		for i := range each {
			items = append(items, object{"item_id": fmt.Sprintf("p-%d", i), "item_kind": a.itemKind(), "score": 0.5, "episode_result_id": fmt.Sprintf("%s-e%d", part[1], i)})
		}
		return object{"eval_run_id": part[1], "agent_version_id": "agent-0", "execution_kind": "envpack", "items": object{"detail_released": true, "items": items}}
	case part[0] == "episode-results":
		return object{"episode_result_id": part[1], "task_id": part[1][strings.LastIndex(part[1], "-")+1:], "family": "ranking", "phase": "RACE", "outcome": "completed",
			"query": "Wish " + part[1], "passed": true, "paid_reward": 1, "interaction": []object{{"step_index": 0, "calls": []object{{"call_id": "c", "tool_name": "search", "args": object{"q": "x"}, "observation": object{}}}}}}
	case part[0] == "artifacts":
		return object{"download_url": "http://models.test/store/" + part[2] + "/" + part[3], "expires_at": "2026-11-02T00:00:00Z"}
	case strings.HasPrefix(path, "/store/"):
		return []object{{"completion": object{"message": object{"think": "t"}}, "extra_info": object{"step": 1, "query": "Q", "problem_id": part[3]}}}
	case part[0] == "suites":
		return object{"suite": object{"suite_id": 4}, "problems": []object{{"problem_id": "p-0", "suite_id": 4, "metadata": object{"query": "Q", "reward": object{"product_id": "1"}}}}}
	}
	return nil
}

func (a *api) itemKind() string {
	if a.kind != "" {
		return a.kind
	}
	return "envpack_episode"
}

func (a *api) runsOf(agent string) []object {
	var objects []object
	for i := range runs {
		objects = append(objects, object{"eval_run_id": fmt.Sprintf("%s-run-%d", agent, i), "agent_version_id": agent, "suite_id": 4, "validator_hotkey": "5Val", "status": "SUCCESS",
			"claimed_at": "2026-11-01T00:00:00Z", "is_included": true, "validator_score": a.score, "reasoning_quality": 0.7, "reasoning_coefficient": 0.9, "phase": "RACE", "race_id": race,
			"last_heartbeat_at": time.Now()})
	}
	return append(objects, object{"eval_run_id": agent + "-other", "agent_version_id": agent, "suite_id": 4, "claimed_at": "x", "race_id": "another"})
}

// problemsOf returns an agent's problems with the validators' findings on them, run by run.
func (a *api) problemsOf(agent string) object {
	var objects []object
	for i := range each {
		var results []object
		for run := range runs {
			results = append(results, object{"eval_run_id": fmt.Sprintf("%s-run-%d", agent, run), "validator_hotkey": "5Val", "status": "SUCCESS", "score": 0.5,
				"reasoning_score": float64(i)/10 + float64(run)/100, "score_components": object{"gt": i}})
		}
		objects = append(objects, object{"problem_id": fmt.Sprintf("p-%d", i), "category": "Shop", "validator_results": results})
	}
	return object{"agent_version_id": agent, "problems": objects}
}

// get fetches with the query into out and returns the printed text.
func get(t *testing.T, ctx context.Context, a *api, out string, change func(*fetch.Fetch)) (string, error) {
	t.Helper()
	_, network := memnet.Serve(t, a)
	var stderr strings.Builder
	f := fetch.Fetch{
		Client: &fetch.Client{Base: "http://models.test", HTTP: &http.Client{Transport: network}, PerMinute: 90, Logf: func(format string, v ...any) { fmt.Fprintf(&stderr, format+"\n", v...) }},
		Query:  fetch.Query{Race: race}, Out: out, Network: "local",
	}
	if change != nil {
		change(&f)
	}
	err := f.Run(ctx)
	network.CloseIdleConnections()
	return stderr.String(), err
}

// files are those of a folder by their path, without manifests.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != fetch.ManifestName {
			text, bad := os.ReadFile(path)
			files[strings.TrimPrefix(path, dir)] = string(text)
			err = bad
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func counts(t *testing.T, dir string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, race, fetch.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Counts map[string]int }
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m.Counts
}

func TestARaceIsWrittenAsADay(t *testing.T) {
	out := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := &api{score: 0.5}
		output, err := get(t, t.Context(), a, out, nil)
		if err != nil || !strings.Contains(output, "30 attempts to fetch: 30 requests (one an episode, two a problem), about 20s at 90 a minute") {
			t.Errorf("%v, printed %s", err, output)
		}
		again := &api{score: 0.5}
		if _, err := get(t, t.Context(), again, out, nil); err != nil || len(again.requests) != 1+agents {
			t.Errorf("asked again: %v, %v", err, again.paths)
		}
		changed := &api{score: 0.25}
		if _, err := get(t, t.Context(), changed, out, nil); err != nil || counts(t, out)["changed"] != agents*runs {
			t.Errorf("a run that changed: %v, %v", err, counts(t, out))
		}
		paced(t, a.requests)
	})
	ins, err := traces.Discover(filepath.Join(out, race))
	if err != nil || len(ins) != agents*runs*each {
		t.Fatalf("%d inputs, %v", len(ins), err)
	}
	input := ins[0]
	if err = input.Hash(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = traces.Read(t.Context(), input, traces.Options{Limits: traces.DefaultLimits()}, func(it traces.Item) error {
		if tr := it.Trace; tr == nil || tr.ID != "agent-0-run-0/e0" || tr.Agent.Hotkey != "5Hot0" || tr.Agent.VersionID != "agent-0" || !tr.Ruling.Success {
			t.Errorf("read as %+v", it)
		}
		return nil
	})
	if err != nil || input.Meta.Network != "local" || *input.Meta.Quality != 0.7 {
		t.Errorf("%v, run.json %+v", err, input.Meta)
	}
}

// paced checks that no minute has more requests than the rate allows.
func paced(t *testing.T, requests []time.Time) {
	t.Helper()
	for i := 90; i < len(requests); i++ {
		if requests[i].Sub(requests[i-90]) < time.Minute {
			t.Fatalf("requests %d to %d were sent within %s", i-90, i, requests[i].Sub(requests[i-90]))
		}
	}
}

// TestAKilledFetchResumes stops a fetch after more and more requests: stored answers are never
// requested again, the files are those of an uninterrupted run, and all runs together keep the
// pace.
func TestAKilledFetchResumes(t *testing.T) {
	fullDir := t.TempDir()
	out := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		if _, err := get(t, t.Context(), &api{}, fullDir, nil); err != nil {
			t.Fatal(err)
		}
		a := &api{}
		kills := 0
		for stop := 3; ; stop++ {
			ctx, cancel := context.WithCancel(t.Context())
			start := len(a.requests)
			a.fault = func(string, int, http.ResponseWriter) bool {
				if len(a.requests)-start >= stop {
					cancel()
					return true
				}
				return false
			}
			_, err := get(t, ctx, a, out, nil)
			cancel()
			if err == nil {
				break
			}
			kills++
		}
		if kills < 10 {
			t.Errorf("killed %d times", kills)
		}
		again := 0
		for path, n := range a.paths {
			if strings.HasPrefix(path, "episode-results/") && n > 1 {
				again++
			}
		}
		if again > kills { // the request under way when the run was stopped was not finished
			t.Errorf("%d episodes asked for again, %d kills", again, kills)
		}
		paced(t, a.requests)
	})
	want := files(t, fullDir)
	got := files(t, out)
	if len(want) != len(got) || len(want) != agents*runs*(each+1) {
		t.Fatalf("%d files, want %d of an uninterrupted run", len(got), len(want))
	}
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s differs", path)
		}
	}
}

// TestNothingIsSkippedInSilence checks that the manifest has the reason of every refusal.
func TestNothingIsSkippedInSilence(t *testing.T) {
	for _, c := range []struct {
		name, state string
		legacy      bool
		fault       func(path string, n int, w http.ResponseWriter) bool
	}{
		{name: "embargo", state: "embargo", legacy: true, fault: on("artifacts/", 99, func(w http.ResponseWriter) { refuse(w, 403, "RACE_IN_FLIGHT") })},
		{name: "not released", state: "not_released", legacy: true, fault: on("artifacts/", 99, func(w http.ResponseWriter) { refuse(w, 404, "ARTIFACT_NOT_RELEASED") })},
		{name: "expired for good", state: "expired_address", legacy: true, fault: on("/store/", 99, func(w http.ResponseWriter) { w.WriteHeader(403) })},
		{name: "expired once", state: "fetched", legacy: true, fault: on("/store/", 1, func(w http.ResponseWriter) { w.WriteHeader(403) })},
		{name: "missing", state: "not_found", fault: on("episode-results/", 99, func(w http.ResponseWriter) { refuse(w, 404, "ARTIFACT_NOT_FOUND") })},
		{name: "another's", state: "damaged", fault: on("episode-results/", 99, func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"episode_result_id":"x"}`) })},
		{name: "no JSON", state: "damaged", fault: on("episode-results/", 99, func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"episode_`) })},
		{name: "unknown", state: "refused", fault: on("episode-results/", 99, func(w http.ResponseWriter) { w.WriteHeader(418) })},
		{name: "moved", state: "refused", fault: on("episode-results/", 99, func(w http.ResponseWriter) { w.Header().Set("Location", "http://evil.test/"); w.WriteHeader(302) })},
		{name: "too fast", state: "fetched", fault: on("episode-results/", 2, func(w http.ResponseWriter) { w.Header().Set("Retry-After", "7"); refuse(w, 429, "RATE_LIMIT_EXCEEDED") })},
		{name: "cut body", state: "fetched", fault: on("episode-results/", 1, func(w http.ResponseWriter) { w.Header().Set("Content-Length", "900"); _, _ = io.WriteString(w, `{"a`) })},
		{name: "server down", state: "fetched", fault: on("episode-results/", 3, func(w http.ResponseWriter) { w.WriteHeader(503) })},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				a := &api{fault: c.fault}
				if c.legacy {
					a.kind = "legacy_problem"
				}
				stay := func(f *fetch.Fetch) {
					f.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
				}
				output, err := get(t, t.Context(), a, out, stay)
				if got := counts(t, out); err != nil || got[c.state] != agents*runs*each {
					t.Errorf("%v, %v, printed %s", err, got, output)
				}
				paced(t, a.requests)
				isRetried := slices.Contains([]string{"too fast", "cut body", "server down"}, c.name)
				if strings.Contains(output, "asked again in ") != isRetried {
					t.Errorf("printed %s", output)
				}
			})
		})
	}
}

// short lets a reply have 64 KiB.
type short struct{ http.RoundTripper }

func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, 64<<10)
	}
	return res, err
}

// TestABadAnswerStopsNoFetch checks that an answer that no repetition would change (above the limit,
// or not of its type) is requested once, and concerns only its attempt or run.
func TestABadAnswerStopsNoFetch(t *testing.T) {
	for _, c := range []struct {
		path, answer string
		lost         int
	}{
		{"episode-results/agent-0-run-0-e1/feedback", strings.Repeat("x", 65<<10), 1},
		{"evaluation-runs/agent-0-run-0", strings.Repeat("x", 65<<10), each},
		{"evaluation-runs/agent-0-run-0", `{"items":{"items":[{"item_id":7}]}}`, each},
		{"evaluation-runs/agent-0-run-0", `[]`, each},
		{"artifacts/download-url/agent-0-run-0/p-1", `{"download_url":7}`, 1},
		{"artifacts/download-url/agent-0-run-0/p-1", `{"download_url":"http://[::1"}`, 1},
		{"agent-versions/agent-2/runs", `[{"eval_run_id":"agent-2/../..","suite_id":4,"race_id":"race-1"}]`, runs * each},
	} {
		out := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			a := &api{fault: on(c.path, 99, func(w http.ResponseWriter) { _, _ = io.WriteString(w, c.answer) })}
			if strings.HasPrefix(c.path, "artifacts") {
				a.kind = "legacy_problem"
			}
			_, err := get(t, t.Context(), a, out, func(f *fetch.Fetch) { f.HTTP.Transport = short{f.HTTP.Transport} })
			if got := counts(t, out); err != nil || got["damaged"] != 1 || got["fetched"] != agents*runs*each-c.lost {
				t.Errorf("%s answers %.60s: %v, %v", c.path, c.answer, got, err)
			}
			if n := a.paths[c.path]; n != 1 {
				t.Errorf("%s was asked for %d times", c.path, n)
			}
		})
	}
}

// on returns a fault that answers the first requests for a path instead of the server.
func on(prefix string, times int, answer func(http.ResponseWriter)) func(string, int, http.ResponseWriter) bool {
	return func(path string, n int, w http.ResponseWriter) bool {
		if !strings.HasPrefix(path, prefix) || n > times {
			return false
		}
		answer(w)
		return true
	}
}

func TestADryRunFetchesNothing(t *testing.T) {
	out := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := &api{kind: "legacy_problem"}
		output, err := get(t, t.Context(), a, out, func(f *fetch.Fetch) { f.DryRun = true })
		if err != nil || !strings.Contains(output, "60 requests") || len(files(t, out)) > 0 {
			t.Errorf("%v, %v, printed %s", err, files(t, out), output)
		}
	})
}

// TestADryRunChangesNothing fetches runs that are on disk and for which the API returns another
// score now.
func TestADryRunChangesNothing(t *testing.T) {
	out := t.TempDir()
	var before map[string]string
	for i, score := range []float64{0.7, 0.8} {
		synctest.Test(t, func(t *testing.T) {
			dry := func(f *fetch.Fetch) { f.DryRun = i == 1 }
			if output, err := get(t, t.Context(), &api{kind: "legacy_problem", score: score}, out, dry); err != nil {
				t.Fatal(err, output)
			}
		})
		if i == 0 {
			before = files(t, out)
		}
	}
	if len(before) == 0 || !maps.Equal(before, files(t, out)) {
		t.Error("a dry run changed a file")
	}
}

// TestScoresOfProblemsStayWithTheirRun checks that each problem has the scores of its own run, also
// after the run reports another score of its own, which replaces the first.
func TestScoresOfProblemsStayWithTheirRun(t *testing.T) {
	out := t.TempDir()
	for _, score := range []float64{0.7, 0.8} {
		synctest.Test(t, func(t *testing.T) {
			if output, err := get(t, t.Context(), &api{kind: "legacy_problem", score: score}, out, func(*fetch.Fetch) {}); err != nil {
				t.Fatal(err, output)
			}
		})
		ins, err := traces.Discover(filepath.Join(out, race))
		if err != nil || *ins[1].Meta.Score != score || len(ins[1].Meta.Attempts) != each || *ins[1].Meta.Attempts["p-0"].Score != 0.5 || ins[1].Meta.Attempts["p-0"].Category != "shop" {
			t.Fatalf("%v: %+v", err, ins[1].Meta)
		}
		for i, input := range ins {
			run := i / each % runs
			problem := i % each
			got := input.Meta.Attempts[fmt.Sprintf("p-%d", problem)].Quality
			if want := float64(problem)/10 + float64(run)/100; got == nil || *got != want {
				t.Errorf("%s: reasoning %v, want %v", input.Path, got, want)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(out, race, "traces", "run=agent-1-run-1", "run.json"))
	var meta struct {
		Problems map[string]struct {
			Components map[string]int `json:"score_components"`
		} `json:"problem_scores"`
	}
	if err != nil || json.Unmarshal(text, &meta) != nil || meta.Problems["p-3"].Components["gt"] != 3 {
		t.Errorf("%v: %s", err, text)
	}
}

// TestRefusedFindings holds that the attempts of an agent whose list of problems is refused have no
// findings, and that the manifest records it.
func TestRefusedFindings(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		a := &api{kind: "legacy_problem"}
		out := t.TempDir()
		a.fault = func(path string, _ int, w http.ResponseWriter) bool {
			refused := refuses && strings.HasSuffix(path, "/problems")
			if refused {
				refuse(w, http.StatusForbidden, "RACE_IN_FLIGHT")
			}
			return refused
		}
		synctest.Test(t, func(t *testing.T) {
			if output, err := get(t, t.Context(), a, out, nil); err != nil {
				t.Fatal(err, output)
			}
		})
		if n := counts(t, out); n["fetched"] != agents*runs*each {
			t.Errorf("%v", n)
		}
		for i := range agents {
			if n := a.paths[fmt.Sprintf("agent-versions/agent-%d/problems", i)]; n != runs {
				t.Errorf("asked %d times for the problems of agent %d", n, i)
			}
		}
		if n := counts(t, out)["embargo"]; (n > 0) != refuses {
			t.Errorf("%d lists under embargo", n)
		}
	}
}

// TestWhatWasRefusedIsAskedForAgain fetches twice, with one path refused in each fetch: afterwards
// all findings and the problems are on disk, if either fetch received them.
func TestWhatWasRefusedIsAskedForAgain(t *testing.T) {
	for _, refused := range [][]string{
		{"agent-versions/agent-0/problems", "nothing"},
		{"suites/", "nothing"},
		{"artifacts/download-url/agent-0-run-1/p-3", "agent-versions/agent-0/problems"},
	} {
		out := t.TempDir()
		for _, prefix := range refused {
			a := &api{kind: "legacy_problem", fault: on(prefix, 99, func(w http.ResponseWriter) { refuse(w, 403, "RACE_IN_FLIGHT") })}
			synctest.Test(t, func(t *testing.T) {
				if output, err := get(t, t.Context(), a, out, nil); err != nil || (counts(t, out)["embargo"] > 0) != (prefix != "nothing") {
					t.Errorf("%s: %v, %v, printed %s", prefix, err, counts(t, out), output)
				}
			})
		}
		ins, err := traces.Discover(filepath.Join(out, race))
		if err != nil {
			t.Fatal(err)
		}
		for _, input := range ins {
			if f := input.Meta.Attempts["p-2"]; len(input.Meta.Attempts) != each || f.Quality == nil {
				t.Errorf("%v refused: %s lacks findings", refused, input.Path)
			}
		}
		if _, err := os.Stat(filepath.Join(out, race, "problems.jsonl")); err != nil || len(ins) != agents*runs*each {
			t.Errorf("%v refused: %d attempts, %v", refused, len(ins), err)
		}
	}
}

// TestPastRacesAreAllListed lists 120 past races of a server that returns at most 50 at once. Only
// the last is fetched, and a document about it has all. A list that is not known to be whole is an
// error.
func TestPastRacesAreAllListed(t *testing.T) {
	pages := func(races int, total string) func(string, int, http.ResponseWriter) bool {
		return func(path string, n int, w http.ResponseWriter) bool {
			switch {
			case strings.HasPrefix(path, "races/"+race+"/"):
				_, _ = io.WriteString(w, "{}")
			case path == "races/history":
				var page []string
				for i := 50 * (n - 1); i < min(50*n, races); i++ {
					page = append(page, fmt.Sprintf(`{"race_id":"old-%d","race_completed_at":"2026-10-01T00:00:00Z"}`, i))
				}
				text := "[" + strings.Join(page, ",") + "]"
				_, _ = io.WriteString(w, `{"races":`+strings.Replace(text, `"old-119","race_completed_at":"2026-10`, `"race-1","race_completed_at":"2026-11`, 1)+total+`}`)
			default:
				return false
			}
			return true
		}
	}
	for _, c := range []struct {
		races int
		total string
		fails bool
	}{{120, `,"total":120`, false}, {120, "", true}, {100, `,"total":120`, true}, {120, `,"total":100000000`, true}} {
		synctest.Test(t, func(t *testing.T) {
			out := t.TempDir()
			since := func(f *fetch.Fetch) { f.Query = fetch.Query{Since: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} }
			_, err := get(t, t.Context(), &api{fault: pages(c.races, c.total)}, out, since)
			if (err != nil) != c.fails || err == nil && counts(t, out)["fetched"] != agents*runs*each {
				t.Errorf("%+v: %v", c, err)
			}
			_, network := memnet.Serve(t, &api{fault: pages(c.races, c.total)})
			client := &fetch.Client{Base: "http://models.test", HTTP: &http.Client{Transport: network}, PerMinute: 90, Logf: t.Logf}
			text, err := client.RaceDocument(t.Context(), race)
			var doc struct {
				History []object
				Total   int `json:"history_total"`
			}
			_ = json.Unmarshal(text, &doc) // empty after an error
			want := 120
			if c.fails {
				want = 0
			}
			if (err != nil) != c.fails || len(doc.History) != want || doc.Total != want {
				t.Errorf("%+v: %v, %d races of %d", c, err, len(doc.History), doc.Total)
			}
			network.CloseIdleConnections()
		})
	}
}

// TestProblemsWithoutMetadataAreNamed downloads a suite in which one problem has no metadata.
func TestProblemsWithoutMetadataAreNamed(t *testing.T) {
	out := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := &api{kind: "legacy_problem", fault: on("suites/", 1, func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"problems":[{"problem_id":"p-0","metadata":{"query":"Q"}},{"problem_id":"p-1"},{"problem_id":"p-2","metadata":null}]}`)
		})}
		if output, err := get(t, t.Context(), a, out, nil); err != nil {
			t.Fatal(err, output)
		}
	})
	text, err := os.ReadFile(filepath.Join(out, race, fetch.ManifestName))
	if err != nil || !strings.Contains(string(text), "2 problems of suite 4 have no metadata") || counts(t, out)["not_found"] != 1 {
		t.Errorf("%v: %v", err, counts(t, out))
	}
}

func TestAQueryNamesItsRuns(t *testing.T) {
	for want, q := range map[int]fetch.Query{
		agents * runs * each: {Since: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		runs * each:          {Agent: "agent-1"},
		each:                 {Run: "agent-0-run-1"},
	} {
		out := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			_, err := get(t, t.Context(), &api{}, out, func(f *fetch.Fetch) { f.Query = q })
			if got := counts(t, out)["fetched"]; err != nil || got != want {
				t.Errorf("%+v: %d, %v", q, got, err)
			}
		})
	}
}
