package student

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/runlog"
)

// Rescore scores the finished rollouts of a folder again, without the model,
// and writes results and summary anew. The judge may be another than the run's;
// the folder's spec then names the new one. Rollouts that are not finished are
// an error: play them first.
func (r *Run) Rescore(ctx context.Context) (*Summary, error) {
	if err := r.adoptJudge(); err != nil {
		return nil, err
	}
	f, err := openFolder(r.Folder, r.Spec)
	if err != nil {
		return nil, err
	}
	if left := f.missing(r.Spec); len(left) > 0 {
		return nil, errors.Join(fmt.Errorf("score again: %w: %d rollouts are missing", ErrUnfinished, len(left)), f.close())
	}
	err = r.each(ctx, f, func(key runlog.Key, result *rollout.Result) error {
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

// adoptJudge notes a new judge in the folder's spec.
func (r *Run) adoptJudge() error {
	old, err := ReadSpec(r.Folder)
	if err != nil || old.Judge == r.Spec.Judge {
		return err
	}
	old.Judge = r.Spec.Judge
	return writeJSON(filepath.Join(r.Folder, specFile), old)
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
