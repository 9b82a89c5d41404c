package student

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	// Rate is Successes / Scored, null where nothing was scored; Wilson95 is its
	// interval.
	Rate     *float64   `json:"rate"`
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
		w := stats.Wilson(p.Successes, p.Scored)
		p.Rate, p.Wilson95 = rateOf(p.Successes, p.Scored), [2]float64{w.Low, w.High}
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

// EachResult reads the results of a finished run, in order.
func EachResult(folder string, do func(*rollout.Result) error) (err error) {
	if _, err = ReadFinished(folder); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(folder, resultsFile))
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for line, err := range arena.Lines(f, maxResultLine) {
		if err != nil {
			return fmt.Errorf("read results of %s: %w", folder, err)
		}
		r := &rollout.Result{}
		if err := json.Unmarshal(line.Text, r); err != nil {
			return fmt.Errorf("read results of %s: line %d: %w", folder, line.Number, err)
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// maxResultLine bounds a result, which repeats ids that a model made up.
const maxResultLine = 64 << 20
