// Package rollout runs one attempt of a model at a problem: it asks the model, runs the
// tools it calls, answers in its dialect, and records how and why the attempt ended.
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

// Environment holds what all rollouts of a run have in common.
type Environment struct {
	Template *model.Template
	Dialect  dialect.Dialect
	// NoCall selects what follows a reply without a call.
	NoCall NoCall
	// Form selects how the conversation is sent.
	Form PromptForm
	// MaxSteps bounds the replies of one rollout.
	MaxSteps int
	// Context is the maximum number of tokens of prompt and reply together; 0 means
	// unknown.
	Context int64
	// HasTokens reports whether replies contain token data, which traces leave out.
	HasTokens bool
	// ToolNames are the tools of the harness.
	ToolNames []string
	Rules     shop.Rules
	// Server answers the requests of tools. If Tape is set, its answers are stored with
	// each turn, so that a resumed rollout reads the same ones.
	Server shop.Server
	Tape   bool
	// Request is a JSON object that replaces the request in the trace of every
	// inference call.
	Request arena.Raw
	// Has reports whether the catalogue has a product id.
	Has func(id string) bool
	// Refused has the fields of replies that a server was found to refuse, as a model.Returned; nil
	// if this is not remembered.
	Refused *atomic.Int32
	// Said is called when a server is found to refuse fields of its own replies; may be nil.
	Said func(model.Returned)
}

func (e *Environment) refused() model.Returned {
	if e.Refused == nil {
		return model.AsItCame
	}
	return model.Returned(e.Refused.Load())
}

// Refuse records that a server takes no more of its replies back than returned selects.
func (e *Environment) Refuse(returned model.Returned) {
	if e.Refused == nil {
		return
	}
	old := e.Refused.Load()
	if old < int32(returned) && e.Refused.CompareAndSwap(old, int32(returned)) && e.Said != nil {
		e.Said(returned)
	}
}

// NoCall selects what follows a reply without a call.
type NoCall string

// Continue answers with a reminder, as the public loops do. End ends the rollout.
const (
	Continue NoCall = "continue"
	End      NoCall = "end"
)

// PromptForm selects how a conversation is sent to the model.
type PromptForm string

// Chat sends a message for every turn. History is the form of the public loops: each
// request has the system prompt and one user message with the whole conversation.
const (
	Chat    PromptForm = "chat"
	History PromptForm = "history"
)

// Model answers requests. The error is ctx's or a *model.Fault; with a fault, the body is
// the server's refusal.
type Model interface {
	Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error)
}

// Turn is the stored part of a turn, from which it can be replayed without the model.
type Turn struct {
	// Reply is the body of the model's reply.
	Reply []byte
	// Answers are the answers of the search server, if Environment.Tape is set.
	Answers []TapeAnswer
}

// Encode returns a turn as bytes for DecodeTurn: the answers as one line of JSON, then
// the reply unchanged.
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

// Task is one rollout to play.
type Task struct {
	Problem *arena.Problem
	// ID is the id of the problem in outputs, RunID the run that the trace belongs to.
	ID    string
	RunID string
	Seed  int64
	// Past holds the turns already played.
	Past []Turn
	// MaxTraceBytes bounds the trace in memory between two turns; 0 means no bound.
	MaxTraceBytes int
}

// ErrLong is the error of Play for a rollout that is longer than Task.MaxTraceBytes. It
// can be continued from the stored turns.
var ErrLong = errors.New("the rollout is long")

// maxTraceBytes is the maximum size of a rollout's trace in bytes, far above the context of any
// model. A rollout that exceeds it ends as a context overflow.
const maxTraceBytes = 8 << 20

// maxMalformed is the number of consecutive replies without content, or without a readable call,
// after which a rollout ends.
const maxMalformed = 3

// Play runs a task to its end. It calls store with every new turn before the next
// request; its error ends the rollout. The error is ctx's, store's or ErrLong.
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

// TapeAnswer is one answer of an external search server, which could answer differently
// the next time.
type TapeAnswer struct {
	// Body is the answer as Python's JSON, which may hold NaN.
	Body   string `json:"body"`
	Status int    `json:"status"`
	OK     bool   `json:"ok"`
}

// tape is a search server that first replays the stored answers in past. After these it asks the
// real server and records its answers in fresh.
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

// takeFresh returns the answers that were recorded since the last call of takeFresh.
func (t *tape) takeFresh() []TapeAnswer {
	fresh := t.fresh
	t.fresh = nil
	return fresh
}

// CallResult is the result of one call of a rollout whose model the trainer calls itself.
type CallResult struct {
	// Text is the result as the model reads it.
	Text string
	// Answers are the answers of the search server, to replay the call.
	Answers []TapeAnswer
	// Terminates reports whether the call ends the rollout.
	Terminates bool
}

// RunCall runs one call. The fault is that of a search server without an answer; Text is
// not meaningful then.
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

// Replay runs turns that were played elsewhere from their stored answers, without asking
// any server.
func (e *Environment) Replay(ctx context.Context, t Task) (*Result, error) {
	taped := *e
	taped.Tape = true
	taped.MaxSteps = min(e.MaxSteps, len(t.Past))
	return taped.Play(ctx, t, nil, nil)
}
