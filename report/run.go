package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/evaluation"
)

// Run is what the page of an evaluation shows, all of it read from the run's
// folder and none of it dependent on a clock: a resumed run has the same page.
type Run struct {
	Name    string
	Spec    map[string]json.RawMessage
	Summary evaluation.Summary
	// Turns and Tokens count scored rollouts, solved and not.
	Turns, Tokens spread
	// SolvedBy counts problems by how many of their samples solve them.
	SolvedBy []int
	// Flaky are the first of the problems that some samples solve, Examples
	// rollouts of each end.
	Flaky    []flaky
	Examples []Talk
}

// runResult is a line of results.jsonl.
type runResult struct {
	Problem string            `json:"problem_id"`
	Sample  int               `json:"sample"`
	Outcome string            `json:"outcome"`
	Success *bool             `json:"success"`
	Turns   int               `json:"turns"`
	Label   *string           `json:"label"`
	Infra   *string           `json:"infra"`
	Tokens  evaluation.Tokens `json:"tokens"`
}

// flaky is a problem that some of its samples solve.
type flaky struct {
	problem         string
	solved, samples int
}

// maxFlaky and examplesOf bound the page; the files beside it hold all.
const (
	maxFlaky   = 12
	examplesOf = 2
)

// ReadRun reads the folder of a finished run.
func ReadRun(folder string) (*Run, error) {
	r := &Run{Name: filepath.Base(filepath.Clean(folder))}
	if err := readJSON(folder, "spec.json", &r.Spec); err != nil {
		return nil, err
	}
	if err := readJSON(folder, "summary.json", &r.Summary); err != nil {
		return nil, err
	}
	return r, r.readResults(folder)
}

func readJSON(folder, name string, to any) error {
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("read %s of %s: %w", name, folder, err)
	}
	return nil
}

// maxResultLine bounds a result, which repeats ids that a model made up.
const maxResultLine = 64 << 20

// readResults counts all results and picks the examples.
func (r *Run) readResults(folder string) (err error) {
	f, err := os.Open(filepath.Join(folder, "results.jsonl"))
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	counting := counter{run: r, seen: map[string]int{}}
	at := 0
	for line, err := range arena.Lines(f, maxResultLine) {
		if err != nil {
			return fmt.Errorf("read results of %s: %w", folder, err)
		}
		var result runResult
		if err := json.Unmarshal(line.Text, &result); err != nil {
			return fmt.Errorf("read results of %s: line %d: %w", folder, line.Number, err)
		}
		counting.add(result, at)
		at++
	}
	counting.endProblem()
	slices.SortStableFunc(counting.picked, func(a, b pick) int { return strings.Compare(a.end, b.end) })
	r.Examples, err = readTalks(filepath.Join(folder, "inspect.eval"), counting.picked)
	return err
}

// counter adds results up, problem by problem.
type counter struct {
	run    *Run
	seen   map[string]int
	picked []pick
	now    flaky
}

// pick is a rollout to show: its place among the results and its end.
type pick struct {
	at  int
	end string
}

func (c *counter) add(r runResult, at int) {
	if r.Problem != c.now.problem || c.now.samples == 0 {
		c.endProblem()
		c.now = flaky{problem: r.Problem}
	}
	c.now.samples++
	end := endOf(r)
	if c.seen[end]++; c.seen[end] <= examplesOf {
		c.picked = append(c.picked, pick{at, end})
	}
	if r.Success == nil {
		return
	}
	if *r.Success {
		c.now.solved++
	}
	c.run.Turns.add(float64(r.Turns), *r.Success)
	if n := r.Tokens.Completion; n != nil {
		c.run.Tokens.add(float64(*n), *r.Success)
	}
}

// endOf is how a rollout ended, in a word.
func endOf(r runResult) string {
	switch {
	case r.Infra != nil:
		return "infra: " + *r.Infra
	case r.Label != nil && *r.Label != "":
		return *r.Label
	default:
		return solved
	}
}

const solved = "solved"

func (c *counter) endProblem() {
	n := c.now
	if n.samples == 0 {
		return
	}
	for len(c.run.SolvedBy) <= n.samples {
		c.run.SolvedBy = append(c.run.SolvedBy, 0)
	}
	c.run.SolvedBy[n.solved]++
	if n.solved > 0 && n.solved < n.samples && len(c.run.Flaky) < maxFlaky {
		c.run.Flaky = append(c.run.Flaky, n)
	}
}
