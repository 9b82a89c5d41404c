// Package rollout runs one attempt of a model at a problem. It asks the model, executes the
// tools that the model calls, answers in the model's dialect, and records how and why the
// attempt ended.
package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

// Environment is what all rollouts of a run have in common.
type Environment struct {
	Template *model.Template
	Dialect  dialect.Dialect
	// NoCall selects what happens after a reply without a call.
	NoCall NoCall
	// Form selects the form in which the conversation is sent.
	Form PromptForm
	// MaxSteps is the maximum number of replies in one rollout.
	MaxSteps int
	// Context is the maximum number of tokens of prompt and reply together. 0 means that it is
	// unknown.
	Context int64
	// HasTokens reports whether replies contain token data. Traces leave such data out.
	HasTokens bool
	// ToolNames are the tools of the harness.
	ToolNames []string
	Rules     shop.Rules
	// Server answers the search requests of tools. If Tape is true, its answers are stored with
	// each turn, so that a resumed rollout reads the same answers.
	Server shop.Server
	Tape   bool
	// Request is a JSON object that traces have in place of the requests to the model.
	Request arena.Raw
	// Has reports whether the catalogue has a product with this id.
	Has func(id string) bool
	// Refused is a model.Returned: which fields of replies the server accepts back. It is nil if
	// this is not remembered.
	Refused *atomic.Int32
	// Said is called when the server is found to refuse fields of its own replies. It may be
	// nil.
	Said func(model.Returned)
}

func (e *Environment) refused() model.Returned {
	if e.Refused == nil {
		return model.AsItCame
	}
	return model.Returned(e.Refused.Load())
}

// Refuse records that the server accepts only those fields of its replies back that returned
// selects.
func (e *Environment) Refuse(returned model.Returned) {
	if e.Refused == nil {
		return
	}
	old := e.Refused.Load()
	if old < int32(returned) && e.Refused.CompareAndSwap(old, int32(returned)) && e.Said != nil {
		e.Said(returned)
	}
}

// NoCall selects what happens after a reply without a call.
type NoCall string

// Continue means that a reminder is sent, as in the public loops. End means that the rollout
// ends.
const (
	Continue NoCall = "continue"
	End      NoCall = "end"
)

// PromptForm is the form in which a conversation is sent to the model.
type PromptForm string

// Chat means one message for every turn. History is the form of the public loops: each request
// has the system prompt and one user message with the whole conversation.
const (
	Chat    PromptForm = "chat"
	History PromptForm = "history"
)

// Model is a model that answers requests. The error is ctx's or a *model.Fault. With a fault,
// the returned body is the server's refusal.
type Model interface {
	Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error)
}

// Turn is the stored part of a turn. It is enough to replay the turn without the model.
type Turn struct {
	// Reply is the body of the model's reply.
	Reply []byte
	// Answers are the answers of the search server, if Environment.Tape is set.
	Answers []TapeAnswer
}

// Encode returns the turn as bytes: the answers as one line of JSON, then the unchanged reply.
// DecodeTurn decodes it.
func (t Turn) Encode() []byte {
	b := append(asjson.Bytes(t.Answers), '\n')
	return append(b, t.Reply...)
}

// DecodeTurn decodes the output of Encode.
func DecodeTurn(b []byte) (Turn, error) {
	head, reply, ok := bytes.Cut(b, []byte{'\n'})
	if !ok {
		return Turn{}, errors.New("decode turn: no line end")
	}
	t := Turn{Reply: reply}
	err := json.Unmarshal(head, &t.Answers)
	return t, wrong.Wrap("decode turn", err)
}

// Task is one rollout to run.
type Task struct {
	Problem *arena.Problem
	// ID is the id of the problem in outputs. RunID is the id of the run to which the trace
	// belongs.
	ID    string
	RunID string
	Seed  int64
	// Past are the turns that were already run.
	Past []Turn
	// MaxTraceBytes is the maximum size of the trace in memory, which is checked between turns.
	// 0 means no limit.
	MaxTraceBytes int
}

// ErrLong is the error of Play for a rollout whose trace exceeds Task.MaxTraceBytes. The rollout
// can be continued from the stored turns.
var ErrLong = errors.New("the rollout is long")

