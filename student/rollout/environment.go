// Package rollout plays one attempt: it asks a model, runs the tools it calls,
// answers in the dialect it writes, and says how the attempt ended and why.
package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

// Environment is what all rollouts of a run share.
type Environment struct {
	Template *model.Template
	Dialect  dialect.Dialect
	// NoCall is what follows a reply without a call, Form how the conversation is told.
	NoCall NoCall
	Form   PromptForm
	// MaxSteps bounds the replies of one rollout.
	MaxSteps int
	// Context is how many tokens prompt and reply may have together; 0 is not known.
	Context int64
	// Kept reports whether replies hold what the run keeps of tokens, which is no
	// part of a trace.
	Kept bool
	// ToolNames are the tools of the harness.
	ToolNames []string
	Rules     shop.Rules
	// Server answers the tools' requests. If Tape is set its answers are kept
	// with each turn, so that a resumed rollout reads the same ones.
	Server shop.Server
	Tape   bool
	// Request is what a trace says of every inference call beside its reply, a
	// JSON object.
	Request arena.Raw
	// Has says whether the catalogue knows a product id.
	Has func(id string) bool
}

// NoCall is what follows a reply without a call.
type NoCall string

// Continue answers with a reminder and goes on, as the public loops do; End ends the
// rollout.
const (
	Continue NoCall = "continue"
	End      NoCall = "end"
)

// PromptForm is how a conversation is told to the model.
type PromptForm string

// Chat has a message for every turn. History is that of the public loops: each
// request holds the system prompt and one user message with all that was said.
const (
	Chat    PromptForm = "chat"
	History PromptForm = "history"
)

// Asker asks the model. The error is a *model.Fault, beside which the body is the
// server's refusal, or ctx's own.
type Asker interface {
	Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error)
}

// Turn is what must be kept of one turn to play it again without asking.
type Turn struct {
	// Reply is the body of the model's reply.
	Reply []byte
	// Answers are the search server's, where they are kept.
	Answers []TapeAnswer
}

// Encode gives a turn as bytes for DecodeTurn: the answers as one line of
// JSON, then the reply as it came.
func (t Turn) Encode() []byte {
	return append(append(asjson.Bytes(t.Answers), '\n'), t.Reply...)
}

// DecodeTurn reads what Encode wrote.
func DecodeTurn(b []byte) (Turn, error) {
	head, reply, ok := bytes.Cut(b, []byte{'\n'})
	if !ok {
		return Turn{}, errors.New("decode turn: no line end")
	}
	t := Turn{Reply: reply}
	err := json.Unmarshal(head, &t.Answers)
	return t, wrong.In("decode turn", err)
}

// Task is one rollout to play.
type Task struct {
	Problem *arena.Problem
	// ID names the problem in outputs, RunID the run that its trace belongs to.
	ID    string
	RunID string
	Seed  int64
	// Past are the turns already played.
	Past []Turn
	// Most is how many bytes of trace Play may hold between two turns; 0 is any.
	Most int
}

// ErrLong is the error for a rollout that goes on past its task's Most. It can be
// played on from what was kept.
var ErrLong = errors.New("the rollout is long")

// maxHeld bounds a rollout's replies with what its calls were answered, in bytes:
// far above what any model's context holds.
const maxHeld = 8 << 20

// maxMalformed replies in a row that hold nothing, or calls of which none is readable,
// end a rollout.
const maxMalformed = 3

// Play plays a task to its end. keep is called with every new turn before the
// next request and may fail the rollout. The error is ctx's, keep's or ErrLong.
func (e *Environment) Play(ctx context.Context, t Task, ask Asker, keep func(Turn) error) (*Result, error) {
	p := e.begin(ctx, t)
	for p.result.Turns < e.MaxSteps {
		turn, fault, err := p.turn(ctx, ask)
		if err != nil {
			return nil, err
		}
		if fault != nil {
			return p.fail(fault)
		}
		stop := p.take(turn)
		switch {
		case ctx.Err() != nil: // a search that was broken off answered nothing
			return nil, ctx.Err()
		case p.lost != nil:
			return p.fail(p.lost)
		}
		if !turn.past {
			if err := keep(p.kept(turn)); err != nil {
				return nil, err
			}
		}
		if stop != "" {
			p.result.Stop = stop
			return p.end()
		}
		if p.held > maxHeld {
			return p.fail(&model.Fault{Overflow: true})
		}
		if t.Most > 0 && p.held > t.Most {
			return nil, ErrLong
		}
	}
	p.result.Stop = StopMaxSteps
	return p.end()
}

// TapeAnswer is one answer of a search server that is not our own: asked
// again, it could say something else.
type TapeAnswer struct {
	// Body is the answer as Python's JSON, which may hold NaN.
	Body   string `json:"body"`
	Status int    `json:"status"`
	OK     bool   `json:"ok"`
}

type tape struct {
	server shop.Server
	past   []TapeAnswer
	fresh  []TapeAnswer
}

func (t *tape) Get(ctx context.Context, path string, params python.Value) (python.Value, int, bool) {
	if len(t.past) > 0 {
		a := t.past[0]
		t.past = t.past[1:]
		v, err := python.Loads(a.Body)
		return v, a.Status, a.OK && err == nil
	}
	v, status, ok := t.server.Get(ctx, path, params)
	t.fresh = append(t.fresh, TapeAnswer{Body: python.Dumps(v), Status: status, OK: ok})
	return v, status, ok
}

func (t *tape) take() []TapeAnswer {
	fresh := t.fresh
	t.fresh = nil
	return fresh
}

// Answered is what came of one call of a rollout that is played elsewhere: by a
// trainer, which asks the model itself.
type Answered struct {
	// Text is what a model reads of it.
	Text string
	// Kept are the search server's answers, for playing the call again.
	Kept []TapeAnswer
	// Terminates reports whether it ends the rollout.
	Terminates bool
}

// Answer runs one call. The fault is a search server's that did not answer: the text
// then says nothing of the shop.
func (e *Environment) Answer(ctx context.Context, c model.Call) (Answered, *model.Fault) {
	taped := *e
	taped.Tape = true
	p := taped.begin(ctx, Task{Problem: &arena.Problem{}})
	read := dialect.Read(model.Reply{Calls: []model.Call{c}}, dialect.Native)
	a := p.call(read.Calls[0])
	return Answered{Text: toolText(a.Result), Kept: p.tape.take(), Terminates: a.terminates}, p.lost
}

// Again plays turns that were played elsewhere, by their kept answers, and asks
// nobody.
func (e *Environment) Again(ctx context.Context, t Task) (*Result, error) {
	taped := *e
	taped.Tape, taped.MaxSteps = true, min(e.MaxSteps, len(t.Past))
	return taped.Play(ctx, t, nil, nil)
}
