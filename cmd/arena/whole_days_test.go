package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestDifferentAttemptsStayDifferent copies the files of all agents into one folder, without the
// names of their runs: the build keeps them as different runs, and no attempt is lost. If all files
// have one name, their ids collide, and the command reports the collision even with the flag for
// quiet output.
func TestDifferentAttemptsStayDifferent(t *testing.T) {
	t.Parallel()
	day := flatDay(t)
	out := t.TempDir()
	attempts := map[string]int{}
	for _, command := range [][]string{{"filter"}, {"build"}, {"import", "--unguarded"}, {"score"}, {"judge"}, {"convert", "--to", "openai"}}[:longtest.Pick(6, 2)] {
		name := filepath.Join(out, command[0])
		output, code := runOutput(append(command, day, "-q", "-o", name)...)
		if code != cli.ExitOK || strings.Contains(output, "id_collision") {
			t.Fatalf("%v: exit %d: %s", command, code, output)
		}
		if command[0] == "build" || command[0] == "import" {
			attempts[command[0]] = int(readStage(t, name).In - readStage(t, name).Dropped["duplicate_attempt"])
			if n := readStage(t, name).Dropped["id_collision"] + readStage(t, name).Dropped["duplicate_attempt"]; n > 0 {
				t.Errorf("%v leaves %d attempts out", command, n)
			}
		} else {
			attempts[command[0]] = len(idsOf(t, name))
		}
		output, _ = runOutput(append(command, day, "-q", "--run-id", "x", "-o", name+"-named")...)
		if !strings.Contains(output, "warning: id_collision: ") {
			t.Errorf("%v with one run id printed %q, want a warning of id_collision", command, output)
		}
	}
	for command, n := range attempts {
		if n != attempts["filter"] || n < 30 {
			t.Errorf("%s has %d attempts, want as many as the others: %v", command, n, attempts)
		}
	}
}

// flatDay is the committed day without what names its runs.
func flatDay(t *testing.T) string {
	t.Helper()
	day := t.TempDir()
	files, err := filepath.Glob(filepath.Join(testDay, "traces", "*", "*.gz"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	copied := map[string]string{filepath.Join(testDay, "problems.jsonl"): "problems.jsonl", filepath.Join(testDay, "catalog.jsonl"): "catalog.jsonl"}
	for i, file := range files {
		copied[file] = filepath.Join("traces", fmt.Sprintf("a%d.jsonl.gz", i))
	}
	for sourceID, copyID := range copied {
		b, err := os.ReadFile(sourceID)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(day, copyID)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(day, copyID), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return day
}

// idsOf are the attempts that lines name.
func idsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for line := range bytes.Lines(b) {
		var record struct {
			Run     string `json:"eval_run_id"`
			Problem string `json:"problem_id"`
		}
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		ids[record.Run+"/"+record.Problem] = true
	}
	return ids
}

func readStage(t *testing.T, dir string) corpus.Stage {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m corpus.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m.Funnel[0]
}

// TestHalfADayIsNoDay truncates every file of a day in its middle: a build of the remainder needs a
// flag, and commands that write lines end with the exit code of a passed limit.
func TestHalfADayIsNoDay(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	out := t.TempDir()
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(day, "traces", "*", "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		info, errStat := os.Stat(file)
		if err = errStat; err == nil {
			err = os.Truncate(file, info.Size()/2)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range [][]string{{"filter"}, {"score"}, {"judge"}, {"convert", "--to", "atif"}, {"import", "--unguarded"}, {"build"}} {
		name := filepath.Join(out, command[0])
		output, code := runOutput(append(command, day, "-q", "-o", name)...)
		if code != cli.ExitLimit || !strings.Contains(output, "warning: "+files[0]+" ends early") || !strings.Contains(output, "too much could not be read") {
			t.Errorf("%v: exit %d: %s", command, code, output)
		}
		_, err = os.Stat(name)
		if isCorpus := command[0] == "build" || command[0] == "import"; isCorpus == (err == nil) {
			t.Errorf("%v: output %v", command, err)
		}
	}
	name := filepath.Join(out, "asked")
	if output, code := runOutput("build", day, "-q", "-o", name, "--max-unreadable", "1"); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, output)
	}
	stage := readStage(t, name)
	card, err := os.ReadFile(filepath.Join(name, "README.md"))
	if stage.Unreadable != 1 || int(stage.CutFiles) != len(files) || !bytes.Contains(card, []byte("At most about 100.00 % of the records were lost")) {
		t.Errorf("funnel %+v, card %v", stage, err)
	}
}
