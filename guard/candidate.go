package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// CandidateOf makes the candidate of a row of any kind: request is what the
// customer asked for, turns are what was said beside it and what the model did,
// products the ids that the row rewards. What its calls recommend counts as well;
// results of tools that stand in a user's turn do not, but for the customer's words in
// them: every search returns neighbours' products.
func CandidateOf(id, request string, turns []arena.Turn, products ...string) Candidate {
	c := Candidate{ID: id, Text: request, ProductIDs: products}
	for i := range turns {
		t := &turns[i]
		if rows.IsResult(t.User) {
			c.Context = append(c.Context, rows.Heard(t.User)...)
		} else if t.User != request {
			c.Context = appendText(c.Context, t.User)
		}
		c.Answers = appendText(c.Answers, t.Think)
		c.Answers = appendText(c.Answers, t.Text)
		for _, call := range t.Calls {
			c.Answers = append(c.Answers, call.Name, string(call.Arguments))
			c.ProductIDs = append(c.ProductIDs, calls.Recommended(call)...)
		}
	}
	return c
}

func appendText(texts []string, text string) []string {
	if text == "" {
		return texts
	}
	return append(texts, text)
}

// ReadCandidate makes the candidate of a row in any trainer's format. A row that
// names itself nowhere is named by its file and line.
func ReadCandidate(row rows.Row) (Candidate, error) {
	r := rows.Read(row)
	if r.Request == "" && len(r.Context)+len(r.System)+len(r.Answers)+len(r.ProductIDs) == 0 {
		return Candidate{}, fmt.Errorf("row %d holds no text", row.Line+1)
	}
	r.ID = cmp.Or(r.ID, row.Name())
	turns := slices.Concat(
		slicesx.Map(slices.Concat(r.Context, r.System), func(text string) arena.Turn { return arena.Turn{User: text} }),
		slicesx.Map(r.Answers, func(text string) arena.Turn { return arena.Turn{Text: text} }),
	)
	c := CandidateOf(r.ID, r.Request, turns, r.ProductIDs...)
	c.Beside = r.Beside
	return c, nil
}

// repeated remembers what was found in long texts: a system prompt and the
// definitions of tools are those of every row. It is safe for concurrent use.
type repeated struct {
	found sync.Map // text to Finding
	n     atomic.Int64
}

// leastRepeated is the least length in bytes of a text that is remembered (a tool's
// definition is a few hundred bytes), and mostRepeated how many are: some MiB.
const (
	leastRepeated = 64
	mostRepeated  = 1024
)

func (r *repeated) check(text string, check func(string) Finding) Finding {
	if f, known := r.found.Load(text); known {
		return f.(Finding)
	}
	f := check(text)
	if len(text) >= leastRepeated && r.n.Add(1) <= mostRepeated {
		r.found.Store(strings.Clone(text), f) // a row's texts live as long as its batch
	}
	return f
}
