package environment

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/environment/toolserver"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Episode is one rollout of a trainer.
type Episode struct {
	ID          string
	environment *Environment
	problem     int
	started     time.Time

	mu         sync.Mutex
	lastUsed   time.Time
	calls      []executedCall
	fault      *Fault
	terminated bool
	// session runs the calls at the tools of another domain, nil before the first call.
	session *toolserver.Session
	// declared is the outcome that the trainer declared, nil if none.
	declared *float64
	// verdict is stored for a client that did not receive the answer and retries.
	verdict *Verdict
}

// executedCall is a tool call that was run, with the search server's answers, from which the call
// can be replayed.
type executedCall struct {
	call    model.Call
	answers []rollout.TapeAnswer
}

// Fault is a failure of the environment, not of the policy.
type Fault struct {
	// Kind is a stable snake_case word, Reason a description.
	Kind   string `json:"failure_kind"`
	Reason string `json:"failure_reason"`
}

// NewFault returns a fault without the secrets in its reason, such as a key in the address of a server:
// trainers write reasons to their logs.
func NewFault(kind, reason string) *Fault {
	return &Fault{kind, redact.New(redact.Options{}).Text(reason, redact.Counts{})}
}

// The kinds of faults.
const (
	FaultShop    = "shop_unreachable"
	FaultExpired = "episode_expired"
	FaultUnknown = "episode_unknown"
	FaultRecord  = "record_failed"
	FaultJudge   = "judge_failed"
	FaultTools   = "tools_unreachable"
	// FaultOutcome is that of an episode whose outcome has a weight but was not declared.
	FaultOutcome = "outcome_undeclared"
)

// Verdict is the reward of an episode, or the fault because of which it has none.
type Verdict struct {
	Reward reward.Reward
	// Success is nil if the outcome is unknown.
	Success *bool
	// Score has the keys of a score line. It is null if Unscored is not empty, which is the
	// reason.
	Score    json.RawMessage
	Unscored string
	Quality  *float64
	// Fault masks the sample; nil if nothing failed.
	Fault *Fault
}

// Problem returns the problem of the episode and its id.
func (ep *Episode) Problem() (*arena.Problem, string) {
	p := &ep.environment.Problems
	return &p.All[ep.problem], p.IDs[ep.problem]
}

// removeAbandoned reports whether the episode may be removed from memory: it has ended, or was not
// used for longer than Limits.Idle. Before it returns true, it closes the episode's session with
// the tools. It returns false while a call of the episode is in progress.
func (ep *Episode) removeAbandoned(now time.Time) bool {
	if !ep.mu.TryLock() {
		return false
	}
	defer ep.mu.Unlock()
	isAbandoned := ep.verdict != nil || now.Sub(ep.lastUsed) > ep.environment.Limits.Idle
	if isAbandoned {
		ep.closeSession()
	}
	return isAbandoned
}

// closeSession ends the episode's session with the MCP server of its tools. It does so in the
// background, since the server may be slow. An error is ignored, since the episode makes no further
// calls.
func (ep *Episode) closeSession() {
	if ep.session != nil {
		go ep.session.Close() //nolint:errcheck // see above
		ep.session = nil
	}
}

// runCall executes a tool call of an episode: in the built-in shop, or by the MCP server if the
// environment has one. A Fault means that the shop or the server failed, which is not the model's
// mistake.
func (ep *Episode) runCall(ctx context.Context, call model.Call) (rollout.CallResult, *Fault) {
	e := ep.environment
	if e.Tools == nil {
		result, lost := e.Player.RunCall(ctx, call)
		if lost != nil {
			return result, NewFault(FaultShop, lost.Reason+" "+lost.Detail)
		}
		return result, nil
	}
	if ep.session == nil {
		session, err := e.Tools.Start(ctx)
		if err != nil {
			return rollout.CallResult{}, NewFault(FaultTools, err.Error())
		}
		ep.session = session
	}
	result, lost := ep.session.RunCall(ctx, call)
	if lost != nil {
		return result, NewFault(FaultTools, lost.Detail)
	}
	return result, nil
}

// Declare stores the outcome of the episode as the trainer declares it, from 0 to 1, or nil for an
// unknown one. It has no effect in the shop, whose rules decide.
func (ep *Episode) Declare(outcome *float64) {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	if ep.environment.Tools != nil {
		ep.declared = outcome
	}
}

// Call runs a tool and returns the text that the model reads. The calls of one episode run
// one after the other. A fault masks the episode from then on. The error is the context's.
func (ep *Episode) Call(ctx context.Context, name, arguments string) (text string, fault *Fault, err error) {
	ep.mu.Lock()
	defer ep.mu.Unlock()

	limits := &ep.environment.Limits
	ep.lastUsed = ep.environment.Now()
	timeLeft := limits.Age - ep.lastUsed.Sub(ep.started)
	if ep.fault == nil && timeLeft < 0 {
		ep.fault = expired(limits)
	}
	switch {
	case ep.fault != nil:
		return "", ep.fault, nil
	case ep.terminated || ep.verdict != nil:
		return "Error: the episode has ended.", nil, nil
	case len(ep.calls) >= limits.Calls:
		return fmt.Sprintf("Error: an episode has at most %d calls.", limits.Calls), nil, nil
	}

	call := model.Call{
		ID:       fmt.Sprintf("call_%d", len(ep.calls)),
		Type:     "function",
		Function: model.Function{Name: name, Arguments: arguments},
	}
	limited, cancel := context.WithTimeout(ctx, timeLeft)
	defer cancel()
	answer, lost := ep.runCall(limited, call)
	if ctx.Err() != nil { // an interrupted search has no answer
		return "", nil, ctx.Err()
	}
	if limited.Err() != nil {
		lost = expired(limits)
	}
	if lost != nil {
		ep.fault = lost
		ep.closeSession()
		return "", ep.fault, nil
	}
	ep.calls = append(ep.calls, executedCall{call, answer.Answers})
	ep.terminated = answer.Terminates
	return answer.Text, nil, nil
}

