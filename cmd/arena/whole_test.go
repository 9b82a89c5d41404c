package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// writer is a command that writes a file or a folder, without the flag that names the output.
type writer struct {
	// flag is the command and the flag, such as "arena view output".
	flag string
	args []string
}

// argsFor returns the arguments with which the command writes to a path.
func (w writer) argsFor(path string) []string {
	name := w.flag[strings.LastIndexByte(w.flag, ' ')+1:]
	return append(slices.Clone(w.args), "--"+name, path)
}

// writers returns, by name, the commands that write a folder or a file at once. Without the tag
// long they are three.
func writers(built, other, day string) map[string]writer {
	data := filepath.Dir(day)
	texts := filepath.Join(data, "leak", "texts.jsonl")
	bank := filepath.Join(data, "leak", "bank.jsonl")
	problems := filepath.Join(day, "problems.jsonl")
	catalog := filepath.Join(day, "catalog.jsonl")
	contests := filepath.Join(data, "contest")
	epochs := filepath.Join(contests, "yuma", "epochs.jsonl")
	gates := filepath.Join(contests, "evolai", "gates.jsonl")
	rounds := filepath.Join(contests, "distil", "rounds.jsonl")
	scores := filepath.Join(contests, "distil", "scores.jsonl")
	teacher := filepath.Join(contests, "kl", "teacher.jsonl")
	student := filepath.Join(contests, "kl", "student.jsonl")
	race := filepath.Join(contests, "race", "race.json")
	sampled := filepath.Join(filepath.Dir(built), "drawn")
	sample := filepath.Join(sampled, "sample.jsonl")
	calls := filepath.Join(filepath.Dir(built), "calls.jsonl")

	const attempt = "5c98a2f5-25a1-40ef-ac1c-752d7ee5e25c/6ad2567c-3159-426f-a625-b7b1e77d8f9d"
	writers := map[string]writer{
		"export":   {"arena export output", []string{"export", built, "--profile", "text", "--profile", "openai-jsonl", "-q"}},
		"publish":  {"arena publish output", []string{"publish", built, "--license", "cc-by-4.0", "-q"}},
		"mix":      {"arena mix output", []string{"mix", built, other, "-q"}},
		"convert":  {"arena convert output", []string{"convert", day, "--to", "atif", "-q"}},
		"sessions": {"arena convert output", []string{"convert", day, "--to", "sts", "-q"}},
		"sample":   {"arena label output", []string{"label", built, "--n", "20"}},
		"pages":    {"arena view output", []string{"view", built}},
		"appeal":   {"arena view output", []string{"view", built, "--appeal", attempt}},
		"drift":    {"arena drift output", []string{"drift", built, "--against", other}},
		"dedup":    {"arena dedup output", []string{"dedup", texts}},
		"filter":   {"arena filter output", []string{"filter", day, "-q"}},
		"score":    {"arena score output", []string{"score", day, "-q"}},
		"judge":    {"arena judge output", []string{"judge", day, "-q"}},
		"leak":     {"arena leak output", []string{"leak", texts, "--held-out", problems, "-q"}},
		"report":   {"arena leak report", []string{"leak", texts, "--held-out", problems, "-q", "-o", os.DevNull}},
		"explain":  {"arena explain output", []string{"explain", built, attempt}},
		"reward":   {"arena env reward output", []string{"env", "reward", day, "--problems", problems, "--catalog", catalog, "-q"}},
		"search":   {"arena shop index output", []string{"shop", "index", catalog}},
		"frozen":   {"arena leak bank freeze output", []string{"leak", "bank", "freeze", bank}},
		"add":      {"arena leak bank add state", []string{"leak", "bank", "add", bank, "--pool", "held-out", "--date", "2026-11-21", "--by", "ops"}},
		"domain":   {"arena domain init output", []string{"domain", "init", filepath.Join(data, "agents"), "--name", "clerk", "-q"}},
		"weighed":  {"arena label score weighed", []string{"label", "score", sampled, sample}},
		"rates":    {"arena agreement output", []string{"agreement", sample, sample}},
		"calls":    {"arena shop call output", []string{"shop", "call", calls, "--catalog", catalog}},
		"race":     {"arena race verify output", []string{"race", "verify", "--from", race}},
		"yuma":     {"arena contest yuma output", []string{"contest", "yuma", epochs}},
		"nodes":    {"arena contest yuma parquet", []string{"contest", "yuma", epochs}},
		"kl":       {"arena contest kl output", []string{"contest", "kl", teacher, student}},
		"position": {"arena contest kl parquet", []string{"contest", "kl", teacher, student}},
		"evolai":   {"arena contest evolai output", []string{"contest", "evolai", gates}},
		"gates":    {"arena contest evolai parquet", []string{"contest", "evolai", gates}},
		"distil":   {"arena contest distil output", []string{"contest", "distil", rounds, "--scores", scores}},
		"rounds":   {"arena contest distil parquet", []string{"contest", "distil", rounds, "--scores", scores}},
	}
	if !longtest.Tests {
		maps.DeleteFunc(writers, func(name string, _ writer) bool {
			return !slices.Contains([]string{"publish", "export", "filter"}, name)
		})
	}
	return writers
}

