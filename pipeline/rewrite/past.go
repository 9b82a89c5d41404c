package rewrite

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/text"
)

// maxShown bounds what a model is shown of one result, in bytes: a page of the
// shop's search has two thousand.
const maxShown = 6000

// past is all that a prompt can be built of: the request and the steps before. It
// grows step by step, so that nothing in it, nor anything that it leads to, is
// later than the step that is asked about.
type past struct {
	request string
	steps   []arena.Turn
}

// then is the past of the next step. The result of a step becomes part of the
// past here and nowhere else.
func (p past) then(thought string, step []arena.Call) past {
	return past{p.request, append(p.steps[:len(p.steps):len(p.steps)], arena.Turn{Think: thought, Calls: step})}
}

// move is what an assistant does at one step: its calls, without results.
type move string

// moveOf takes the names and arguments of calls, and nothing else of them.
func moveOf(calls []arena.Call) move {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s(%s)\n", c.Name, c.Arguments)
	}
	return move(b.String())
}

// formOf is by what calls are compared: in which order a client writes keys makes no
// other move.
func formOf(calls []arena.Call) (form string) {
	for _, c := range calls {
		form += c.Name + "(" + canonical.Form(string(c.Arguments)) + ")\n"
	}
	return form
}

// String is all that was seen and done.
func (p past) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The request:\n<<<\n%s\n>>>\n", p.request)
	for i, s := range p.steps {
		fmt.Fprintf(&b, "\nStep %d\nthought: %s\n", i+1, s.Think)
		for _, c := range s.Calls {
			fmt.Fprintf(&b, "call: %s(%s)\nresult:\n<<<\n%s\n>>>\n", c.Name, c.Arguments, text.Clip(string(c.Result), maxShown))
		}
	}
	return b.String()
}

func (p past) toWrite(next move) string {
	return fmt.Sprintf("%s\nThe call that the assistant makes now:\n<<<\n%s>>>\n", p, next)
}

func (p past) toChoose(thought string, moves []move) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nThe thought:\n<<<\n%s\n>>>\n\nThe calls:\n<<<\n", p, thought)
	for i, m := range moves {
		fmt.Fprintf(&b, "%d. %s", i+1, m)
	}
	return b.String() + ">>>\n"
}
