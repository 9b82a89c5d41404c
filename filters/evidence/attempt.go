// Package evidence compares the dialogue of an attempt with the log of the proxy. It finds which
// reply of the model asked for each request to the tool server, which results really came from the
// tool server, and which parts of the dialogue or the log cannot be true.
//
// The tool server is what answers the agent's calls; the proxy logs the requests to it. An item is a
// thing with an id that tools find and open, such as a flight or a file. A commit call gives the answer,
// or makes the change that counts: its tool has the role commit in the domain's file, and the items that
// it names are committed.
//
// A dispatch is a request to the tool server in the log. A claim is a call in the dialogue. A reply
// names a call if it contains the call in a form that can be read.
package evidence

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Attempt is the evidence of one trace: its dialogue, its log, and the links between the two.
type Attempt struct {
	Trace    *arena.Trace
	Dialogue *arena.Dialogue
	Log      ProxyLog
	Claims   []Claim
	// Links counts the dispatches (logged requests to the tool server) by their relation to the model's
	// replies.
	Links Links
	// Bare counts the named dispatches without a value in their arguments, which a program and a
	// model may both send by chance.
	Bare int
	// Inference counts the chat completions that may have returned text.
	Inference int
	// Readable counts the model's replies in the log that can be read.
	Readable int
	// Cut counts the dispatches (logged requests) that an unreadable reply of their turn may
	// have asked for.
	Cut int
	// Lost is the number of chat completions that the sandbox counted but the log does not
	// contain.
	Lost int
	// ClocksDiffer reports whether calls match replies by their order, but not by their times.
	// Either the clocks differ or the model repeated past calls.
	ClocksDiffer bool

	// Phantoms counts the results in the dialogue that no logged request returned. Edits counts
	// the results that differ from what was returned.
	Phantoms int
	Edits    int
	// Invented and InventedNamed are the results of countInvented.
	Invented      int
	InventedNamed int
	// Prescient and PrescientReplies are the results of countPrescient.
	Prescient        int
	PrescientReplies int
	// Pinned is the result of countPinned.
	Pinned int
	// Dictated and Prompted are the results of countDictated.
	Dictated int
	Prompted int
	// Forged is the result of countForgeries.
	Forged int
	// CallTurns counts the turns with calls.
	CallTurns int
	Tokens    int

	// Commit is the last commit call in the dialogue, nil if there is none.
	Commit *Claim
	// CommitNamed reports whether a reply contains the commit call as a call in a
	// known form. CommitMentioned reports whether the last replies contain it in any
	// other form.
	CommitNamed     bool
	CommitMentioned bool

	// Support describes each turn that calls tools after an earlier result.
	Support []TurnSupport
	Numbers NumberCounts

	// query is the text of the customer's request, cut to maxQuery bytes.
	query   string
	scratch *scratch
	// unread maps the index of a reply to its text without the calls that were read in it.
	unread map[int]*replyText
	// tools caches the result of toolNames, nil until its first call.
	tools []string
	// comparedWords counts the comparisons between words of requests and words of replies.
	comparedWords int
	// searchedBytes counts the bytes of results that were searched for numbers and words.
	searchedBytes int
	// indexedTitles is the number of claims (calls of the dialogue) whose titles are in
	// scratch.titles.
	indexedTitles int
}

// maxQuery is the maximum number of bytes of the customer's request that are examined. Real
// requests have about a thousand.
const maxQuery = 1 << 16

// Examine compares the dialogue of an attempt with its proxy log, for agents that have these
// tools. Call Release when the result is no longer needed.
//
// The times in the log are ignored if they contradict the model's calls, and a wrong clock of
// the model server would explain every contradiction.
func Examine(t *arena.Trace, d *arena.Dialogue, tools Tools) *Attempt {
	a := examine(t, d, tools, nil)
	consistent := a.Unbound() == 0 && a.PrescientReplies == 0
	if consistent || len(a.Log.Replies) == 0 || a.Log.Slack == 0 {
		return a
	}

	causal := a.causalOrder()
	b := examine(t, d, tools, causal.replies)
	if !causal.matched || b.Unbound() > 0 || b.PrescientReplies > 0 {
		b.Release()
		return a
	}

	a.Release()
	b.ClocksDiffer = causal.clocksDiffer
	if b.ClocksDiffer {
		b.Links = Links{LinkUnknown: len(b.Log.Dispatches)}
	}
	return b
}

// examine compares the dialogue of an attempt with the proxy's log and returns what it found as
// evidence. If replyTimes is not nil, it has one time for each reply of the model in the log, which
// replaces the logged time.
func examine(
	t *arena.Trace,
	d *arena.Dialogue,
	tools Tools,
	replyTimes []span,
) *Attempt {
	s := scratchPool.Get().(*scratch)
	s.harness = tools
	s.learnToolNames(t, d)

	a := &Attempt{
		Trace:    t,
		Dialogue: d,
		scratch:  s,
		query:    t.Query[:min(len(t.Query), maxQuery)],
	}
	start := len(s.words)
	s.words = AppendWords(s.words, a.query)
	s.request = s.words[start:len(s.words):len(s.words)]

	a.Log = readLog(t, s, replyTimes)
	a.Claims = readClaims(d, s)
	if last := a.LastCommit(); last >= 0 {
		a.Commit = &a.Claims[last]
	}
	for i := range a.Claims {
		c := &a.Claims[i]
		if c.Act.Tool == ToolFind || c.Act.Tool == ToolFindWithin {
			c.Listing = s.readListing(c.Call.Result)
		}
	}

	a.Log.matchClaims(a.Claims, s)
	a.collectShown()
	a.learnForms()
	a.resolveNumbers()
	a.Log.linkDispatches()
	a.linkByWords()
	a.Log.linkChoices()
	a.countLinks()
	a.Readable = slicesx.CountFunc(a.Log.Replies, func(r *Reply) bool {
		return r.readable
	})
	a.Inference = a.Log.inferences(t.InferenceTotal)
	a.Lost = max(0, t.InferenceTotal-a.Log.mute-a.Log.Requested)
	a.measure()
	return a
}