// heldByAnotherTest are the flags whose output grows over several runs, or needs a server, each with
// the test that kills its writer, refuses a second one or fills the disk.
var heldByAnotherTest = map[string]string{
	"arena build output":           "TestKilledAndResumed",
	"arena build work":             "TestKilledAndResumed",
	"arena import output":          "TestKilledAndResumed",
	"arena import work":            "TestKilledAndResumed",
	"arena build plan":             "TestAKilledStageIsRunAgain",
	"arena build ledger":           "TestAKilledWriterLosesNothingCommitted",
	"arena stage map work":         "TestAKilledStageIsRunAgain",
	"arena stage group work":       "TestAKilledStageIsRunAgain",
	"arena stage write work":       "TestAKilledStageIsRunAgain",
	"arena recipe output":          "TestRecipeKilledAndResumed",
	"arena recipe work":            "TestRecipeKilledAndResumed",
	"arena judge ledger":           "TestAKilledWriterLosesNothingCommitted",
	"arena eval judge-ledger":      "TestAKilledWriterLosesNothingCommitted",
	"arena recipe rewrite ledger":  "TestAKilledWriterLosesNothingCommitted",
	"arena eval output":            "TestKilledRunsGoOn",
	"arena eval rescore":           "TestRescoreThatIsRefusedChangesNothing",
	"arena fetch output":           "TestAKilledFetchResumes",
	"arena contest run out":        "TestKilledRun",
	"arena dedup index":            "TestIndexSurvivesATornBlock",
	"arena env serve record":       "TestRecordedEpisodesAreADay",
	"arena build batch":            "TestABatchIsAskedOnce",
	"arena judge batch":            "TestABatchIsAskedOnce",
	"arena recipe rewrite batch":   "TestABatchIsAskedOnce",
	"arena recipe rewrite output":  "TestRecipeKilledAndResumed",          // by the same code as the output of arena recipe
	"arena recipe rewrite work":    "TestAKilledRunResumes",               // it holds the ledger
	"arena leak bank rotate state": "TestAKilledWriterLeavesAllOrNothing", // by the same code as that of arena leak bank add
	"arena race verify save":       "TestAKilledWriterLeavesAllOrNothing", // by the same code as every single file
	"arena results output":         "TestAKilledWriterLeavesAllOrNothing", // the same test
}

// TestEveryOutputIsHeld holds that no command has a flag for an output that neither a writer nor
// another test covers.
func TestEveryOutputIsHeld(t *testing.T) {
	t.Parallel()
	if !longtest.Tests {
		t.Skip("without the tag long the table of writers has three of its rows")
	}
	stored := map[string]bool{}
	for _, w := range writers("built", "other", "testdata/day") {
		stored[w.flag] = true
	}
	for _, c := range commands(t) {
		for _, name := range noted(c, "writes", "replaces", "stages") {
			flag := c.CommandPath() + " " + name
			if !stored[flag] && heldByAnotherTest[flag] == "" {
				t.Errorf("%s: give it a row in writers", flag)
			}
		}
	}
}

// refuseTheirOwnOutput are the writers that end with an error if their output exists.
var refuseTheirOwnOutput = []string{"sample"}

// corpora builds two corpora of the sample day, the second with the tag long, without
// which no writer reads it.
func corpora(t *testing.T, arena string) (built, other, day string) {
	t.Helper()
	dir := t.TempDir()
	day, err := filepath.Abs(testDay)
	if err != nil {
		t.Fatal(err)
	}
	built = filepath.Join(dir, "built")
	other = filepath.Join(dir, "other")
	buildTestDay(t, built)
	put(t, filepath.Join(dir, "calls.jsonl"), []byte(`{"id":"1","tool":"find_product","arguments":{"q":"desk lamp"}}`+"\n"))
	if longtest.Tests {
		if b, err := exec.Command(arena, "build", day, "-o", other, "-q", "--set", "guard.seed=7").CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, b)
		}
		if b, err := exec.Command(arena, "label", built, "--n", "20", "-o", filepath.Join(dir, "drawn")).CombinedOutput(); err != nil {
			t.Fatalf("label: %v\n%s", err, b)
		}
	}
	return built, other, day
}

