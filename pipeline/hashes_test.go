package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/pipeline"
)

// TestAFileThatChangedUnnoticedIsReadAgain changes traces to other ones of the same size, with the
// time of the former. The next build is one of the new content.
func TestAFileThatChangedUnnoticedIsReadAgain(t *testing.T) {
	t.Parallel()
	day := generatedDays(t, 1, 40)[0]
	out := filepath.Join(t.TempDir(), "out")
	r := runOfDays(t, []string{day}, out, new([]string))
	pipeline.TrustAllFiles(r)
	build(t, r)
	path := traceFiles(t, day)[0]
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content := readFile(t, path)
	half := content[:strings.Index(content, "\n")+1]
	padded := half + strings.Repeat(" ", len(content)-len(half)-1) + "\n"
	writeFile(t, path, padded)
	if err = os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	build(t, r)
	freshRun := runOfDays(t, []string{day}, filepath.Join(t.TempDir(), "fresh"), new([]string))
	build(t, freshRun)
	sameFiles(t, "after the change", sums(t, out), sums(t, freshRun.Out))
}

// TestAStoredHashIsUsedAndVerified damages a stored hash. The build, which uses it, finds no block,
// reads the file and finds that the hash is wrong. A build without stored hashes equals the first
// one.
func TestAStoredHashIsUsedAndVerified(t *testing.T) {
	t.Parallel()
	day := generatedDays(t, 1, 40)[0]
	out := filepath.Join(t.TempDir(), "out")
	r := runOfDays(t, []string{day}, out, new([]string))
	pipeline.TrustAllFiles(r)
	build(t, r)
	want := sums(t, out)
	hashes := filepath.Join(r.Work, "hashes.json")
	writeFile(t, hashes, strings.Replace(readFile(t, hashes), `"sha256":"`, `"sha256":"0`, 1))
	if _, err := r.Build(t.Context()); !errors.Is(err, pipeline.ErrUnnoticedChange) {
		t.Fatalf("a build with a damaged hash ends with %v, want %v", err, pipeline.ErrUnnoticedChange)
	}
	if err := r.Forget(); err != nil {
		t.Fatal(err)
	}
	build(t, r)
	sameFiles(t, "after forgetting", sums(t, out), want)
}

// TestAPlanStoresTheHashesOfItsFiles plans twice. The second plan takes the hashes that the first one
// stored, as a build does.
func TestAPlanStoresTheHashesOfItsFiles(t *testing.T) {
	t.Parallel()
	day := generatedDays(t, 1, 40)[0]
	r := runOfDays(t, []string{day}, filepath.Join(t.TempDir(), "out"), new([]string))
	pipeline.TrustAllFiles(r)
	first, err := r.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hashes := filepath.Join(r.Work, "hashes.json")
	writeFile(t, hashes, strings.Replace(readFile(t, hashes), first.Inputs[0].SHA256, strings.Repeat("0", 64), 1))
	second, err := r.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reused := 0
	for _, input := range second.Inputs {
		if input.SHA256 == strings.Repeat("0", 64) {
			reused++
		}
	}
	if reused != 1 {
		t.Errorf("%d of %d files have the hash that was stored for one", reused, len(second.Inputs))
	}
	entries, err := os.ReadDir(r.Work)
	if err != nil || len(entries) > 3 {
		t.Errorf("the plan left %v: %v", entries, err)
	}
}

// TestTheHashOfANewFileIsNotStored builds a day that was written a moment ago: a file that changes
// twice in one tick of the clock may keep its times.
func TestTheHashOfANewFileIsNotStored(t *testing.T) {
	t.Parallel()
	day := generatedDays(t, 1, 20)[0]
	r := runOfDays(t, []string{day}, filepath.Join(t.TempDir(), "out"), new([]string))
	r.Sources.Draft = true
	build(t, r)
	if got := readFile(t, filepath.Join(r.Work, "hashes.json")); got != "{}" {
		t.Errorf("the hashes of new files are stored: %.200s", got)
	}
}

// TestADayOfTheSameProblemsGuardsNothingAgain adds a day with copies of the problems and catalogue
// of the one before. It protects no new text, so that the older attempts are not compared again.
func TestADayOfTheSameProblemsGuardsNothingAgain(t *testing.T) {
	t.Parallel()
	day := generatedDays(t, 1, 120)[0]
	other := filepath.Join(t.TempDir(), "other")
	for _, table := range []string{"problems.jsonl", "catalog.jsonl"} {
		writeFile(t, filepath.Join(other, table), readFile(t, filepath.Join(day, table)))
	}
	files := traceFiles(t, day)
	for _, path := range files[:len(files)/2] {
		rel, err := filepath.Rel(day, path)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(other, rel), readFile(t, path))
		if err = os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	var reasons []string
	build(t, runOfDays(t, []string{day}, filepath.Join(dir, "turns"), &reasons))
	build(t, runOfDays(t, []string{day, other}, filepath.Join(dir, "turns"), &reasons))
	if len(reasons) > 0 {
		t.Errorf("%d blocks are worked on again, the first: %s", len(reasons), reasons[0])
	}
	build(t, runOfDays(t, []string{day, other}, filepath.Join(dir, "once"), new([]string)))
	sameFiles(t, "in turn", sums(t, filepath.Join(dir, "turns")), sums(t, filepath.Join(dir, "once")))
}

// traceFiles returns the paths of the traces of a day.
func traceFiles(t *testing.T, day string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(day, "traces", "*", "output.jsonl"))
	if err != nil || len(files) < 2 {
		t.Fatalf("find traces: %v", err)
	}
	return files
}
