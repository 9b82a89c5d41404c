package foreign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheHarnessesOwnFiles reads files that the harnesses' own code wrote
// (bench/interop/write_results.py): three problems, two samples each, one solved, one ended by an
// error.
func TestTheHarnessesOwnFiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"inspect.eval": "inspect_ai colours, mockllm/weak, includes",
		"traces":       "verifiers colours, weak, reward",
		"rows":         "verifiers colours, weak, reward",
		"tau2.json":    "tau2-bench mock, weak, reward",
	} {
		e, err := Read(filepath.Join("testdata", path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got := fmt.Sprintf("%s %s, %s, %s", e.Harness, e.Task, e.Model, e.Scorer)
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		const want = "0: 0 0; 1: 0 error; 2: 1 0"
		if got := outcomesOf(e); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		for _, r := range e.Rollouts {
			hasTurn := r.Turns == 1 && strings.Contains(string(r.Messages), "colour")
			isPlayed := r.Infra != nil || hasTurn
			if !strings.Contains(r.Request, "colour") || !isPlayed {
				t.Errorf("%s: %q, %d turns, %s", path, r.Request, r.Turns, r.Messages)
			}
		}
	}
}

// outcomesOf returns the rewards of the samples of each problem.
func outcomesOf(e *Evaluation) string {
	var problems []string
	for _, r := range e.Rollouts {
		if r.Sample == 0 {
			problems = append(problems, r.ProblemID+":")
		}
		value := ""
		if r.Infra != nil {
			value = *r.Infra
		} else {
			value = fmt.Sprintf("%.3g", *r.Reward)
		}
		problems[len(problems)-1] += " " + value
	}
	return strings.Join(problems, "; ")
}

const head = `{"status":"success","eval":{"task":"t","model":"m"},"samples":[`

func sample(id, more string) string {
	return `{"id":"` + id + `","epoch":1,"input":"q","messages":[]` + more + `}`
}

// TestRewardsAndErrors checks that a number or a grade is a reward, and that any other value is
// unknown and never 0.
func TestRewardsAndErrors(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		head + sample("a", `,"scores":{"s":{"value":"P"}}`) + `]}`:                                                        "a: 0.5",
		head + sample("a", `,"scores":{"s":{"value":true}}`) + `]}`:                                                       "a: 1",
		head + sample("a", `,"scores":{"s":{"value":7}}`) + `]}`:                                                          "a: 7",
		head + sample("a", `,"scores":{"s":{"value":NaN}}`) + `,` + sample("b", `,"scores":{"s":{"value":1}}`) + `]}`:     "a: no_score; b: 1",
		head + sample("a", `,"scores":{"s":{"value":{"x":1}}}`) + `]}`:                                                    "a: no_score",
		head + sample("a", `,"scores":null`) + `]}`:                                                                       "a: no_score",
		head + sample("a", `,"error":{"message":"away"},"scores":{"s":{"value":0}}`) + `]}`:                               "a: error",
		head + sample("a", `,"limit":{"type":"token"},"scores":{"s":{"value":"I"}}`) + `]}`:                               "a: 0",
		head + `{"id":1,"epoch":2,"scores":{"s":{"value":1}}},{"id":1,"epoch":1,"scores":{"s":{"value":0}}}]}`:            "1: 0 1",
		`{"info":{},"simulations":[{"task_id":"a","trial":0,"reward_info":null,"termination_reason":"user_stop"}]}`:       "a: no_score",
		`{"info":{},"simulations":[{"task_id":"a","reward_info":{"reward":0},"termination_reason":"too_many_errors"}]}`:   "a: 0",
		`{"info":{},"simulations":[{"task_id":"a","reward_info":{"reward":0},"termination_reason":"unexpected_error"}]}`:  "a: error",
		`{"info":{},"tasks":` + strings.Repeat("[", 1e6) + `,"simulations":[{"task_id":"a","reward_info":{"reward":1}}]}`: "",
	} {
		e, err := Read(write(t, "log.json", doc))
		if err != nil {
			if want != "" {
				t.Errorf("%.120s: %v", doc, err)
			}
			continue
		}
		if got := outcomesOf(e); got != want {
			t.Errorf("%.120s: %s, want %s", doc, got, want)
		}
	}
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhatIsNotRead checks that an unfinished evaluation has no rate, and that other files are not
// taken for results.
func TestWhatIsNotRead(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]struct {
		text string
		want error
	}{
		"started.json": {`{"status":"started","eval":{},"samples":[]}`, ErrUnfinished},
		"failed.json":  {strings.Replace(head, "success", "error", 1) + `]}`, ErrUnfinished},
		"other.json":   {`{"a":1}`, ErrUnknown},
		"broken.json":  {`{"simulations":[`, ErrUnknown},
		"traces.jsonl": {`{"trace":1}` + "\n", ErrUnknown},
		"note.txt":     {"a", ErrUnknown},
	} {
		if _, err := Read(write(t, name, file.text)); !errors.Is(err, file.want) {
			t.Errorf("%s: %v, want %v", name, err, file.want)
		}
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// TestACutFileIsNoEvaluation cuts the files of the harnesses at each quarter, with the last sample
// torn or missing: none is read as a smaller evaluation.
func TestACutFileIsNoEvaluation(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"tau2.json", "rows/results.jsonl", "rows/metadata.json", "traces/traces.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", path))
		if err != nil {
			t.Fatal(err)
		}
		for at := len(text) / 4; at < len(text); at += len(text) / 4 {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS("testdata")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, path), text[:at], 0o600); err != nil {
				t.Fatal(err)
			}
			whole, _, _ := strings.Cut(path, "/")
			if e, err := Read(filepath.Join(folder, whole)); err == nil {
				t.Errorf("%s: %d samples read of a file that was cut at %d of %d bytes", path, len(e.Rollouts), at, len(text))
			}
		}
	}
}

