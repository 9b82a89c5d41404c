package rollout

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

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
	a := p.run(read.Calls)[0]
	return Answered{Text: toolText(a.Result), Kept: p.tape.take(), Terminates: a.terminates}, p.lost
}

// Again plays turns that were played elsewhere, by their kept answers, and asks
// nobody.
func (e *Environment) Again(ctx context.Context, t Task) (*Result, error) {
	taped := *e
	taped.Tape, taped.MaxSteps = true, min(e.MaxSteps, len(t.Past))
	return taped.Play(ctx, t, nil, nil)
}
