package student

import (
	"maps"
	"slices"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/student/inspectlog"
)

// inspectRun is what the inspect_ai log says of the run as a whole.
func (r *Run) inspectRun() inspectlog.Run {
	return inspectlog.Run{
		ID: r.runID(0), Task: "shopping_" + r.Spec.Harness, Model: r.Spec.Model, ProblemIDs: r.Problems.IDs, Samples: r.Spec.Samples,
		System: r.Spec.System, MaxSteps: r.Spec.MaxSteps, Sampling: r.Spec.Sampling, Spec: r.Spec,
	}
}

// inspectScores are the results that its viewer shows first.
func inspectScores(s *evaluation.Summary) []inspectlog.Score {
	success := inspectScore("success", s.Scored, s.InfraErrors, map[string]*float64{"accuracy": s.ASRScored, "asr_all": s.ASRAll, "stderr": s.SEScored})
	for name, rate := range s.Pass {
		success.Metrics[name] = inspectlog.Metric{Name: name, Value: rate.Mean}
	}
	all := []inspectlog.Score{success}
	if s.Quality != nil {
		all = append(all, inspectScore("quality", s.Judged, s.Samples-s.Judged, map[string]*float64{"mean": s.Quality, "final": s.Final}))
	}
	for _, axis := range slices.Sorted(maps.Keys(s.Axes)) {
		n, mean := s.AxisRollouts[axis], s.Axes[axis]
		all = append(all, inspectScore(axis, n, s.Samples-n, map[string]*float64{"mean": &mean}))
	}
	return all
}

// inspectScore leaves out the metrics that are not known.
func inspectScore(name string, scored, unscored int, metrics map[string]*float64) inspectlog.Score {
	out := inspectlog.Score{Name: name, Scorer: name, Scored: scored, Unscored: unscored, Metrics: map[string]inspectlog.Metric{}}
	for metric, v := range metrics {
		if v != nil {
			out.Metrics[metric] = inspectlog.Metric{Name: metric, Value: *v}
		}
	}
	return out
}
