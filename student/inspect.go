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
	success := inspectlog.Score{Name: "success", Scored: s.Scored, Unscored: s.InfraErrors}
	success.Metrics = metrics(map[string]*float64{"accuracy": s.ASRScored, "asr_all": s.ASRAll, "stderr": s.SEScored})
	for _, name := range slices.Sorted(maps.Keys(s.Pass)) {
		success.Metrics = append(success.Metrics, inspectlog.Metric{Name: name, Value: s.Pass[name].Mean})
	}
	all := []inspectlog.Score{success}
	if s.Quality != nil {
		all = append(all, inspectlog.Score{Name: "quality", Scored: s.Judged, Unscored: s.Samples - s.Judged,
			Metrics: metrics(map[string]*float64{"mean": s.Quality, "final": s.Final})})
	}
	for _, axis := range slices.Sorted(maps.Keys(s.Axes)) {
		n := s.AxisRollouts[axis]
		all = append(all, inspectlog.Score{Name: axis, Scored: n, Unscored: s.Samples - n, Metrics: []inspectlog.Metric{{Name: "mean", Value: s.Axes[axis]}}})
	}
	return all
}

// metrics leaves out what is not known.
func metrics(all map[string]*float64) (known []inspectlog.Metric) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if v := all[name]; v != nil {
			known = append(known, inspectlog.Metric{Name: name, Value: *v})
		}
	}
	return known
}
