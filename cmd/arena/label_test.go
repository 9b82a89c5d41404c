package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLabelHidesRequestsInResults checks that a page for labels shows no held-out request, not even
// in a tool's result that quotes it, unless a flag asks for it.
func TestLabelHidesRequestsInResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	if err := os.CopyFS(inDir("day"), os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(inDir("day"), "traces", "*", "output.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	title := regexp.MustCompile(`"title": "[^"]+ set"`)
	quoted := fmt.Sprintf(`"title": %q`, "No item for: "+matrixForms["verbatim"])
	n := 0
	for _, file := range files {
		err = rewrite(file, func(line string) string {
			if n++; n%2 == 0 {
				return line // some stay as they are
			}
			return title.ReplaceAllString(line, quoted)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(t, inDir("held.jsonl"), []byte(matrixHeld+"\n"))
	if code, _, stderr := arenaRun("build", inDir("day"), "--held-out", inDir("held.jsonl"), "-o", inDir("corpus"), "-q"); code != 0 {
		t.Fatalf("build ends with %d: %s", code, stderr)
	}
	for flag, want := range map[string]bool{"--seed=1": false, "--with-held-out": true} {
		out := inDir("sample" + flag)
		if code, _, stderr := arenaRun("label", inDir("corpus"), "--n", "1000", flag, "-o", out); code != 0 {
			t.Fatalf("label %s ends with %d: %s", flag, code, stderr)
		}
		page, err := os.ReadFile(filepath.Join(out, "label.html"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(page), "camping stove by brasko"); got != want {
			t.Errorf("label %s: the page contains the held-out request: got %v, want %v", flag, got, want)
		}
		if !strings.Contains(string(page), "The customer wants") {
			t.Errorf("label %s: the page shows no other attempt", flag)
		}
	}
}
