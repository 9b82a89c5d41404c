package student

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/student/rollout"
)

// ProblemResult is what the samples of a run say of one problem.
type ProblemResult struct {
	ProblemID string         `json:"problem_id"`
	Category  arena.Category `json:"category"`
	Samples   int            `json:"samples"`
	Scored    int            `json:"scored"`
	Successes int            `json:"successes"`
	// Rate counts infra as not solved; Wilson95 is its interval.
	Rate     float64    `json:"rate"`
	Wilson95 [2]float64 `json:"wilson95"`
	// Flaky is a problem that some scored samples solve and some do not.
	Flaky bool `json:"flaky"`
}

// EachProblem reads the results of a finished run problem by problem, in order.
func EachProblem(folder string, do func(*ProblemResult) error) error {
	var p *ProblemResult
	end := func() error {
		if p == nil {
			return nil
		}
		w := stats.Wilson(p.Successes, p.Samples)
		p.Rate, p.Wilson95 = ratio(p.Successes, p.Samples), [2]float64{w.Low, w.High}
		p.Flaky = p.Successes > 0 && p.Successes < p.Scored
		return do(p)
	}
	err := EachResult(folder, func(r *rollout.Result) error {
		if p == nil || p.ProblemID != r.ProblemID {
			if err := end(); err != nil {
				return err
			}
			p = &ProblemResult{ProblemID: r.ProblemID, Category: r.Category}
		}
		p.Samples++
		if r.Success != nil {
			p.Scored++
			if *r.Success {
				p.Successes++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}
