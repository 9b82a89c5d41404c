package environment

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// Rewarder computes the rewards of finished attempts: by the outcome rules, the judge and
// a preset of weights.
type Rewarder struct {
	// Domain is the domain of the attempts if it is not the shop. Scorer, Judge, Frames and Teachers
	// are then nil, and what they measure has no value. Attempts at problems that are not in Suite
	// have their own requests.
	Domain *domain.Domain
	Suite  *arena.Suite
	Scorer *outcome.Scorer
	// Judge grades the reasoning; nil for no judge.
	Judge   judges.Judge
	Weights reward.Weights
	// Frames holds the passages of earlier episodes; nil if frames are not counted, since
	// the rewards then depend on the order of the episodes.
	Frames *frames.Window
	// Teachers are the calls of solved attempts by problem id; nil if none.
	Teachers map[string][]arena.Call
}

// Line is the reward of one trajectory. Reward is null if the problem is unknown or scoring failed;
// Failure is then the reason.
type Line struct {
	RunID      string     `json:"eval_run_id"`
	ProblemID  string     `json:"problem_id"`
	Reward     *float64   `json:"reward"`
	Components Components `json:"reward_components"`
	// Success is null if the outcome is unknown.
	Success *bool           `json:"success"`
	Score   json.RawMessage `json:"score"`
	Quality *float64        `json:"quality"`
	Flags   []string        `json:"flags"`
	// Error is the reason for a missing score, Failure that for a missing reward.
	Error   string `json:"error,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// Components are the parts of a reward, encoded as an object in the order of their sum:
// another order could change the last digit.
type Components []reward.Component

// MarshalJSON encodes the components as one JSON object, in their order. An unmeasured one is null.
func (cs Components) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, c := range cs {
		if i > 0 {
			b = append(b, ',')
		}
		value := []byte("null")
		if !c.Unmeasured {
			var err error
			if value, err = json.Marshal(c.Value); err != nil {
				return nil, err
			}
		}
		b = append(b, arena.Quote(c.Name)...)
		b = append(b, ':')
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

// RewardTrace returns the reward of a trajectory from another system. Its calls are read
// from text, too, but not from thoughts. Thoughts that no reply in its log contains have no effect.
func (w *Rewarder) RewardTrace(ctx context.Context, t *arena.Trace) (Line, error) {
	line := Line{
		RunID:     t.RunID,
		ProblemID: t.ProblemID,
		Score:     json.RawMessage("null"),
		Flags:     []string{},
	}
	problem, ok := w.Suite.Find(t)
	if !ok && w.Domain != nil && t.Query != "" {
		problem = &arena.Problem{Query: t.Query}
		ok = true
	}
	if !ok {
		line.Failure = "no_problem"
		return line, nil
	}
	d := filters.Normalise(t)
	thinking := filters.MeasureThinking(t, &d)
	attempt := &reward.Attempt{
		Trace:      t,
		Dialogue:   &thinking.Graded,
		Logged:     thinking.Logged,
		Problem:    problem,
		Unreadable: countUnreadable(&d),
	}
	v, err := w.judge(ctx, attempt)
	if err != nil {
		return line, err
	}
	if w.lacksOutcome(&v) {
		line.Failure = FaultOutcome
		return line, nil
	}

	line.Reward = &v.Reward.Total
	line.Components = v.Reward.Components
	line.Flags = append(line.Flags, v.Reward.Flags...)
	line.Success = v.Success
	line.Score = v.Score
	line.Quality = v.Quality
	line.Error = v.Unscored
	return line, nil
}

// countUnreadable returns the number of tool calls in a dialogue that could not be read, as its
// fault codes state.
func countUnreadable(d *arena.Dialogue) int {
	n := 0
	for _, fault := range d.Faults {
		switch fault {
		case calls.FaultCall, calls.FaultArguments, calls.FaultName:
			n++
		}
	}
	return n
}

// judge decides whether an attempt succeeded and, if there is a judge, grades its reasoning. It
// stores outcome, grade and the teacher's calls in a, and returns them with the reward computed
// from them.
func (w *Rewarder) judge(ctx context.Context, a *reward.Attempt) (Verdict, error) {
	if w.Domain != nil {
		return w.judgeInDomain(a), nil
	}
	o, err := w.Scorer.Score(ctx, a.Trace, a.Problem)
	if err != nil {
		return Verdict{}, err
	}
	a.Outcome = o
	a.Teacher = w.Teachers[a.Trace.ProblemID]

	v := Verdict{
		Success:  &o.Success,
		Score:    outcome.AppendScores(nil, o.Scores),
		Unscored: o.Error,
	}
	flag := ""
	if w.Judge != nil && a.Trace.HasDialogue {
		if flag, err = w.grade(ctx, a); err != nil {
			return v, fmt.Errorf("judge the reasoning: %w", err)
		}
	}
	v.Quality = a.Quality
	v.Reward = w.Weights.Reward(a)
	if flag != "" {
		v.Reward.Flags = append(v.Reward.Flags, flag)
	}
	if flag == FlagUncompared || flag == FlagUndecided {
		v.Quality = nil
	}
	return v, nil
}

// grade stores the judge's grade of an attempt's reasoning in a, or that of what logged replies
// contain if the grade is withheld. If the passage that decides the grade must not be paid, grade
// returns the flag that says why, and the stored grade is that of the attempt without its thinking:
// neither a farm nor an honest remark then earns less than silence.
func (w *Rewarder) grade(ctx context.Context, a *reward.Attempt) (flag string, err error) {
	j, low, err := judges.Ask(ctx, w.Judge, a.Trace, a.Dialogue, a.Logged)
	if err != nil {
		return "", err
	}
	if low != nil {
		j = *low
		flag = FlagUndecided
	}
	a.Quality = j.Score
	if w.Frames == nil {
		return flag, nil
	}

	passage := frames.DecidingPassage(&j, a.Trace.Query, a.Dialogue.Turns)
	isFrame, isMeasured := w.Frames.Check(a.Trace.ProblemID, a.Trace.Query, passage)
	switch {
	case isFrame:
		flag = FlagFramed
	case !isMeasured:
		flag = FlagUncompared
	default:
		return flag, nil
	}
	silent := filters.WithoutThinking(a.Dialogue)
	if j, err = w.Judge.Judge(ctx, a.Trace, &silent); err != nil {
		return "", err
	}
	a.Quality = j.Score
	return flag, nil
}

// judgeInDomain returns the verdict (outcome and reward) on an attempt in another domain than the
// built-in shop. Its outcome is what the trace itself declares, and unknown if the trace declares
// none.
func (w *Rewarder) judgeInDomain(a *reward.Attempt) Verdict {
	a.Domain = w.Domain
	v := Verdict{Score: json.RawMessage("null")}
	ruling := w.Domain.Ruled(a.Trace).Ruling
	switch {
	case ruling == nil || ruling.Score == nil:
		a.UnknownOutcome = true
		v.Unscored = domain.VoidUndeclared
		if ruling != nil {
			v.Unscored = ruling.Void
		}
	default:
		a.Outcome.Success = ruling.Success
		v.Success = &ruling.Success
	}
	v.Reward = w.Weights.Reward(a)
	return v
}

// lacksOutcome reports whether no reward can be computed: success is a part of the reward, but
// whether the attempt succeeded is unknown.
func (w *Rewarder) lacksOutcome(v *Verdict) bool {
	return w.Weights["success"] != 0 && v.Success == nil
}

// The flags of episodes whose reasoning is paid like none.
const (
	// FlagFramed is that of an episode whose deciding passage repeats passages of recent episodes at
	// other problems.
	FlagFramed = "framed_thought"
	// FlagUncompared is that of an episode whose deciding passage could not be compared with enough
	// others, since the environment has seen too few problems.
	FlagUncompared = "uncompared_thought"
	// FlagUndecided is that of an attempt whose log lacks replies that would show whether a model
	// wrote the reasons (judges.Ask). It is paid for what the logged replies contain.
	FlagUndecided = "undecided_thought"
)
