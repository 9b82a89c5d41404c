package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// TestTheLoopCloses checks that the folder of an evaluation can be read as a day: the scorer and
// the filter write a line for every rollout in it, and the scorer counts the expected successes and
// rollouts without a score.
func TestTheLoopCloses(t *testing.T) {
	t.Parallel()
	catalog, problems := evalInputs(t, "one", "two", "broken three")
	url := scripted(t, func(q string, seed int64) bool { return q == "one" || seed == 1 })
	run := filepath.Join(t.TempDir(), "run")
	code, _, words := arenaRun("eval", "--endpoint", url, "--model", "m", "--problems", problems, "--catalog", catalog,
		"-k", "2", "--retries", "0", "--min-coverage", "0", "-q", "-o", run)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, words)
	}
	code, out, words := arenaRun("score", run, "--catalog", catalog, "-o", "-")
	if code != cli.ExitOK {
		t.Fatalf("score: exit %d: %s", code, words)
	}
	var successes, unscored int
	for line := range strings.Lines(out) {
		var s struct {
			Score   json.RawMessage
			Success bool
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		if s.Success {
			successes++
		}
		if string(s.Score) == "null" {
			unscored++
		}
	}
	if lines := strings.Count(out, "\n"); lines != 6 || successes != 3 || unscored != 2 {
		t.Errorf("%d lines, %d successes, %d without a score:\n%s", lines, successes, unscored, out)
	}
	if code, out, words = arenaRun("filter", run, "-o", "-"); code != cli.ExitOK || strings.Count(out, "\n") != 6 {
		t.Errorf("filter: exit %d, %d lines: %s", code, strings.Count(out, "\n"), words)
	}
}
