package student

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/rollout"
)

// TestPlayInItsOwnProcess is no test of its own: TestKilledRunsGoOn starts it
// as the process that is killed.
func TestPlayInItsOwnProcess(t *testing.T) {
	folder := os.Getenv("ARENA_TEST_RUN")
	if folder == "" {
		t.Skip("run by TestKilledRunsGoOn")
	}
	c, err := shop.Open(t.Context(), os.Getenv("ARENA_TEST_CATALOG"), "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadProblems(os.Getenv("ARENA_TEST_PROBLEMS"))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := strconv.Atoi(os.Getenv("ARENA_TEST_SAMPLES"))
	if err != nil {
		t.Fatal(err)
	}
	run := newRun(t, c, p, os.Getenv("ARENA_TEST_URL"), samples, folder)
	run.AtOnce = 8
	if _, err := run.Play(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestKilledRunsGoOn kills a run repeatedly at different moments. Its final files are those of an
// uninterrupted run, and no turn was requested again except those whose reply was in flight when
// the process died.
func TestKilledRunsGoOn(t *testing.T) {
	t.Parallel()
	plans := behaviours()
	var names []string
	for name, b := range plans {
		if b.infra == "" && !strings.Contains(name, "flaky") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	server := &script.Server{Dialect: "oro", Latency: 5 * time.Millisecond, Plan: func(q string, seed int64) script.Plan {
		if q == "solve" && seed == 1 {
			return plans["wrong"].plan
		}
		return plans[q].plan
	}}
	p := behindATurnstile(t, server, names, 2)
	single := filepath.Join(p.dir, "alone")
	killed := filepath.Join(p.dir, "killed")
	p.play(t, single)
	before := server.Answered()
	kills := []int{0, 1, 2, 3, 7, 5, 11, 30, 17}
	for _, answers := range kills {
		if err := p.turnstile.Kill(p.command(killed), answers); err != nil {
			t.Fatal(err)
		}
	}
	p.play(t, killed)
	compareFolders(t, single, killed)
	again := 0
	for turn, n := range server.Answered() {
		again += n - 2*before[turn]
	}
	t.Logf("%d kills, %d of %d turns asked again", len(kills), again, len(before))
	if again < 0 || again > len(kills)*8 {
		t.Errorf("%d turns were asked again after %d kills of 8 at a time", again, len(kills))
	}
	requests := fmt.Sprint(server.Answered())
	p.play(t, killed)
	if fmt.Sprint(server.Answered()) != requests {
		t.Error("a finished run asked again")
	}
	compareFolders(t, single, killed)
}

// TestTheFaultPlan plays each of 36 behaviours six times with the tag long and once without it, and
// kills the run three times. Each rollout ends as its script implies, and only turns in flight are
// requested again.
func TestTheFaultPlan(t *testing.T) {
	t.Parallel()
	samples := 1
	kills := []int{20, 30, 15}
	if longtest.Tests {
		samples = 6
		kills = []int{120, 180, 90}
	}
	behaviourSet := behaviours()
	behaviourSet["solve again"], behaviourSet["wrong again"] = behaviourSet["solve"], behaviourSet["wrong"]
	names := slices.Sorted(maps.Keys(behaviourSet))
	server := &script.Server{Dialect: "native", Plan: func(q string, _ int64) script.Plan { return behaviourSet[q].plan }}
	p := behindATurnstile(t, server, names, samples)
	folder := filepath.Join(p.dir, "run")
	for _, requests := range kills {
		if err := p.turnstile.Kill(p.command(folder), requests); err != nil {
			t.Fatal(err)
		}
	}
	p.play(t, folder)
	b, err := os.ReadFile(filepath.Join(folder, SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	var summary evaluation.Summary
	if err = json.Unmarshal(b, &summary); err != nil {
		t.Fatal(err)
	}
	checkBehaviours(t, behaviourSet, names, samples, readResults(t, folder), &summary)
	again := 0
	for turn, n := range server.Answered() {
		again += n - 1
		if n > 1+len(kills) {
			t.Errorf("%s was answered %d times", turn, n)
		}
	}
	t.Logf("%d rollouts, %d kills: %d scored, %d infra, coverage %.4f; %d replies asked again",
		summary.Samples, len(kills), summary.Scored, summary.InfraErrors, summary.Coverage, again)
	if again > len(kills)*8 {
		t.Errorf("%d replies were asked again after %d kills of 8 at a time", again, len(kills))
	}
	requests := fmt.Sprint(server.Asked())
	p.play(t, folder)
	if fmt.Sprint(server.Asked()) != requests {
		t.Error("a finished run asked again")
	}
}

// played is a run in a process of its own, whose server answers through a turnstile.
type played struct {
	dir         string
	turnstile   *script.Turnstile
	environment []string
}

func behindATurnstile(t *testing.T, server http.Handler, names []string, samples int) *played {
	t.Helper()
	p := &played{dir: t.TempDir(), turnstile: &script.Turnstile{}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.turnstile.Pass() {
			server.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the client is not noticed
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	catalog, problems := copyInputs(t, p.dir, names)
	p.environment = append(os.Environ(), "ARENA_TEST_CATALOG="+catalog, "ARENA_TEST_PROBLEMS="+problems, "ARENA_TEST_URL="+web.URL,
		"ARENA_TEST_SAMPLES="+strconv.Itoa(samples), "TMPDIR="+p.dir)
	return p
}

func (p *played) command(folder string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run", "^TestPlayInItsOwnProcess$")
	c.Env = append(slices.Clip(p.environment), "ARENA_TEST_RUN="+folder)
	return c
}

func (p *played) play(t *testing.T, folder string) {
	t.Helper()
	p.turnstile.Open(math.MaxInt)
	if out, err := p.command(folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func copyInputs(t *testing.T, dir string, names []string) (catalog, problems string) {
	t.Helper()
	c := openShop(t)
	catalog = filepath.Join(dir, "catalog.jsonl")
	problems = filepath.Join(dir, "problems.jsonl")
	var lines bytes.Buffer
	for _, id := range []string{"900001", "900002", "900003"} {
		text, _ := c.Document(id)
		lines.WriteString(string(text) + "\n")
	}
	if err := os.WriteFile(catalog, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	lines.Reset()
	for _, p := range problemFile(t, names).All {
		lines.WriteString(string(p.Raw) + "\n")
	}
	if err := os.WriteFile(problems, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return catalog, problems
}

// compareFolders holds every output of two runs of one spec against each
// other.
func compareFolders(t *testing.T, a, b string) {
	t.Helper()
	var files []string
	for _, pattern := range []string{SummaryFile, resultsFile, parquetFile, problemsFile, specFile, tracesFolder + "/*/*"} {
		paths, err := filepath.Glob(filepath.Join(a, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		files = append(files, paths...)
	}
	for _, f := range files {
		rel, _ := filepath.Rel(a, f)
		x, err := os.ReadFile(f)
		y, err2 := os.ReadFile(filepath.Join(b, rel))
		if err != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs: %v %v", rel, err, err2)
		}
	}
}

// TestHalfWrittenFilesAreRemoved checks that temporary files which a killed process left next to
// its output are removed.
func TestHalfWrittenFilesAreRemoved(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	traces := filepath.Join(path, tracesFolder, "run=eval-0-s0")
	reopen := func() {
		t.Helper()
		f, err := openFolder(path, Spec{}, nil)
		if err = errors.Join(err, os.MkdirAll(traces, 0o755)); err == nil {
			err = f.close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	runFile := filepath.Join(traces, "run.json")
	half := []string{filepath.Join(path, ".new-1"), filepath.Join(traces, ".new-2")}
	for _, name := range append(half, runFile) {
		if err := os.WriteFile(name, []byte("{"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	for _, name := range half {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	if _, err := os.Stat(runFile); err != nil {
		t.Error(err)
	}
}

func TestChangedInputsAreRefused(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(&script.Server{Dialect: "native", Plan: func(string, int64) script.Plan { return behaviours()["solve"].plan }})
	defer web.Close()
	c := openShop(t)
	p := problemFile(t, []string{"solve"})
	run := newRun(t, c, p, web.URL, 1, filepath.Join(t.TempDir(), "run"))
	if _, err := run.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	run.Spec.Seed = 7
	run.Spec.Model = "another"
	_, err := run.Play(t.Context())
	if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), `model: "script", "another"; seed: 0, 7`) {
		t.Errorf("changed spec: %v", err)
	}
	other := newRun(t, c, p, web.URL, 1, t.TempDir())
	if err := os.WriteFile(filepath.Join(other.Folder, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Play(t.Context()); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder that is no run: %v", err)
	}
}

// TestEverySamplingIsTakenUpAgain holds that the sampling options of a run are read back from its
// folder, for every way to write them.
func TestEverySamplingIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	for _, kwargs := range []string{"", `{}`, `{"enable_thinking":false}`, `{ "b": [1, {"a": "<é>"}],  "a": null }`} {
		spec := Spec{Model: "m", Sampling: model.Sampling{
			Temperature: new(0.0), TopP: new(0.95), TopK: new(-1), MinP: new(0.05), MaxTokens: new(1), TemplateKwargs: json.RawMessage(kwargs),
		}}
		f := folder{path: t.TempDir()}
		for range 2 {
			if _, err := f.claim(spec, nil); err != nil {
				t.Errorf("chat_template_kwargs %s: %v", kwargs, err)
			}
		}
		if err := os.WriteFile(f.file(turnsFile), []byte("a turn"), 0o600); err != nil {
			t.Fatal(err)
		}
		spec.Sampling.TemplateKwargs = json.RawMessage(`{"other": 1}`)
		if _, err := f.claim(spec, nil); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "sampling") {
			t.Errorf("changed from %s: %v", kwargs, err)
		}
	}
}

func TestRescoreWritesTheSameBytes(t *testing.T) {
	t.Parallel()
	plans := behaviours()
	web := httptest.NewServer(&script.Server{Dialect: "native", Plan: func(q string, _ int64) script.Plan { return plans[q].plan }})
	c := openShop(t)
	p := problemFile(t, []string{"solve", "wrong", "loop", "refused 400"})
	run := newRun(t, c, p, web.URL, 2, filepath.Join(t.TempDir(), "run"))
	if _, err := run.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	web.Close()
	before, err := os.ReadFile(filepath.Join(run.Folder, SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = run.Rescore(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(run.Folder, SummaryFile))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v\n%s\n%s", err, before, after)
	}
}

// brokenJudge ends the run.
type brokenJudge struct{}

func (brokenJudge) Judge(context.Context, *arena.Trace, *arena.Dialogue) (arena.Judgement, error) {
	return arena.Judgement{}, errors.New("no more money")
}

// TestDamagedSpecNamesTheWayOn checks that the error for a truncated spec of a run, which cannot be
// restored, asks for another folder.
func TestDamagedSpecNamesTheWayOn(t *testing.T) {
	t.Parallel()
	f := folder{path: t.TempDir()}
	if err := os.WriteFile(f.file(specFile), []byte(`{"model":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.claim(Spec{}, nil); err == nil || !strings.Contains(err.Error(), f.file(specFile)) || !strings.Contains(err.Error(), "in another folder") {
		t.Errorf("error %v", err)
	}
}

// TestRescoreThatIsRefusedChangesNothing checks that a run keeps its judge until another one has
// graded its rollouts, and that it is unfinished in between.
func TestRescoreThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(&script.Server{Dialect: "native", Plan: func(string, int64) script.Plan { return behaviours()["solve"].plan }})
	defer web.Close()
	run := newRun(t, openShop(t), problemFile(t, []string{"solve"}), web.URL, 1, filepath.Join(t.TempDir(), "run"))
	if _, err := run.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	played := run.Spec
	run.Judge = brokenJudge{}
	run.Spec.Judge = "another"
	run.Spec.ProblemsSHA256 = "another"
	if _, err := run.Rescore(t.Context()); !errors.Is(err, ErrChanged) || strings.Contains(err.Error(), "judge") {
		t.Errorf("other problems: %v", err)
	}
	run.Spec = played
	run.Spec.Judge = "another"
	f, err := openFolder(run.Folder, played, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = run.Rescore(t.Context()); err == nil {
		t.Error("scored again while another process has the run")
	}
	if err = f.close(); err != nil {
		t.Fatal(err)
	}
	spec, err := ReadFinished(run.Folder)
	if err != nil || spec.Judge != played.Judge {
		t.Errorf("refused, and yet the judge is %q: %v", spec.Judge, err)
	}
	run.Spec.Judge = "another"
	if _, err = run.Rescore(t.Context()); err == nil {
		t.Error("the judge failed without an error")
	}
	if err = EachResult(run.Folder, func(*rollout.Result) error { return nil }); !errors.Is(err, ErrUnfinished) {
		t.Errorf("half scored again, and read as finished: %v", err)
	}
	run.Judge = nil
	if _, err = run.Rescore(t.Context()); err != nil {
		t.Error(err)
	}
	if spec, err = ReadFinished(run.Folder); err != nil || spec.Judge != "another" {
		t.Errorf("scored again: judge %q, %v", spec.Judge, err)
	}
}

// TestWhatGotNoAnswerIsAskedAgain checks that with RetryInfra a run whose server failed ends as one
// whose server never failed, and repeats no answered request.
func TestWhatGotNoAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	var mended atomic.Bool
	server := &script.Server{Dialect: "native", Plan: func(q string, _ int64) script.Plan {
		plan := slices.Clone(behaviours()["solve"].plan)
		if q == "late" && !mended.Load() {
			plan[1].Fault = script.Reply(500, "fault")
		}
		return plan
	}}
	web := httptest.NewServer(server)
	defer web.Close()
	c := openShop(t)
	p := problemFile(t, []string{"early", "late"})
	run := newRun(t, c, p, web.URL, 2, filepath.Join(t.TempDir(), "run"))
	if s, err := run.Play(t.Context()); err != nil || s.InfraErrors != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	mended.Store(true)
	if s, err := run.Play(t.Context()); err != nil || s.InfraErrors != 2 {
		t.Errorf("a finished run was not left alone: %+v, %v", s, err)
	}
	run.RetryInfra = true
	if s, err := run.Play(t.Context()); err != nil || s.Successes != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	for turn, n := range server.Answered() {
		if n != 1 {
			t.Errorf("%s was answered %d times", turn, n)
		}
	}
	undisturbed := newRun(t, c, p, web.URL, 2, filepath.Join(t.TempDir(), "run"))
	if _, err := undisturbed.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	compareFolders(t, undisturbed.Folder, run.Folder)
}