// TestDamageIsNamed checks that the error for a damaged file says what is wrong.
func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	log := head + sample("a", `,"scores":{"s":{"value":1}}`)
	trace := `{"task":{},"traces":[]}` + "\n"
	for _, file := range []struct{ name, text, want string }{
		{"log.json", log, "no whole JSON value"},
		{"log.json", log + `,{"id":"b","scores":{"s":{"value":1}},"mess`, "no whole JSON value"},
		{"log.json", log + `],"results":{"total_samples":2}}`, "1 samples, and states 2"},
		{"log.json", log + `],"results":{"total_samples":2,"early_stopping":{"early_stops":[{}]}}}`, ""},
		{"log.json", `{"info":{"num_trials":2},"tasks":[{"id":"a"}],"simulations":[{"task_id":"a"}]}`, "1 samples, and states 2"},
		{tracesFile, trace + `{"task":{},"traces":[`, "line 2"},
	} {
		_, err := Read(write(t, file.name, file.text))
		if got := fmt.Sprint(err); !strings.Contains(got, file.want) || file.want == "" && err != nil {
			t.Errorf("%s: %v, want %q", file.text, err, file.want)
		}
	}
}

// TestGroups checks that a stated group is used, and otherwise the request.
func TestGroups(t *testing.T) {
	t.Parallel()
	e, err := Read(write(t, "log.json", head+sample("a", `,"metadata":{"cluster":3}`)+","+sample("b", `,"metadata":{"cluster":3}`)+","+sample("c", "")+","+sample("d", "")+"]}"))
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, r := range e.Rollouts {
		groups = append(groups, r.Group)
	}
	if got := strings.Join(groups, ", "); got != "cluster 3, cluster 3, request q, request q" {
		t.Error(got)
	}
}

// FuzzDocument checks that no document makes the reader panic.
func FuzzDocument(f *testing.F) {
	f.Add(head + sample("a", `,"scores":{"s":{"value":"P"}}`) + "]}")
	f.Add(`{"info":{"max_steps":3},"tasks":[{"id":"a"}],"simulations":[{"task_id":"a","reward_info":{"reward":1}}]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		path := write(t, "log.json", doc)
		if e, err := Read(path); err == nil && len(e.Rollouts) == 0 {
			t.Error("an evaluation without a sample")
		}
		_, _ = Read(write(t, tracesFile, doc))
	})
}
