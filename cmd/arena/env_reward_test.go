package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestRewardIsTheScore checks that env reward and score return the same reward for an attempt, and
// that the strict preset pays 1 for a success and 0 for a failure.
func TestRewardIsTheScore(t *testing.T) {
	t.Parallel()
	day := "../../testdata/day"
	if longtest.Tests && longtest.SharedFolder() != "" {
		day = longtest.Shared(t, "data/day")
	}
	lines := func(command ...string) []gjson.Result {
		t.Helper()
		var out, errs bytes.Buffer
		args := append(command, day, "--problems", day+"/problems.jsonl", "--catalog", day+"/catalog.jsonl", "-q")
		if code := run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%v: exit %d\n%s", command, code, errs.String())
		}
		return gjson.Parse("[" + strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", ",") + "]").Array()
	}
	reward := lines("env", "reward")
	scored := lines("score")
	if len(reward) != len(scored) || len(reward) < 100 {
		t.Fatalf("%d attempts are paid and %d scored", len(reward), len(scored))
	}
	for i, p := range reward {
		for _, column := range []string{"eval_run_id", "problem_id", "success", "score"} {
			if p.Get(column).Raw != scored[i].Get(column).Raw {
				t.Errorf("attempt %d: %s is %s, by score %s", i, column, p.Get(column), scored[i].Get(column))
			}
		}
		want := 0.0
		if p.Get("success").Bool() {
			want = 1
		}
		if p.Get("reward").Num != want {
			t.Errorf("attempt %d: paid %s for %s", i, p.Get("reward"), p.Get("success"))
		}
	}
}

// TestRecordedGroupsAreBuilt plays one problem eight times, as GRPO does: arena build reads all eight
// in the recorded day, by its name alone.
func TestRecordedGroupsAreBuilt(t *testing.T) {
	t.Parallel()
	const from = "../../testdata/day/"
	day := t.TempDir()
	address, stop := serveTickets(t, "--problems", from+"problems.jsonl", "--catalog", from+"catalog.jsonl", "--judge", "none", "--record", day)
	problem, err := os.ReadFile(from + "problems.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		ticketEpisode(t, address, gjson.GetBytes(problem, "problem_id").Str, map[string]any{}, "find_product", `{"q":"lamp"}`, "terminate", `{"status":"failure"}`)
	}
	stop()
	var output bytes.Buffer
	run(context.Background(), []string{"build", day, "-o", t.TempDir() + "/out"}, strings.NewReader(""), &output, &output)
	if row := strings.Join(strings.Fields(output.String()), " "); !strings.Contains(row, "read 8 0 0 8 ") {
		t.Error(output.String())
	}

	// Episodes of other problems do not get into the folder.
	other := filepath.Join(t.TempDir(), "problems.jsonl")
	if err := os.WriteFile(other, problem, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := arenaRun("env", "serve", "--problems", other, "--catalog", from+"catalog.jsonl", "--judge", "none",
		"--unguarded", "--listen", "127.0.0.1:0", "--record", day)
	if code != cli.ExitUsage || !strings.Contains(stderr, "give --record another folder") {
		t.Errorf("a server with other problems ended with %d: %s", code, stderr)
	}
}
