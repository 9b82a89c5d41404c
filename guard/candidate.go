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
	"github.com/trajectory-arena/arena/internal/shopcalls"
)

// NewCandidate returns the candidate of a row. request is the customer's request, turns are the
// other messages of the dialogue, and items the ids that the row rewards. Items that the
// model's calls answer with are added. From a tool result in a user message only the customer's words
// are used, since every search returns items of other problems.
func NewCandidate(id, request string, turns []arena.Turn, items ...string) Candidate {
	c := Candidate{ID: id, Text: request, ItemIDs: items}
	for i := range turns {
		t := &turns[i]
		if rows.IsResult(t.User) {
			c.Context = append(c.Context, rows.UserMessages(t.User)...)
			c.Results = append(c.Results, t.User)
		} else if t.User != request {
			c.Context = appendText(c.Context, t.User)
		}
		c.Answers = appendText(c.Answers, t.Think)
		c.Answers = appendText(c.Answers, t.Text)
		for _, call := range t.Calls {
			c.Answers = append(c.Answers, call.Name, string(call.Arguments))
			c.ItemIDs = append(c.ItemIDs, shopcalls.AnswerIDs(call)...)
			c.Results = appendText(c.Results, call.Result.Text())
		}
	}
	c.Conversation = append(appendText(nil, request), c.Context...)
	return c
}

func appendText(texts []string, text string) []string {
	if text == "" {
		return texts
	}
	return append(texts, text)
}

// ReadCandidate returns the candidate of a row in any trainer's format. The id of a row without one
// consists of the name of the file and the line.
func ReadCandidate(row rows.Row) (Candidate, error) {
	r := rows.Read(row)
	if r.IsEmpty() {
		return Candidate{}, fmt.Errorf("row %d holds no text", row.Line+1)
	}
	r.ID = cmp.Or(r.ID, row.Name())

	var turns []arena.Turn
	for _, text := range r.Context {
		turns = append(turns, arena.Turn{User: text})
	}
	for _, text := range r.System {
		turns = append(turns, arena.Turn{User: text})
	}
	for _, text := range r.Answers {
		turns = append(turns, arena.Turn{Text: text})
	}
	c := NewCandidate(r.ID, r.Request, turns, r.ItemIDs...)
	c.Conversation = slices.Concat(r.System, appendText(nil, r.Request), r.Context)
	c.Results = r.Results
	c.Metadata = r.Metadata
	return c, nil
}

// findingCache caches the result of checking a text, since many rows share a system prompt and tool
// definitions. It is safe for concurrent use.
type findingCache struct {
	findings sync.Map // text to Finding
	size     atomic.Int64
}

// minCachedBytes is the minimum length in bytes of a text that is cached (a tool definition has a
// few hundred), maxCached the maximum number of texts in the cache, some MiB.
const (
	minCachedBytes = 64
	maxCached      = 1024
)

// check returns the cached result of checking text. If the cache does not have it, check calls the
// function check, and caches its result if text has at least minCachedBytes and the cache at most
// maxCached texts.
func (c *findingCache) check(text string, check func(string) Finding) Finding {
	if f, ok := c.findings.Load(text); ok {
		return f.(Finding)
	}
	f := check(text)
	if len(text) >= minCachedBytes && c.size.Add(1) <= maxCached {
		c.findings.Store(strings.Clone(text), f) // a clone, since text shares the memory of its batch
	}
	return f
}
