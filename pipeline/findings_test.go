package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline"
)

// TestATierThatRanForOneSplitOnlyIsReported checks that the report names an embedding tier that was
// missing for the first of the two splits, since each split has a guard of its own.
func TestATierThatRanForOneSplitOnlyIsReported(t *testing.T) {
	t.Parallel()
	r := newRun(t, sampleDay, filepath.Join(t.TempDir(), "corpus"))
	requests := 0
	r.Embedding = func(_ context.Context, _ *guard.Guard, report *guard.Report) (*guard.EmbeddingTier, error) {
		if requests++; requests == 1 {
			report.NotRun = "embedding: the endpoint is down"
		}
		return nil, nil
	}
	build(t, r)
	if report := readFile(t, filepath.Join(r.Out, "reports", "leak.json")); !strings.Contains(report, "the endpoint is down") {
		t.Errorf("the report does not name the failed tier:\n%s", report)
	}
}

// planned is a run of the sample day with a plan, which change may spoil.
func planned(t *testing.T, out string, change func(*pipeline.PlannedProtection, *guard.State)) *pipeline.Run {
	t.Helper()
	r := newRun(t, sampleDay, out)
	var err error
	if r.Terms, err = r.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := r.Terms.Protection
	bank, err := guard.ReadState(bytes.NewReader(d.Bank))
	if err != nil {
		t.Fatal(err)
	}
	change(d, bank)
	d.Bank = bank.Encode()
	return r
}

func inPool(bank *guard.State, pool guard.Pool) *guard.StateCluster {
	return &bank.Clusters[slices.IndexFunc(bank.Clusters, func(c guard.StateCluster) bool { return c.Pool == pool })]
}

// TestStagesTakeOverWhatThePlanDecided checks that no stage splits the problems or compares their
// meanings again, and that a plan with one more protected cluster is followed.
func TestStagesTakeOverWhatThePlanDecided(t *testing.T) {
	t.Parallel()
	var more string
	r := planned(t, filepath.Join(t.TempDir(), "corpus"), func(_ *pipeline.PlannedProtection, bank *guard.State) {
		c := inPool(bank, guard.PoolTrain)
		c.Pool, more = guard.PoolNeverTouch, c.ID
	})
	r.Embedding = func(context.Context, *guard.Guard, *guard.Report) (*guard.EmbeddingTier, error) {
		t.Error("the problems' meanings are compared again")
		return nil, nil
	}
	if err := r.Map(t.Context(), pipeline.Unsharded); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Group(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(t.Context(), pipeline.Unsharded); err != nil {
		t.Fatal(err)
	}
	bank, err := guard.ReadState(strings.NewReader(readFile(t, filepath.Join(r.Out, "bank.json"))))
	if err != nil || bank.Pool(more) != guard.PoolNeverTouch {
		t.Errorf("the corpus has the cluster in %q: %v", bank.Pool(more), err)
	}
}

func TestAPlanThatProtectsLessIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, newRun(t, sampleDay, filepath.Join(dir, "first")))
	for name, tt := range map[string]struct {
		change func(*pipeline.PlannedProtection, *guard.State)
		run    func(*pipeline.Run)
		want   string
	}{
		"a split without a problem":  {change: func(_ *pipeline.PlannedProtection, bank *guard.State) { bank.Clusters = bank.Clusters[1:] }, want: "split for other problems"},
		"findings of other problems": {change: func(d *pipeline.PlannedProtection, _ *guard.State) { d.Problems = d.Problems[1:] }, want: "split for other problems"},
		"a split that is none":       {change: func(_ *pipeline.PlannedProtection, bank *guard.State) { bank.Clusters[0].Pool = "open" }, want: "pool is"},
		"a pool that the bank protects more": {
			change: func(_ *pipeline.PlannedProtection, bank *guard.State) {
				inPool(bank, guard.PoolEval).Pool = guard.PoolTrain
			},
			run: func(r *pipeline.Run) { r.Sources.Bank = filepath.Join(dir, "first", "bank.json") }, want: "is eval, and its split has it elsewhere",
		},
		"a problem that a held-out file has": {
			change: func(*pipeline.PlannedProtection, *guard.State) {},
			run: func(r *pipeline.Run) {
				heldOut := filepath.Join(dir, "held.jsonl")
				writeFile(t, heldOut, `{"id":"mat","query":"a door mat that nobody asked for"}`)
				r.Sources.HeldOut = []string{heldOut}
			}, want: "is held-out, and its split has it elsewhere",
		},
		"another build of the program": {
			change: func(*pipeline.PlannedProtection, *guard.State) {},
			run:    func(r *pipeline.Run) { r.Program = "another"; r.Terms.Program = "this" }, want: "build \"this\" of the program, not \"another\"",
		},
		"other problems": {
			change: func(*pipeline.PlannedProtection, *guard.State) {},
			run: func(r *pipeline.Run) {
				problems := filepath.Join(dir, "problems.jsonl")
				writeFile(t, problems, readFile(t, filepath.Join(sampleDay, "problems.jsonl"))+"\n")
				r.Sources.Problems = []string{problems}
			}, want: "problems.jsonl is not in the plan, or was changed since",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := planned(t, filepath.Join(t.TempDir(), "corpus"), tt.change)
			if tt.run != nil {
				tt.run(r)
			}
			for step, err := range map[string]error{"map": r.Map(t.Context(), pipeline.Unsharded), "group": second(r.Group(t.Context(), 1)), "write": second(r.Write(t.Context(), pipeline.Unsharded))} {
				if !errors.Is(err, pipeline.ErrTerms) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: %v", step, err)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }
