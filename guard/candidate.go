package guard

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/shopcalls"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// NewCandidate returns the candidate of a row. request is the customer's request, turns are the
// messages of the dialogue, and items the ids that the row rewards. Items that the model's calls
// answer with are added. From a tool result in a user message only the customer's words are used,
// since every search returns items of other problems.
func NewCandidate(id, request string, turns []arena.Turn, items ...string) Candidate {
	c := Candidate{ID: id, Text: request, ItemIDs: items}
	for i := range turns {
		t := &turns[i]
		c.addUser(t.User)
		c.Answers = rows.AppendNonEmpty(c.Answers, t.Think)
		c.Answers = rows.AppendNonEmpty(c.Answers, t.Text)
		for _, call := range t.Calls {
			c.Answers = append(c.Answers, call.Name, string(call.Arguments))
			c.ItemIDs = append(c.ItemIDs, shopcalls.AnswerIDs(call)...)
			c.Results = append(c.Results, rows.SplitResults(call.Result.Text())...)
		}
	}
	if request != "" && !slices.Contains(c.Conversation, request) {
		c.Conversation = slices.Insert(c.Conversation, 0, request)
	}
	return c
}

// addUser adds a text of a user turn or a system prompt, in the same parts as package rows reads it.
func (c *Candidate) addUser(text string) {
	results, words := rows.CutResults(text)
	for _, message := range rows.UserMessages(results) {
		c.addUser(message)
	}
	c.Results = append(c.Results, results...)
	prompt, tools := calls.CutTools(words)
	for _, tool := range tools {
		c.Metadata = rows.AppendNonEmpty(c.Metadata, rows.Leaves(gjson.Parse(tool)))
	}
	if prompt == "" {
		return
	}
	if prompt != c.Text {
		c.Context = slicesx.AppendUnique(c.Context, prompt)
	}
	c.Conversation = slicesx.AppendUnique(c.Conversation, prompt)
}

// ReadCandidate returns the candidate of a row in any trainer's format. The id of a row without one
// consists of the name of the file and the line.
func ReadCandidate(row rows.Row) (Candidate, error) {
	r := rows.Read(row)
	if r.IsEmpty() {
		return Candidate{}, fmt.Errorf("row %d holds no text", row.Line+1)
	}
	return Candidate{
		ID:           cmp.Or(r.ID, row.Name()),
		Text:         r.Request,
		Context:      slices.Concat(r.System, r.Context),
		ItemIDs:      slices.Concat(r.ItemIDs, r.AnswerIDs),
		Answers:      r.Answers,
		Metadata:     r.Metadata,
		Conversation: r.Conversation,
		Results:      r.Results,
	}, nil
}

// textSet is a set of texts that may forget some, for texts that many rows share. It knows them by
// their hashes, whose seed is random. It is safe for concurrent use.
type textSet struct {
	hashes [1 << 16]atomic.Uint64
}

var textSeed = maphash.MakeSeed()

// place returns the hash of a text, and where the set has it.
func (s *textSet) place(text string) (hash uint64, slot *atomic.Uint64) {
	hash = maphash.String(textSeed, text)
	return hash, &s.hashes[hash%uint64(len(s.hashes))]
}

func (s *textSet) has(text string) bool {
	hash, slot := s.place(text)
	return slot.Load() == hash
}

func (s *textSet) add(text string) {
	hash, slot := s.place(text)
	slot.Store(hash)
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
