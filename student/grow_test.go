package student

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/student/rollout"
)

// TestRunsGrow holds that a run which grows in three steps, by samples, by problems and by both,
// and is killed in each, ends with the files of a run that was started with all of them. No
// finished rollout is played again.
func TestRunsGrow(t *testing.T) {
	t.Parallel()
	plans := behaviours()
	names := []string{"solve", "wrong", "loop", "malformed", "talk", "give up", "hallucinate", "empty"}
	server := &script.Server{Dialect: "oro", Latency: time.Millisecond, Plan: func(q string, _ int64) script.Plan { return plans[q].plan }}
	p := behindATurnstile(t, server, names, 4)
	atOnce := filepath.Join(p.dir, "at once")
	grown := filepath.Join(p.dir, "grown")
	p.play(t, atOnce)
	before := server.Answered()

	text, err := os.ReadFile(filepath.Join(p.dir, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	killed := 0
	for _, step := range []struct{ problems, samples, kill int }{{3, 1, 4}, {3, 2, 3}, {5, 2, 5}, {8, 4, 20}} {
		file := filepath.Join(p.dir, strconv.Itoa(step.problems)+".jsonl")
		if err := os.WriteFile(file, bytes.Join(lines[:step.problems], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		p.environment = append(p.environment, "ARENA_TEST_PROBLEMS="+file, "ARENA_TEST_SAMPLES="+strconv.Itoa(step.samples))
		if err := p.turnstile.Kill(p.command(grown), step.kill); err != nil {
			t.Fatal(err)
		}
		killed++
		p.play(t, grown)
	}
	compareFolders(t, atOnce, grown)
	if dirs, err := filepath.Glob(filepath.Join(grown, tracesFolder, "*")); err != nil || len(dirs) != 4 {
		t.Errorf("folders of traces %v, %v", dirs, err)
	}
	again := 0
	for turn, n := range server.Answered() {
		again += n - 2*before[turn]
	}
	if again < 0 || again > killed*8 {
		t.Errorf("%d turns were asked again after %d kills of 8 at a time", again, killed)
	}
}

// TestWhatIsNoGrowth checks that fewer samples, fewer or other problems and other settings are
// refused.
func TestWhatIsNoGrowth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	problem := func(id string) string {
		return `{"problem_id":"` + id + `","query":"x","category":"Product","reward":{"product_id":"1"}}` + "\n"
	}
	read := func(text string) Problems {
		path := filepath.Join(dir, strconv.Itoa(len(text))+".jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := ReadProblems(path)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	two := read(problem("a") + problem("b"))
	three := read(problem("a") + problem("b") + problem("ccc"))
	other := read(problem("a") + problem("bbbb") + problem("ccc"))
	open := read(strings.TrimSuffix(problem("a")+problem("b"), "\n")) // without a line end
	array := read("[" + strings.TrimSuffix(problem("a"), "\n") + "," + strings.TrimSuffix(problem("b"), "\n") + "]")
	spec := func(p Problems, samples int) Spec {
		return Spec{Model: "m", Samples: samples, Problems: len(p.All), ProblemsSHA256: p.SHA256}
	}
	warm := spec(three, 4)
	warm.MaxSteps = 9
	words := spec(two, 4)
	words.OverflowWords = []string{"too much"}
	for _, c := range []struct {
		name     string
		old, now Spec
		problems Problems
		want     bool
	}{
		{"more samples", spec(two, 2), spec(two, 4), two, true},
		{"more problems", spec(two, 2), spec(three, 2), three, true},
		{"both", spec(two, 2), spec(three, 4), three, true},
		{"after a file without a line end", spec(open, 2), spec(three, 2), three, true},
		{"further words for an overflow", spec(two, 4), words, two, true},
		{"fewer words", words, spec(two, 4), two, false},
		{"fewer samples", spec(two, 4), spec(two, 2), two, false},
		{"fewer problems", spec(three, 2), spec(two, 2), two, false},
		{"other problems", spec(two, 2), spec(other, 2), other, false},
		{"after an array", spec(array, 2), spec(three, 2), three, false},
		{"other settings", spec(two, 2), warm, three, false},
	} {
		if got, err := c.problems.grows(c.old, c.now); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

// TestRunsOfOtherSeedsPool checks that two runs of two samples are pooled into four, and that equal
// seeds are refused.
func TestRunsOfOtherSeedsPool(t *testing.T) {
	t.Parallel()
	plans := behaviours()
	web := httptest.NewServer(&script.Server{Dialect: "native", Plan: func(q string, seed int64) script.Plan {
		if seed == 2 {
			return plans["wrong"].plan
		}
		return plans[q].plan
	}})
	defer web.Close()
	c := openShop(t)
	p := problemFile(t, []string{"solve", "wrong", "loop"})
	dir := t.TempDir()
	play := func(name string, seed int64, samples int) string {
		run := newRun(t, c, p, web.URL, samples, filepath.Join(dir, name))
		run.Spec.Seed = seed
		if _, err := run.Play(t.Context()); err != nil {
			t.Fatal(err)
		}
		return run.Folder
	}
	joined := play("all", 0, 4)
	late := play("late", 2, 2)
	early := play("early", 0, 2)
	over := play("over", 1, 2)
	collect := func(folders ...string) (lines []rollout.Result) {
		if err := EachPooled(folders, func(r *rollout.Result) error { lines = append(lines, *r); return nil }); err != nil {
			t.Fatal(err)
		}
		return lines
	}
	if !reflect.DeepEqual(collect(late, early), collect(joined)) {
		t.Errorf("pooled %v\nat once %v", collect(late, early), collect(joined))
	}
	pooled, err := PooledSummary([]string{late, early}, nil)
	one, err2 := PooledSummary([]string{joined}, nil)
	if err != nil || err2 != nil || Table(pooled) != Table(one) {
		t.Errorf("%v %v\n%s\n%s", err, err2, Table(pooled), Table(one))
	}
	if _, _, err := PoolSpec([]string{late, early, over}); !errors.Is(err, ErrPool) || !strings.Contains(err.Error(), "the same seeds") {
		t.Errorf("overlapping seeds: %v", err)
	}
}