// Finish ends the episode and returns its verdict, the same for each call. replies are what
// the model wrote, nil if only its calls are known. If they do not match the calls that were
// run, the reward is that of these calls alone, without thoughts.
func (ep *Episode) Finish(ctx context.Context, replies []Reply) (Verdict, error) {
	ep.mu.Lock()
	defer ep.mu.Unlock()

	ep.lastUsed = ep.environment.Now()
	if ep.verdict != nil {
		return *ep.verdict, nil
	}
	if ep.fault != nil {
		return Verdict{Fault: ep.fault}, nil
	}
	v, err := ep.computeVerdict(ctx, replies)
	if err != nil {
		return v, err
	}
	ep.verdict = &v
	ep.calls = nil
	ep.closeSession()
	return v, nil
}

// expired returns the fault of an episode that took longer than its limits allow.
func expired(limits *Limits) *Fault {
	return &Fault{FaultExpired, fmt.Sprintf("the episode took longer than %s", limits.Age)}
}

// FlagOtherCalls is the flag of an episode whose replies, by the trainer's account, have
// other calls than were run.
const FlagOtherCalls = "other_calls_than_made"

func (ep *Episode) computeVerdict(ctx context.Context, replies []Reply) (Verdict, error) {
	past, matches := matchCalls(replies, ep.calls)
	if !matches {
		past = callTurns(ep.calls)
	}

	e := ep.environment
	p, id := ep.Problem()
	result, d, err := ep.replay(ctx, rollout.Task{
		Problem: p,
		ID:      id,
		RunID:   "env",
		Past:    past,
	})
	if err != nil {
		return Verdict{}, err
	}
	attempt := &reward.Attempt{
		Trace:      result.Trace,
		Dialogue:   &d,
		Problem:    p,
		Unreadable: result.MalformedCalls,
	}
	v, err := e.Rewarder.judge(ctx, attempt)
	if err != nil {
		return Verdict{Fault: NewFault(FaultJudge, err.Error())}, ctx.Err()
	}
	if e.Rewarder.lacksOutcome(&v) {
		return Verdict{Fault: &Fault{FaultOutcome, "the reward weighs success, and the trainer declared no outcome"}}, nil
	}
	if !matches && replies != nil {
		v.Reward.Flags = append(v.Reward.Flags, FlagOtherCalls)
	}

	if e.Record == nil {
		return v, nil
	}
	if err := e.Record.add(id, result.Line); err != nil {
		return Verdict{Fault: NewFault(FaultRecord, err.Error())}, nil
	}
	return v, nil
}

// replay returns the finished episode as a trace, and the dialogue read from the trace. Its calls
// are not run again: their results come from the answers that were stored. The reward is computed
// from both.
func (ep *Episode) replay(ctx context.Context, t rollout.Task) (*rollout.Result, arena.Dialogue, error) {
	e := ep.environment
	if e.Tools != nil {
		result, err := e.Tools.Replay(t, ep.declared)
		if err != nil {
			return nil, arena.Dialogue{}, err
		}
		return result, e.Tools.Dialogue(result.Trace), nil
	}
	result, err := e.Player.Replay(ctx, t)
	if err != nil {
		return nil, arena.Dialogue{}, err
	}
	return result, rollout.Dialogue(result.Trace), nil
}

// matchCalls assigns the calls that were executed in an episode to the replies in which the model
// wrote them, by equal name and arguments. It returns the replies as turns to replay, each with the
// stored search answers of its calls. Calls of one reply may have been executed in any order. ok is
// false if a call with valid arguments was not executed, or if an executed call is in no reply.
func matchCalls(replies []Reply, executed []executedCall) (past []rollout.Turn, ok bool) {
	unmatched := slices.Clone(executed)
	for i, r := range replies {
		turn := rollout.Turn{Reply: r.body(i)}
		for _, c := range r.Calls {
			n := slices.IndexFunc(unmatched, func(e executedCall) bool {
				return isSameCall(e.call, c)
			})
			switch {
			case n >= 0:
				turn.Answers = append(turn.Answers, unmatched[n].answers...)
				unmatched = slices.Delete(unmatched, n, n+1)
			case isReadable(c):
				return nil, false
			default: // no trainer can run an unreadable call
			}
		}
		past = append(past, turn)
	}
	return past, len(unmatched) == 0
}

// callTurns returns one turn for each executed call, with that call and no text. It is used if the
// training program did not send the replies in which the model wrote the calls.
func callTurns(executed []executedCall) []rollout.Turn {
	var turns []rollout.Turn
	for i, e := range executed {
		r := Reply{Calls: []model.Call{e.call}}
		turns = append(turns, rollout.Turn{
			Reply:   r.body(i),
			Answers: e.answers,
		})
	}
	return turns
}