// contents are the hashes of all files at and below a path, by name.
func contents(t *testing.T, path string) string {
	t.Helper()
	var output strings.Builder
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		name, _ := filepath.Rel(path, file)
		fmt.Fprintf(&output, "%s %x\n", name, sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return output.String()
}

// TestAKilledWriterLeavesAllOrNothing kills each command at several moments: its output is complete
// or does not exist, and the same command then writes all of it. Without the tag long it kills each
// once.
func TestAKilledWriterLeavesAllOrNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the race detector cannot report from a killed process")
	}
	t.Parallel()
	arena := program(t)
	for name, w := range writers(corpora(t, arena)) {
		dir := t.TempDir()
		command := func(out string) *exec.Cmd {
			return exec.Command(arena, w.argsFor(filepath.Join(dir, out))...)
		}
		start := time.Now()
		if b, err := command("whole").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b)
			continue
		}
		took := time.Since(start)
		want := contents(t, filepath.Join(dir, "whole"))
		killed := filepath.Join(dir, "killed")
		for i := range 4 {
			if i != 3 && !longtest.Tests {
				continue
			}
			c := command("killed")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(took * time.Duration(i+2) / 6)
			_ = c.Process.Kill() // it may have ended already
			_ = c.Wait()         // killed, or done before
			if _, err := os.Stat(killed); err == nil && contents(t, killed) != want {
				t.Errorf("%s: killed, it left a part under the name of the whole", name)
			}
			if err := os.RemoveAll(killed); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := command("killed").CombinedOutput(); err != nil || contents(t, killed) != want {
			t.Errorf("%s: after kills: %v, or another result\n%s", name, err, b)
		}
		b, err := command("killed").CombinedOutput()
		if (err == nil) == slices.Contains(refuseTheirOwnOutput, name) || contents(t, killed) != want {
			t.Errorf("%s: given once more: %v, or another result\n%s", name, err, b)
		}
		leftovers, err := os.ReadDir(dir)
		if err != nil || len(leftovers) > 2 {
			t.Errorf("%s: got the files %q next to the output, want none: %v", name, leftovers, err)
		}
	}
}

// TestASecondWriterIsRefused runs each command while another process writes its output: the command
// fails with the reason and writes nothing. Afterwards it succeeds.
func TestASecondWriterIsRefused(t *testing.T) {
	t.Parallel()
	for name, w := range writers(corpora(t, program(t))) {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		args := w.argsFor(out)
		release, err := corpus.Lock(out)
		if err != nil {
			t.Fatal(err)
		}
		code, _, words := arenaRun(args...)
		if code != cli.ExitFailure || !strings.Contains(words, "another run is writing it") || !strings.Contains(words, "hint: wait for it") {
			t.Errorf("%s: exit %d\n%s", name, code, words)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: it wrote its output during the other process", name)
		}
		release()
		must(t, cli.ExitOK, args...)
	}
}

// TestAWriterReportsAFullDisk runs each command with its output on a disk of 32 KiB: the command
// fails with a hint, and the output path does not exist.
func TestAWriterReportsAFullDisk(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs Linux and root, and is left out by -short: it mounts a disk")
	}
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("arena", disk, "tmpfs", 0, "size=32k"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	arena := program(t)
	for name, w := range writers(corpora(t, arena)) {
		out := filepath.Join(disk, name)
		words, err := exec.Command(arena, w.argsFor(out)...).CombinedOutput()
		if err == nil { // the output is small: fill the disk before the next try
			fill(t, disk, out)
			words, err = exec.Command(arena, w.argsFor(out)...).CombinedOutput()
		}
		text := string(words)
		if err == nil || !strings.Contains(text, "no space left on device") || !strings.Contains(text, "hint: ") {
			t.Errorf("%s: %v: %s", name, err, text)
		} else if _, statErr := os.Stat(out); statErr == nil {
			t.Errorf("%s: there is something under its name", name)
		}
		empty(t, disk)
	}
}

// fill removes out and writes a file that leaves no free byte on the disk.
func fill(t *testing.T, disk, out string) {
	t.Helper()
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	err := os.WriteFile(filepath.Join(disk, "filler"), make([]byte, 64<<10), 0o600)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filled the disk: %v", err)
	}
}

// empty removes everything in a folder.
func empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}