// maxTraceBytes is the maximum size of a rollout's trace in bytes, far above the context of any
// model. A rollout that exceeds it ends with the reason context overflow.
const maxTraceBytes = 8 << 20

// maxMalformed is the number of consecutive useless replies (without content, or with calls of
// which none can be read) after which a rollout ends.
const maxMalformed = 3

// Play runs a task to its end. It calls store with every new turn before it sends the next
// request; an error of store ends the rollout. The error is ctx's, store's or ErrLong.
func (e *Environment) Play(
	ctx context.Context,
	t Task,
	m Model,
	store func(Turn) error,
) (*Result, error) {
	p := e.newPlay(ctx, t)
	for p.result.Turns < e.MaxSteps {
		turn, fault, err := p.nextReply(ctx, m)
		if err != nil {
			return nil, err
		}
		if fault != nil {
			return p.fail(fault)
		}
		stop := p.processReply(turn)
		switch {
		case ctx.Err() != nil: // a canceled search has no answer
			return nil, ctx.Err()
		case p.toolFault != nil:
			return p.fail(p.toolFault)
		}
		if !turn.past {
			if err := store(p.newTurn(turn)); err != nil {
				return nil, err
			}
		}
		if stop != "" {
			p.result.Stop = stop
			return p.finish()
		}
		if p.traceBytes > maxTraceBytes {
			return p.fail(&model.Fault{Overflow: true})
		}
		if t.MaxTraceBytes > 0 && p.traceBytes > t.MaxTraceBytes {
			return nil, ErrLong
		}
	}
	p.result.Stop = StopMaxSteps
	return p.finish()
}

// TapeAnswer is one stored answer of an external search server, which could answer differently
// the next time.
type TapeAnswer struct {
	// Body is the answer in Python's JSON, which may contain NaN.
	Body   string `json:"body"`
	Status int    `json:"status"`
	OK     bool   `json:"ok"`
}

// tape is the search server of a rollout that may be resumed. It first replays the answers in past,
// which were stored before the interruption. Then it asks the real server and records the answers
// in fresh.
type tape struct {
	server shop.Server
	past   []TapeAnswer
	fresh  []TapeAnswer
}

func (t *tape) Get(
	ctx context.Context,
	path string,
	params python.Value,
) (python.Value, int, bool) {
	if len(t.past) > 0 {
		a := t.past[0]
		t.past = t.past[1:]
		v, err := python.Loads(a.Body)
		return v, a.Status, a.OK && err == nil
	}
	v, status, ok := t.server.Get(ctx, path, params)
	t.fresh = append(t.fresh, TapeAnswer{
		Body:   python.Dumps(v),
		Status: status,
		OK:     ok,
	})
	return v, status, ok
}

// takeFresh returns the answers that were recorded since the last call of takeFresh, and forgets
// them.
func (t *tape) takeFresh() []TapeAnswer {
	fresh := t.fresh
	t.fresh = nil
	return fresh
}

// CallResult is the result of one call in a rollout in which the trainer, not this program, asks
// the model.
type CallResult struct {
	// Text is the result in the form in which the model reads it.
	Text string
	// Answers are the answers of the search server. With them the call can be replayed.
	Answers []TapeAnswer
	// Terminates reports whether the call ends the rollout.
	Terminates bool
}

// RunCall executes one call. The fault is that of a search server that did not answer.
// CallResult.Text is then meaningless.
func (e *Environment) RunCall(ctx context.Context, c model.Call) (CallResult, *model.Fault) {
	taped := *e
	taped.Tape = true
	p := taped.newPlay(ctx, Task{Problem: &arena.Problem{}})
	turn := dialect.Read(model.Reply{Calls: []model.Call{c}}, dialect.Native)
	a := p.call(turn.Calls[0])
	return CallResult{
		Text:       toolText(a.Result),
		Answers:    p.tape.takeFresh(),
		Terminates: a.terminates,
	}, p.toolFault
}

// Replay runs the turns of a task that were run elsewhere, from their stored answers and without
// asking any server.
func (e *Environment) Replay(ctx context.Context, t Task) (*Result, error) {
	taped := *e
	taped.Tape = true
	taped.MaxSteps = min(e.MaxSteps, len(t.Past))
	return taped.Play(ctx, t, nil, nil)
}
