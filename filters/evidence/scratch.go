package evidence

import (
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// scratch is the pooled memory for examining one attempt. All calls, words and ids are slices of
// its buffers, so that the number of allocations does not depend on the length of an attempt.
type scratch struct {
	words []uint64
	ids   []string
	acts  []Act
	tools []Tool

	// harness are the configured tools. proxied are the names of other tools that the log
	// contains.
	harness Tools
	proxied []string

	// entries are the log entries from which dispatches and replies are read.
	entries    []entry
	dispatches []Dispatch
	replies    []Reply
	// claims are the calls of the dialogue. support describes its turns.
	claims  []Claim
	support []TurnSupport
	// candidates are the logged requests that a result is compared with.
	candidates []*Dispatch
	// listing contains the items and titles of all results.
	listing Listing

	// request has the hashes of the words of the customer's request. subject has those of the
	// call that is searched for.
	request []uint64
	subject []uint64
	// titles has the hashes of the words of titles that turns may quote. answer has those of the
	// committed titles.
	titles []uint64
	answer []uint64
	// results has the hashes of the words in the first results of the dialogue.
	results []uint64

	// json reads replies and stores their unescaped texts.
	json      *cursor.Cursor
	textCalls calls.Reader
	// argumentBytes counts the bytes of call arguments that are text in the current reply.
	argumentBytes int
	// choices are the messages of the further choices of a chat completion.
	choices []completion

	// full reports whether the attempt exceeds a limit, so that a part of it is not examined.
	full bool
}

// scratchPool stores scratch values (the memory for examining one attempt) for reuse, since they
// are most of the memory that an attempt needs.
var scratchPool = sync.Pool{New: func() any {
	return &scratch{json: cursor.New("", replyLimits)}
}}

// Limits of the numbers of words, ids and calls of one attempt. Words, ids and calls are
// compared with each other, so that the limits bound the time for any attempt. Attempts of
// thirty steps reach a tenth.
const (
	maxTotalWords = 1 << 16
	maxTotalIDs   = 1 << 14
	maxTotalActs  = 1 << 12
)

// hasRoom reports whether the numbers of words, ids and calls of the attempt are within their
// limits. If one is not, hasRoom sets s.full, and always returns false from then on, since all of
// them only grow.
func (s *scratch) hasRoom() bool {
	if len(s.words) > maxTotalWords || len(s.ids)+len(s.listing.Shown) > maxTotalIDs || len(s.acts) > maxTotalActs {
		s.full = true
	}
	return !s.full
}

// release clears all references to the trace and returns the scratch to the pool. To free
// memory, it drops a scratch that grew beyond the limits.
func (s *scratch) release() {
	if s.full || len(s.titles) > maxTotalWords {
		return
	}
	s.json.Reset("")
	*s = scratch{
		words: s.words[:0],
		ids:   cleared(s.ids),
		acts:  cleared(s.acts),
		tools: s.tools[:0],

		proxied: s.proxied[:0],

		entries:    cleared(s.entries),
		dispatches: cleared(s.dispatches),
		replies:    cleared(s.replies),
		claims:     cleared(s.claims),
		support:    s.support[:0],
		candidates: cleared(s.candidates[:cap(s.candidates)]),
		listing: Listing{
			Shown:  cleared(s.listing.Shown),
			Titles: cleared(s.listing.Titles),
		},

		subject: s.subject[:0],
		titles:  s.titles[:0],
		answer:  s.answer[:0],
		results: s.results[:0],

		json:    s.json,
		choices: cleared(s.choices[:cap(s.choices)]),
	}
	scratchPool.Put(s)
}

// cleared sets all elements of items to their zero value and returns items[:0], so that its memory
// can be reused.
func cleared[T any](items []T) []T {
	clear(items)
	return items[:0]
}

// isRequested reports whether the customer's request contains a word, given by its hash.
func (s *scratch) isRequested(word uint64) bool { return slices.Contains(s.request, word) }
