package environment

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Episode is one rollout that a trainer plays.
type Episode struct {
	ID          string
	environment *Environment
	problem     int
	began       time.Time

	mu    sync.Mutex
	used  time.Time
	made  []made
	fault *Fault
	over  bool
	// paid is kept for a client that asks again, since the answer did not reach it.
	paid *Verdict
}

type made struct {
	call model.Call
	kept []rollout.TapeAnswer
}

// Fault is a failure of the environment: nothing of the policy's.
type Fault struct {
	// Kind is a stable snake_case word, Reason says more.
	Kind   string `json:"failure_kind"`
	Reason string `json:"failure_reason"`
}

// The kinds of faults.
const (
	FaultShop    = "shop_unreachable"
	FaultExpired = "episode_expired"
	FaultUnknown = "episode_unknown"
	FaultRecord  = "record_failed"
	FaultJudge   = "judge_failed"
)

// Verdict is what an episode is paid, or why nothing can be said of it.
type Verdict struct {
	Reward  reward.Reward
	Success bool
	// Score has the keys of a score line; Unscored says why it is null.
	Score    json.RawMessage
	Unscored string
	Quality  *float64
	// Fault masks the sample; nil where nothing failed.
	Fault *Fault
}

// Problem is what the episode is about.
func (ep *Episode) Problem() (*arena.Problem, string) {
	p := &ep.environment.Problems
	return &p.All[ep.problem], p.IDs[ep.problem]
}

// forgettable reports whether nobody is waiting for the episode any more. One that is
// at work is not asked.
func (ep *Episode) forgettable(now time.Time) bool {
	if !ep.mu.TryLock() {
		return false
	}
	defer ep.mu.Unlock()
	return ep.paid != nil || now.Sub(ep.used) > ep.environment.Limits.Idle
}

// Call runs a tool and gives what a model reads of the answer. Calls of one episode
// run one after the other. The error is a *Fault's, which masks the episode from
// then on, or the context's.
func (ep *Episode) Call(ctx context.Context, name, arguments string) (text string, fault *Fault, err error) {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	ep.used = ep.environment.Now()
	if ep.fault == nil && ep.used.Sub(ep.began) > ep.environment.Limits.Age {
		ep.fault = &Fault{FaultExpired, fmt.Sprintf("the episode took longer than %s", ep.environment.Limits.Age)}
	}
	switch {
	case ep.fault != nil:
		return "", ep.fault, nil
	case ep.over || ep.paid != nil:
		return "Error: the episode has ended.", nil, nil
	case len(ep.made) >= ep.environment.Limits.Calls:
		return fmt.Sprintf("Error: an episode has at most %d calls.", ep.environment.Limits.Calls), nil, nil
	}
	c := model.Call{ID: fmt.Sprintf("call_%d", len(ep.made)), Type: "function", Function: model.Function{Name: name, Arguments: arguments}}
	a, lost := ep.environment.Player.RunCall(ctx, c)
	switch {
	case ctx.Err() != nil: // who asked has gone, and a search that was broken off answered nothing
		return "", nil, ctx.Err()
	case lost != nil:
		ep.fault = &Fault{FaultShop, lost.Reason + " " + lost.Detail}
		return "", ep.fault, nil
	}
	ep.made, ep.over = append(ep.made, made{c, a.Answers}), a.Terminates
	return a.Text, nil, nil
}

// Finish pays the episode, once. said is what the model said, nil where only its calls are
// known. What it says of calls counts only where these were run: else the calls are
// paid as they were made, without a thought.
func (ep *Episode) Finish(ctx context.Context, said []Reply) (Verdict, error) {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	ep.used = ep.environment.Now()
	if ep.paid != nil {
		return *ep.paid, nil
	}
	if ep.fault != nil {
		return Verdict{Fault: ep.fault}, nil
	}
	v, err := ep.pay(ctx, said)
	if err != nil {
		return v, err
	}
	ep.paid, ep.made = &v, nil
	return v, nil
}

func (ep *Episode) pay(ctx context.Context, said []Reply) (Verdict, error) {
	told := true
	past, ok := match(said, ep.made)
	if !ok {
		told = said == nil
		past = bare(ep.made)
	}
	e := ep.environment
	p, id := ep.Problem()
	result, err := e.Player.Replay(ctx, rollout.Task{Problem: p, ID: id, RunID: "env", Past: past})
	if err != nil {
		return Verdict{}, err
	}
	d := rollout.Dialogue(result.Trace)
	v, err := e.pay(ctx, &reward.Attempt{Trace: result.Trace, Dialogue: &d, Problem: p, Unreadable: result.MalformedCalls})
	if err != nil {
		return Verdict{Fault: &Fault{FaultJudge, err.Error()}}, ctx.Err()
	}
	if !told {
		v.Reward.Flags = append(v.Reward.Flags, FlagOtherCalls)
	}
	if e.Record != nil {
		if err := e.Record.add(result.Line); err != nil {
			return Verdict{Fault: &Fault{FaultRecord, err.Error()}}, nil //nolint:nilerr // the verdict says it
		}
	}
	return v, nil
}

// FlagOtherCalls says that the model's own account of the episode holds other calls
// than were made.
const FlagOtherCalls = "other_calls_than_made"

// match finds in said the calls that were made, and gives the turns to play again.
// Calls of one reply may have been run in any order. It fails where a readable call
// was never made, or one that was made is not said.
func match(said []Reply, all []made) (past []rollout.Turn, ok bool) {
	left := slices.Clone(all)
	for i, s := range said {
		t := rollout.Turn{Reply: s.body(i)}
		for _, c := range s.Calls {
			at := slices.IndexFunc(left, func(m made) bool { return m.same(c) })
			if at < 0 {
				if readable(c) {
					return nil, false
				}
				continue // never run: no trainer can
			}
			t.Answers = append(t.Answers, left[at].kept...)
			left = slices.Delete(left, at, at+1)
		}
		past = append(past, t)
	}
	return past, len(left) == 0
}

// bare are the calls alone, one a turn.
func bare(all []made) (past []rollout.Turn) {
	for i, m := range all {
		past = append(past, rollout.Turn{Reply: Reply{Calls: []model.Call{m.call}}.body(i), Answers: m.kept})
	}
	return past
}
