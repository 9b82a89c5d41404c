package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/report/attempt"
)

// secretsOf are the requests, gold ids and titles of the protected problems of a
// corpus over the sample day, their own ids and those of attempts at them; and of its
// agents the one with most attempts.
func secretsOf(t *testing.T, dir string) (needles []string, agent string) {
	t.Helper()
	state, err := os.Open(filepath.Join(dir, "bank.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	bank, err := guard.ReadState(state)
	if err != nil {
		t.Fatal(err)
	}
	l, err := attempt.Read(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	closed := map[string]bool{}
	created := map[string]int{}
	for _, line := range l.Lines {
		a := line.Attempt
		if created[a.AgentHotkey]++; created[a.AgentHotkey] > created[agent] {
			agent = a.AgentHotkey
		}
		if pool := bank.Pool(a.Cluster); pool == guard.PoolEval || pool == guard.PoolNeverTouch {
			closed[a.ProblemID] = true
			needles = append(needles, a.TraceID, a.RecordSHA256)
		}
	}
	problems, err := os.ReadFile(filepath.Join(testDay, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(problems)) {
		var p struct {
			ProblemID string `json:"problem_id"`
			Query     string `json:"query"`
			Reward    json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		if closed[p.ProblemID] {
			needles = append(needles, p.ProblemID, p.Query)
		}
	}
	return needles, agent
}

// standing returns those needles that a file at path or below it contains, written as JSON or
// plain.
func standing(t *testing.T, path string, needles []string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		text := strings.ToLower(string(b) + strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b)))
		for _, needle := range needles {
			if strings.Contains(text, strings.ToLower(needle)) {
				out = append(out, needle)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestPublicPagesHideTexts searches public pages, and the page of every appeal, for the texts that
// only the private pages show.
func TestPublicPagesHideTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	home := filepath.Join(dir, "home")
	outside := filepath.Join(dir, "outside")
	buildTestDay(t, out)
	needles, agent := secretsOf(t, out)
	needles = append(needles, agent)
	must(t, cli.ExitOK, "view", out, "-o", home, "--traces", "1000")
	must(t, cli.ExitOK, "view", out, "-o", outside, "--traces", "1000", "--public", "--embargo", agent)
	if paths := standing(t, home, needles); len(paths) < longtest.Pick(150, 75) {
		t.Errorf("at home %d of %d are found", len(paths), len(needles))
	}
	if paths := standing(t, outside, needles); len(paths) > 0 {
		t.Errorf("outside are %d of %d: %.500q", len(paths), len(needles), paths)
	}
	l, err := attempt.Read(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "appeal.html")
	written := 0
	for i := 0; i < len(l.Lines); i += longtest.Pick(7, 22) {
		id := l.Lines[i].Attempt.TraceID
		_ = os.Remove(page)
		code, _, stderr := arenaRun("view", out, "--appeal", id, "-o", page)
		switch {
		case slices.Contains(needles, id) && (code != cli.ExitFailure || !strings.Contains(stderr, "that may be shown")):
			t.Errorf("%s: exit %d: %s", id, code, stderr)
		case code != cli.ExitOK:
			t.Log(stderr)
		default:
			written++
			if paths := standing(t, page, needles[:len(needles)-1]); len(paths) > 0 {
				t.Errorf("%s shows %.200q", id, paths)
			}
		}
	}
	if written < longtest.Pick(5, 2) {
		t.Errorf("%d appeals were written", written)
	}
}
