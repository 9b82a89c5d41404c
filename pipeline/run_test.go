package pipeline_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/judges/shop/steps"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/shop"
)

var sampleDay = "../testdata/day"

func TestMain(m *testing.M) {
	code := longtest.RunOnDay(m, &sampleDay)
	if err := os.RemoveAll(sampleBuild.dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// lengthJudge grades by a property of the trace alone, so that a test needs no
// real judge and grades still differ.
type lengthJudge struct{}

func (lengthJudge) Judge(_ context.Context, t *arena.Trace, _ *arena.Dialogue) (arena.Judgement, error) {
	score := []float64{0.5, 0.7, 0.9}[len(t.Steps)%3]
	return arena.Judgement{Judge: "length_v0", Outcome: arena.JudgeScored, Score: &score, Gates: []bool{true}}, nil
}

func newRun(t *testing.T, day, out string) *pipeline.Run {
	t.Helper()
	harness, err := shop.Profile("7-tool")
	if err != nil {
		t.Fatal(err)
	}
	config := pipeline.Defaults()
	config.Workers = 2
	rule, _ := judges.StepsByFlag("steps")
	labels, _, err := rule.OpenSteps(nil)
	if err != nil {
		t.Fatal(err)
	}
	instruments := pipeline.Instruments{
		Titles:    pipeline.TitlesInstrument{Source: arena.TitlesVectors},
		Judge:     pipeline.InstrumentID{Name: "gates_v5"},
		StepJudge: pipeline.InstrumentID{Name: steps.Name},
	}
	return &pipeline.Run{
		Config: config, Instruments: instruments, Sources: pipeline.Sources{Days: []string{day}}, Out: out, Work: out + ".work",
		Version: "test", Harness: harness, Judge: lengthJudge{}, StepJudge: labels, Titles: outcome.Carried{}, FS: corpus.Disk{},
	}
}

func build(t *testing.T, r *pipeline.Run) *pipeline.Summary {
	t.Helper()
	s, err := r.Build(t.Context())
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return s
}

// sampleBuild is a build of the sample day, made once for the tests that begin with one.
var sampleBuild struct {
	sync.Once
	dir     string
	summary *pipeline.Summary
}

// builtSample copies newRun's build of the sample day to out, with its work folder next to it.
func builtSample(t *testing.T, out string) *pipeline.Summary {
	t.Helper()
	sampleBuild.Do(func() {
		dir, err := os.MkdirTemp("", "built-") //nolint:usetesting // it outlives the test that asks first
		if err != nil {
			t.Fatal(err)
		}
		sampleBuild.dir = dir
		sampleBuild.summary = build(t, newRun(t, sampleDay, filepath.Join(dir, "corpus")))
	})
	if sampleBuild.summary == nil {
		t.Fatal("the build of the sample day failed")
	}
	for entry, target := range map[string]string{"corpus": out, "corpus.work": out + ".work"} {
		if err := os.CopyFS(target, os.DirFS(filepath.Join(sampleBuild.dir, entry))); err != nil {
			t.Fatal(err)
		}
	}
	return sampleBuild.summary
}

// sums are the hashes of all files of a corpus, by path.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		sum := sha256.Sum256(b)
		out[rel] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBuildWritesAVerifiedCorpus(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	s := builtSample(t, out)
	for _, config := range []string{"sft/train", "sft/eval", "rl/train", "rl/eval", "pref/train", "kto/train"} {
		if s.Rows[config] == 0 {
			t.Errorf("%s has no rows: %v", config, s.Rows)
		}
	}
	verified(t, out)
}

// verified holds a corpus against its promises.
func verified(t *testing.T, dir string) {
	t.Helper()
	findings, err := verify.Corpus(t.Context(), corpus.Disk{}, dir)
	if err != nil || len(findings) > 0 {
		t.Errorf("verify %s: %v, %v", dir, findings, err)
	}
}

// TestWhatWasNotCountedHasNoCounter checks that the ledger names the counter of tokens of those
// attempts alone that were made into text.
func TestWhatWasNotCountedHasNoCounter(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	builtSample(t, out)
	counted := 0
	uncounted := 0
	for _, a := range readRows[rows.Attempt](t, out, "tables/attempts.parquet") {
		isCounted := a.TokenCounter != ""
		if isCounted != (a.NTokens > 0) || !isCounted && a.Fate == rows.FateKept {
			t.Errorf("%s, %s: %d tokens by the counter %q", a.TraceID, a.Fate, a.NTokens, a.TokenCounter)
		}
		if isCounted {
			counted++
		} else {
			uncounted++
		}
	}
	if counted == 0 || uncounted == 0 {
		t.Errorf("%d counted and %d not, want some of each", counted, uncounted)
	}
}
