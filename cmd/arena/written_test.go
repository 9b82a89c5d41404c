package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestWhatWasWrittenOpens holds that the commands read what each released version wrote: a corpus
// with its bank, a run and a ledger of judgements. The program .ci/written makes a version's folder.
func TestWhatWasWrittenOpens(t *testing.T) {
	t.Parallel()
	versions, err := filepath.Glob("../../testdata/written/*")
	if err != nil || len(versions) == 0 {
		t.Fatalf("no version: %v", err)
	}
	if !longtest.Tests {
		versions = versions[len(versions)-1:]
	}
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			corpusDir := filepath.Join(version, "corpus")
			played := folderCopy(t, filepath.Join(version, "run"))
			ledger := folderCopy(t, filepath.Join(version, "ledger"))
			out := t.TempDir()
			built := filepath.Join(out, "built")
			for _, args := range [][]string{
				{"verify", corpusDir},
				{"inspect", corpusDir, "--where", "judge_score >= 0.5"},
				{"explain", corpusDir, "5c98a2f5-25a1-40ef-ac1c-752d7ee5e25c/c7492af7-f589-4054-a5a6-7784cb5b0f26"},
				{"export", corpusDir, "--profile", "text", "-q", "-o", filepath.Join(out, "text")},
				{"recipe", "sft", "--corpus", corpusDir, "-q", "-o", filepath.Join(out, "sft")},
				{"publish", corpusDir, "-q", "-o", filepath.Join(out, "public")},
				{"view", corpusDir, "-o", filepath.Join(out, "pages")},
				{"build", wholeDay, "--bank", filepath.Join(corpusDir, "bank.json"), "--set", "select.top=1", "-q", "-o", built},
				{"mix", corpusDir, built, "-q", "-o", filepath.Join(out, "mixed")},
				{"drift", corpusDir, "--against", corpusDir, "-o", filepath.Join(out, "drift.txt")},
				{"results", played, "-o", filepath.Join(out, "results.jsonl")},
				{"compare", played, played, "--min-coverage", "0"},
				{"view", played, "-o", filepath.Join(out, "run")},
				{"judge", wholeDay, "--judge", "llm", "--endpoint", "http://127.0.0.1:1/v1", "--model", "judge", "--ledger", ledger, "-n"},
			} {
				code, _, words := arenaRun(args...)
				if code != cli.ExitOK {
					t.Errorf("arena %s: exit %d\n%s", strings.Join(args, " "), code, words)
				}
			}
		})
	}
}

// TestAPlanOfAnotherVersionIsNamed holds that a plan of an earlier version is accepted, or that the
// error asks for a new plan.
func TestAPlanOfAnotherVersionIsNamed(t *testing.T) {
	t.Parallel()
	plans, err := filepath.Glob("../../testdata/written/*/plan.json")
	if err != nil || len(plans) == 0 {
		t.Fatalf("no plan: %v", err)
	}
	day, err := filepath.Abs(wholeDay)
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range plans {
		text, err := os.ReadFile(plan)
		if err != nil {
			t.Fatal(err)
		}
		planFile := filepath.Join(t.TempDir(), "plan.json")
		put(t, planFile, []byte(strings.ReplaceAll(string(text), "/home/ana/arena/testdata/day", day)))
		code, _, words := arenaRun("stage", "map", "--plan", planFile, "--work", filepath.Join(t.TempDir(), "work"))
		if code != cli.ExitOK && !strings.Contains(words, "--plan") {
			t.Errorf("%s: exit %d\n%s", plan, code, words)
		}
	}
}

// folderCopy returns the path of a copy of a folder, for a command that writes into it.
func folderCopy(t *testing.T, folder string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(folder))
	if err := os.CopyFS(out, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return out
}
