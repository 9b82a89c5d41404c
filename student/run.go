package student

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Run is one evaluation: the problems, the model and the folder of the results.
type Run struct {
	Spec        Spec
	Problems    Problems
	Environment *rollout.Environment
	Asker       rollout.Model
	// Scorer scores finished rollouts.
	Scorer *outcome.Scorer
	// Judge grades their reasoning; nil for none. Spec.Judge names it.
	Judge judges.Judge
	// AtOnce is the number of rollouts that run at the same time.
	AtOnce int
	// RetryInfra runs rollouts again that ended with an infrastructure error.
	RetryInfra bool
	// Folder is the run folder, which holds all files of the run.
	Folder string
	// Contaminated holds the ids of problems that the model was trained on. Nil if that was
	// not checked; the summary then has no such part.
	Contaminated map[string]bool
	// Progress is called with every rollout that ends; may be nil.
	Progress func(*rollout.Result)

	// name is the common prefix of the run ids of all traces. naming computes it once.
	naming sync.Once
	name   string
}

// Begin prepares the folder for this run, or returns an error before a server is contacted or
// started. missing is the number of rollouts that have to run.
func (r *Run) Begin() (missing int, err error) {
	f, err := r.open()
	if err != nil {
		return 0, err
	}
	return len(f.missing(r.Spec)), f.close()
}

// open opens the run's folder. If RetryInfra is set, rollouts that ended with an infrastructure
// error count as unfinished and resume after their last complete turn.
func (r *Run) open() (*folder, error) {
	if err := r.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("check spec: %w", err)
	}
	f, err := openFolder(r.Folder, r.Spec, r.Problems.grows)
	if err != nil || !r.RetryInfra {
		return f, err
	}
	if err = f.forgetInfra(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// Play runs the rollouts that the folder lacks, and writes results and summary. After an
// interruption the same call continues. A rollout that ended as infra is finished, unless
// RetryInfra is set.
func (r *Run) Play(ctx context.Context) (*evaluation.Summary, error) {
	f, err := r.open()
	if err != nil {
		return nil, err
	}
	if r.RetryInfra {
		if err := f.unfinish(); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	var summary *evaluation.Summary
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.playAll(ctx, f) })
	g.Go(func() (err error) {
		summary, err = r.finish(ctx, f)
		return err
	})
	return summary, errors.Join(g.Wait(), f.close())
}

// playAll runs all rollouts that are not finished, at most AtOnce at the same time. The samples of
// one problem are started directly after each other, so that the prefix cache of the server can
// serve their common prompt.
func (r *Run) playAll(ctx context.Context, f *folder) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	stop := f.syncing(fail)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, r.AtOnce))
	long := semaphore.NewWeighted(longTraces)
	for _, key := range f.missing(r.Spec) {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			return r.playOne(ctx, f, key, long)
		})
	}
	err := g.Wait()
	lost := stop()
	if lost != nil && errors.Is(err, context.Canceled) {
		return lost // which is why the others ended
	}
	return errors.Join(err, lost)
}

// playOne runs one rollout from its last complete turn to its end. If its trace exceeds usualTrace
// bytes, it stops the rollout to release its memory, and resumes it when fewer than longTraces
// other long rollouts are running.
func (r *Run) playOne(
	ctx context.Context,
	f *folder,
	key journal.Key,
	long *semaphore.Weighted,
) error {
	err := r.play(ctx, f, key, usualTrace)
	if !errors.Is(err, rollout.ErrLong) {
		return err
	}
	if err = long.Acquire(ctx, 1); err != nil {
		return err
	}
	defer long.Release(1)
	return r.play(ctx, f, key, 0)
}

// play runs one rollout from its last complete turn to its end, and scores and stores its result.
// If its trace exceeds maxBytes bytes (0 means no limit), it stops with rollout.ErrLong, so that
// the rollout can be resumed later.
func (r *Run) play(
	ctx context.Context,
	f *folder,
	key journal.Key,
	maxBytes int,
) error {
	past, err := f.past(key)
	if err != nil {
		return err
	}
	task := rollout.Task{
		Problem: &r.Problems.All[key.Problem], ID: r.Problems.IDs[key.Problem], RunID: r.runID(key.Sample),
		Seed: r.Spec.Seed + int64(key.Sample), Past: past, MaxTraceBytes: maxBytes,
	}
	asker := &turns{Model: r.Asker}
	defer asker.reply.Release()
	result, err := r.Environment.Play(ctx, task, asker, func(t rollout.Turn) error {
		return f.keep(key, t)
	})
	if err != nil {
		return err
	}
	result.Sample = int(key.Sample)
	if err = r.score(ctx, task.Problem, result); err == nil {
		err = f.finish(key, result)
	}
	if err == nil && r.Progress != nil {
		r.Progress(result)
	}
	return err
}

// runID returns the run id in the traces of one sample number: eval-HASH-sSAMPLE. HASH is a hash of
// the run's settings, except those that change no trace: settings for scoring and for stored
// tokens.
func (r *Run) runID(sample uint32) string {
	r.naming.Do(func() {
		played := r.Spec
		played.Scorer, played.Judge, played.Titles, played.Keep = "", "", "", model.Keep{}
		const enough = 16
		r.name = "eval-" + digest.SHA256([]byte(written(played)))[:enough]
	})
	return fmt.Sprintf("%s-s%d", r.name, sample)
}

func (r *Run) score(
	ctx context.Context,
	p *arena.Problem,
	result *rollout.Result,
) error {
	result.SetScore(json.RawMessage("null"))
	result.Success = nil
	result.Quality = nil
	result.Titles = ""
	if result.Outcome == rollout.Infra {
		return nil
	}
	o, err := r.Scorer.Score(ctx, result.Trace, p)
	if err != nil {
		return fmt.Errorf("score rollout: %w", err)
	}
	result.Success, result.Titles = &o.Success, o.Titles
	result.SetScore(outcome.AppendScores(nil, o.Scores))
	if o.Success {
		result.Label = new(rollout.LabelSuccess)
	}
	if r.Judge == nil {
		return nil
	}
	d := rollout.Dialogue(result.Trace)
	thinking := filters.MeasureThinking(result.Trace, &d)
	j, _, err := judges.Ask(ctx, r.Judge, result.Trace, &thinking.Graded, thinking.Logged)
	if err != nil {
		return fmt.Errorf("judge rollout: %w", err)
	}
	result.Quality = j.Score
	return nil
}
