package environment

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/outcome"
)

// Rewarder pays finished attempts: by the rules, the judge and a preset.
type Rewarder struct {
	Suite  *arena.Suite
	Scorer *outcome.Scorer
	// Judge grades the reasoning; nil for none.
	Judge   judges.Judge
	Weights reward.Weights
	// Teachers are the calls of solved attempts by their problem's id; nil for none.
	Teachers map[string][]arena.Call
}

// Line is what is said of one trajectory. Its reward is null where the instrument
// failed or no problem is known; Failure then says why.
type Line struct {
	RunID      string          `json:"eval_run_id"`
	ProblemID  string          `json:"problem_id"`
	Reward     *float64        `json:"reward"`
	Components Components      `json:"reward_components"`
	Success    bool            `json:"success"`
	Score      json.RawMessage `json:"score"`
	Quality    *float64        `json:"quality"`
	Flags      []string        `json:"flags"`
	// Error says why there is no score, Failure why there is no reward.
	Error   string `json:"error,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// Components are written as an object, in the order in which they were summed:
// another order could give another last digit.
type Components []reward.Component

// MarshalJSON writes the object.
func (cs Components) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, c := range cs {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(c.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, arena.Quote(c.Name)...), ':'), value...)
	}
	return append(b, '}'), nil
}

// RewardTrace pays a trajectory that was played elsewhere. Its calls are read by the
// grammar of the house, outside of thoughts.
func (p *Rewarder) RewardTrace(ctx context.Context, t *arena.Trace) (Line, error) {
	out := Line{RunID: t.RunID, ProblemID: t.ProblemID, Score: json.RawMessage("null"), Flags: []string{}}
	problem, known := p.Suite.Find(t)
	if !known {
		out.Failure = "no_problem"
		return out, nil
	}
	d := filters.Normalise(t)
	a := &reward.Attempt{Trace: t, Dialogue: &d, Problem: problem, Unreadable: unreadable(&d)}
	v, err := p.pay(ctx, a)
	if err != nil {
		return out, err
	}
	out.Reward, out.Components, out.Flags = &v.Reward.Total, v.Reward.Components, append(out.Flags, v.Reward.Flags...)
	out.Success, out.Score, out.Quality, out.Error = v.Success, v.Score, v.Quality, v.Unscored
	return out, nil
}

// unreadable counts the faults of a dialogue that stand for calls.
func unreadable(d *arena.Dialogue) (n int) {
	for _, f := range d.Faults {
		if slices.Contains([]string{calls.FaultCall, calls.FaultArguments, calls.FaultName}, f) {
			n++
		}
	}
	return n
}

func (p *Rewarder) pay(ctx context.Context, a *reward.Attempt) (Verdict, error) {
	o, err := p.Scorer.Score(ctx, a.Trace, a.Problem)
	if err != nil {
		return Verdict{}, err
	}
	a.Outcome, a.Teacher = o, p.Teachers[a.Trace.ProblemID]
	v := Verdict{Success: o.Success, Score: outcome.AppendScores(nil, o.Scores), Unscored: o.Error}
	if p.Judge != nil && a.Trace.HasDialogue {
		j, err := p.Judge.Judge(ctx, a.Trace, a.Dialogue)
		if err != nil {
			return v, fmt.Errorf("judge the reasoning: %w", err)
		}
		a.Quality = j.Score
	}
	v.Quality, v.Reward = a.Quality, p.Weights.Reward(a)
	return v, nil
}
