package student

import (
	"context"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Rescore scores the finished rollouts of a folder again, without the model,
// and writes results and summary anew. The judge may be another than the run's, and
// titles may be compared otherwise; the folder's spec then names the new ones. Rollouts that are not finished are
// an error: play them first.
func (r *Run) Rescore(ctx context.Context) (*evaluation.Summary, error) {
	old, err := ReadSpec(r.Folder)
	if err != nil {
		return nil, err
	}
	judge, titles := r.Spec.Judge, r.Spec.Titles
	r.Spec.Judge, r.Spec.Titles = old.Judge, old.Titles
	f, err := openFolder(r.Folder, r.Spec)
	if err != nil {
		return nil, err
	}
	if left := f.missing(r.Spec); len(left) > 0 {
		return nil, errors.Join(fmt.Errorf("score again: %w: %d rollouts are missing", ErrUnfinished, len(left)), f.close())
	}
	r.Spec.Judge, r.Spec.Titles = judge, titles
	// Results by the old judge may be half replaced from now on, so the run is not
	// finished until its summary is written again.
	if err = f.unfinish(); err == nil {
		err = WriteJSON(f.file(specFile), r.Spec)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("score again: %w", err), f.close())
	}
	err = r.each(ctx, f, func(key journal.Key, result *rollout.Result) error {
		before := result.Label
		if bad := r.score(ctx, &r.Problems.All[key.Problem], result); bad != nil {
			return bad
		}
		if before != nil && *before == rollout.LabelSuccess && !*result.Success {
			result.Label = failedAfterAll(result)
		}
		return f.finish(key, result)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("score again: %w", err), f.close())
	}
	summary, err := r.finish(ctx, f)
	return summary, errors.Join(err, f.close())
}

// failedAfterAll is the label of what was a success by other rules: there was
// a recommendation, or there had been none.
func failedAfterAll(r *rollout.Result) *rollout.Label {
	l := rollout.LabelWrongProduct
	if r.HallucinatedIDs > 0 {
		l = rollout.LabelHallucinated
	}
	return &l
}
