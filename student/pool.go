package student

import (
	"slices"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/student/rollout"
)

// EachPooled reads the results of finished runs as those of one run: problem by problem, with the
// samples of each problem in the order of their seeds and numbered from 0. A single run is read as
// it is.
func EachPooled(folders []string, do func(*rollout.Result) error) error {
	if len(folders) == 1 {
		return EachResult(folders[0], do)
	}
	_, specs, err := PoolSpec(folders)
	if err != nil {
		return err
	}
	order := slices.Clone(folders)
	seeds := map[string]int64{}
	for i, folder := range folders {
		seeds[folder] = specs[i].Seed
	}
	slicesx.SortByKey(order, func(id string) int64 {
		return seeds[id]
	})
	var ids []string
	results := map[string][]*rollout.Result{}
	for _, folder := range order {
		err := EachResult(folder, func(r *rollout.Result) error {
			if results[r.ProblemID] == nil {
				ids = append(ids, r.ProblemID)
			}
			r.Sample = len(results[r.ProblemID])
			results[r.ProblemID] = append(results[r.ProblemID], r)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, id := range ids {
		for _, r := range results[id] {
			if err := do(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// PooledSummary returns the summary of finished runs as that of one run. groups are the groups of
// their problems.
func PooledSummary(folders []string, groups map[string]int) (*evaluation.Summary, error) {
	spec, _, err := PoolSpec(folders)
	if err != nil {
		return nil, err
	}
	t := newTally(nil, spec.Dialect.SendsTools(), groups)
	t.toolsUnseen = slices.ContainsFunc(folders, toolsUnseen)
	err = EachPooled(folders, func(r *rollout.Result) error {
		r.SetScore(r.Score)
		t.add(r)
		if r.Sample == spec.Samples-1 {
			t.endProblem()
		}
		return nil
	})
	return t.summary(), err
}