func (a *Attempt) measure() {
	a.Phantoms = slicesx.CountFunc(a.Claims, func(c *Claim) bool {
		return c.Phantom
	})
	a.Edits = slicesx.CountFunc(a.Claims, func(c *Claim) bool {
		return c.Edited
	})
	a.Invented, a.InventedNamed = a.countInvented()
	a.Prescient, a.PrescientReplies = a.countPrescient()
	a.Pinned = a.countPinned()
	a.Dictated, a.Prompted = a.countDictated()
	a.Forged = a.countForgeries()
	a.Tokens = countTokens(a.Dialogue)
	a.CommitNamed = a.Commit != nil && a.CommitReply(a.Commit) > 0
	a.measureSupport()
	a.CommitMentioned = a.Commit != nil && !a.CommitNamed && a.mentions(a.Commit)
}

// Release returns the memory of the attempt to the pool. The attempt must not be used
// afterwards.
func (a *Attempt) Release() { a.scratch.release() }

// Truncated reports whether the attempt has more words, ids or calls than are examined.
func (a *Attempt) Truncated() bool { return a.scratch.full }

// Request returns the hashes of the words of the customer's request.
func (a *Attempt) Request() []uint64 { return a.scratch.request }

// Fit counts the words of a title that are also in the customer's request.
func (a *Attempt) Fit(title string) int {
	n := 0
	for word := range Words(title) {
		if a.scratch.isRequested(word) {
			n++
		}
	}
	return n
}

// countLinks counts the logged tool requests by how the model's replies asked for them. a.Links has
// the number of requests for each such kind of link. a.Bare counts the requests for which a reply
// has only a call without any argument value, and a.Cut those that an unreadable reply may have
// asked for.
func (a *Attempt) countLinks() {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		a.Links[d.Link]++
		if d.Link == LinkNamed && !d.Act.hasValues() {
			a.Bare++
		}
		if d.cut {
			a.Cut++
		}
	}
}

// Unbound counts the dispatches (logged requests to the tool server) that no reply of their own turn
// asked for. Their link is none, override, no reply or stale.
func (a *Attempt) Unbound() int {
	return a.Links[LinkNone] + a.Links[LinkOverride] + a.Links[LinkNoReply] + a.Links[LinkStale]
}

// LostRequests counts, by link, the requests that no logged reply asked for, but a reply missing
// from the log may have. A missing reply explains one run of requests after the same logged
// reply, and their repetitions. The longest runs count, as many as replies are missing.
func (a *Attempt) LostRequests() (links Links) {
	if a.Lost == 0 {
		return links
	}
	isUnnamed := func(d *Dispatch) bool {
		return d.Link == LinkNone || d.Link == LinkOverride || d.Link == LinkNoReply || d.Link == LinkStale
	}
	var runs [][]int // indexes of dispatches
	after := -2      // the reply before the current run; -2 is that of no request
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if !isUnnamed(d) {
			continue
		}
		if d.LastReply != after {
			after = d.LastReply
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], i)
	}
	slicesx.SortByKey(runs, func(x []int) int {
		return -len(x)
	})

	explained := slices.Concat(runs[:min(a.Lost, len(runs))]...)
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		isRepeated := func(j int) bool { return a.Log.Dispatches[j].Act.SameRequest(&d.Act) }
		if isUnnamed(d) && slices.ContainsFunc(explained, isRepeated) {
			links[d.Link]++
		}
	}
	return links
}

// Richness returns the share of logged requests to the tool server that the model asked for, among
// those for which the log decides this. It returns NaN if there are none.
func (a *Attempt) Richness() float64 {
	bound := a.Links[LinkNamed] + a.Links[LinkLoose] + a.Links[LinkDerived]
	return ratio(bound, bound+a.Unbound())
}

// ratio returns part / total, or NaN if total is 0.
func ratio(part, total int) float64 {
	if total == 0 {
		return math.NaN()
	}
	return float64(part) / float64(total)
}

// countTokens returns an estimate of the tokens of a dialogue: the bytes of its texts, calls and
// results divided by four, rounded up.
func countTokens(d *arena.Dialogue) int {
	n := 0
	for i := range d.Turns {
		t := &d.Turns[i]
		n += len(t.User) + len(t.Think) + len(t.Text)
		for j := range t.Calls {
			c := &t.Calls[j]
			n += len(c.Name) + len(c.Arguments) + len(c.Result)
		}
	}
	return (n + 3) / 4
}

// ReplyText returns the text of the reply with this index in the log.
func (a *Attempt) ReplyText(reply int) string {
	return a.scratch.contentText(a.Log.Replies[reply].content)
}
