package pipeline_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/pipeline"
)

// TestFolderOfBanksThatGrewIsHeldAgainstFinishedBlocks builds with a folder of banks, adds a bank
// of products that are gold in no problem of the day, and builds again: attempts that open one of
// them are found, although their problems are unchanged.
func TestFolderOfBanksThatGrewIsHeldAgainstFinishedBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	banks := filepath.Join(dir, "banks")
	writeFile(t, filepath.Join(banks, "a.jsonl"), `{"id":"a","query":"a lunch box of stainless steel","reward":{"product_id":"none"}}`)
	contents := func(out string) map[string]string {
		r := newRun(t, sampleDay, filepath.Join(dir, out))
		r.Sources.HeldOut = []string{banks}
		build(t, r)
		return sums(t, r.Out)
	}
	before := contents("resumed")
	writeFile(t, filepath.Join(banks, "b.jsonl"), bankOfOthers(t))
	resumed := contents("resumed")
	want := contents("fresh")
	if maps.Equal(before, want) {
		t.Fatal("the second bank changes nothing")
	}
	if !maps.Equal(resumed, want) {
		t.Error("a corpus made of finished blocks is not the one made from the beginning")
	}
}

// bankOfOthers protects one in sixteen of the sample day's products, of those that
// no problem asks for.
func bankOfOthers(t *testing.T) string {
	t.Helper()
	gold := map[string]bool{}
	for _, p := range problemsOf(t, readFile(t, filepath.Join(sampleDay, "problems.jsonl"))) {
		for _, r := range p.Rewards {
			gold[r.ProductID] = true
		}
	}
	var bank strings.Builder
	for line, err := range arena.Lines(strings.NewReader(readFile(t, filepath.Join(sampleDay, "catalog.jsonl"))), 1<<20) {
		var product struct {
			ID string `json:"product_id"`
		}
		if err != nil || json.Unmarshal(line.Text, &product) != nil {
			t.Fatalf("%s: %v", line.Text, err)
		}
		if line.Number%16 == 0 && !gold[product.ID] {
			fmt.Fprintf(&bank, `{"id":%q,"query":"qqq%s","reward":{"product_id":%q}}`+"\n", product.ID, product.ID, product.ID)
		}
	}
	return bank.String()
}

// TestFoldersNameRunsWithAnyContent checks that without run.json the folder names the run, so
// that equal files in two folders are two runs, and a renamed folder is another run.
func TestFoldersNameRunsWithAnyContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := filepath.Join(dir, "day")
	if err := os.CopyFS(day, os.DirFS(sampleDay)); err != nil {
		t.Fatal(err)
	}
	run := filepath.Dir(oneInput(t, day))
	other := filepath.Join(filepath.Dir(run), "run=other")
	if err := os.Remove(filepath.Join(run, "run.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(other, os.DirFS(run)); err != nil {
		t.Fatal(err)
	}
	s := build(t, newRun(t, day, filepath.Join(dir, "resumed")))
	if n := s.Funnel[0].Dropped["duplicate_attempt"]; n != 0 {
		t.Errorf("%d attempts of one run are taken for those of the other", n)
	}
	if err := os.Rename(other, filepath.Join(filepath.Dir(run), "run=renamed")); err != nil {
		t.Fatal(err)
	}
	resumed := newRun(t, day, filepath.Join(dir, "resumed"))
	control := newRun(t, day, filepath.Join(dir, "fresh"))
	build(t, resumed)
	build(t, control)
	if !maps.Equal(sums(t, resumed.Out), sums(t, control.Out)) {
		t.Error("a renamed run keeps its old name in finished blocks")
	}
}

// TestDamagedWorkIsMadeAgain checks that a damaged part is written again by the run that finds it.
// A damaged body ends that run, and the next run writes it again.
func TestDamagedWorkIsMadeAgain(t *testing.T) {
	t.Parallel()
	for damaged, c := range map[string]struct {
		change func(*pipeline.Config)
		ends   bool
	}{
		"parts/*/sft-train-*/data/sft/*.parquet": {func(*pipeline.Config) {}, false},
		"blocks/*/bodies":                        {func(c *pipeline.Config) { c.Select.Top = 3 }, true}, // new parts read bodies
	} {
		dir := t.TempDir()
		builtSample(t, filepath.Join(dir, "corpus"))
		r := newRun(t, sampleDay, filepath.Join(dir, "corpus"))
		c.change(&r.Config)
		files, err := filepath.Glob(filepath.Join(r.Work, damaged))
		if err != nil || len(files) == 0 {
			t.Fatalf("find %s: %v", damaged, err)
		}
		for _, file := range files {
			text := []byte(readFile(t, file))
			for i := range text {
				text[i] ^= 1
			}
			writeFile(t, file, string(text))
		}
		met := 0
		for ; met <= len(files); met++ { // a run may meet one block at a time
			if _, err = r.Build(t.Context()); err == nil {
				break
			}
		}
		if met > 0 != c.ends || err != nil {
			t.Errorf("%s: %d runs met the damage, the last ended with %v", damaged, met, err)
		}
	}
}

// TestAnotherBuildOfTheProgramReusesNoWork builds a corpus again by a program with other rules and the
// same version. All blocks, the plan and all parts are made again.
func TestAnotherBuildOfTheProgramReusesNoWork(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	before := sums(t, out+pipeline.WorkSuffix)
	var reasons []string
	r := runOfDays(t, []string{sampleDay}, out, &reasons)
	r.Config = newRun(t, sampleDay, out).Config
	build(t, r)
	if len(reasons) > 0 {
		t.Fatalf("the same program makes blocks again: %v", reasons)
	}
	r.Program = "another"
	build(t, r)
	after := sums(t, out+pipeline.WorkSuffix)
	for path := range before {
		isOfPlan := path == "plan.json" || strings.HasPrefix(path, "parts/") // parts are in a folder of their plan
		if isOfPlan && after[path] == before[path] {
			t.Errorf("%s is of the other program", path)
		}
	}
	if markers := markersOf(t, r.Work); len(reasons) != len(markers) {
		t.Errorf("%d blocks are made again of %d: %v", len(reasons), len(markers), reasons)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
