package rollout

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student/dialect"
)

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
func (e *Environment) Answer(ctx context.Context, c model.Call) (Answered, *model.Fault, error) {
	taped := *e
	taped.Tape = true
	p, err := taped.begin(ctx, Task{Problem: &arena.Problem{}})
	if err != nil {
		return Answered{}, nil, err
	}
	read := dialect.Read(model.Reply{Calls: []model.Call{c}}, dialect.Native)
	a := p.run(read.Calls)[0]
	return Answered{Text: toolText(a.Result), Kept: p.tape.take(), Terminates: a.terminates}, p.lost, nil
}

// Again plays turns that were played elsewhere, by their kept answers, and asks
// nobody.
func (e *Environment) Again(ctx context.Context, t Task) (*Result, error) {
	taped := *e
	taped.Tape, taped.MaxSteps = true, min(e.MaxSteps, len(t.Past))
	return taped.Play(ctx, t, nil, nil)
}
