// Package evidence compares the dialogue of an attempt with the log of the proxy: which reply
// of the model asked for each request to the shop, which results really came from the shop, and
// which parts of the dialogue or the log cannot be true.
//
// A dispatch is a request to the shop in the log, a claim a call of the dialogue. A reply names
// a call if it contains the call in a form that can be read.
package evidence

import (
	"math"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Attempt holds the evidence of one trace: its dialogue, its log, and the links between
// the two.
type Attempt struct {
	Trace    *arena.Trace
	Dialogue *arena.Dialogue
	Log      ProxyLog
	Claims   []Claim
	// Links counts the dispatches (logged requests to the shop) by their relation to the
	// replies.
	Links Links
	// Inference counts the chat completions that may have returned text.
	Inference int
	// Readable counts the replies of models in the log that can be read.
	Readable int
	// Cut counts the dispatches that an unreadable reply of their turn may have asked for.
	Cut int
	// Lost counts the chat completions that the sandbox counted and the log lacks.
	Lost int
	// ClocksDiffer reports whether calls and replies match each other in their order, but
	// not by their times: the clocks differ, or the model repeated past calls.
	ClocksDiffer bool

	// Phantoms counts the results of the dialogue that no dispatch returned, Edits those
	// that differ from what was returned.
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

	// Recommended is the last recommendation, nil if none.
	Recommended *Claim
	// RecommendationNamed reports whether a reply named it in a known form,
	// RecommendationMentioned whether the last replies mention it in any other form.
	RecommendationNamed     bool
	RecommendationMentioned bool

	// Support describes the turns with calls that follow a result.
	Support []TurnSupport
	Numbers NumberCounts

	// query is the text of the request, cut to maxQuery bytes.
	query   string
	scratch *scratch
	// unread has, by reply, the texts of replies without the calls that were read in them.
	unread map[int]*replyText
	// tools are the names that toolNames returns, nil until its first call.
	tools []string
	// comparedWords counts the comparisons of words in requests with words in replies.
	comparedWords int
	// searchedBytes counts the bytes of results that were searched for numbers and words.
	searchedBytes int
	// indexedTitles counts the claims whose titles are in scratch.titles.
	indexedTitles int
}

// maxQuery is the maximum number of bytes of the customer's request that are examined; real
// requests have a thousand.
const maxQuery = 1 << 16

// Examine compares the dialogue of an attempt with its log, in a harness of these tools. Call
// Release when the result is no longer needed.
//
// The log's times are ignored if they contradict the model's calls, and a different clock of
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

// examine computes the evidence of an attempt. The times in replyTimes, one for each reply of the
// log, are used in place of the log's own; nil means the log's own.
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
	if last := a.LastRecommendation(); last >= 0 {
		a.Recommended = &a.Claims[last]
	}
	for i := range a.Claims {
		c := &a.Claims[i]
		if c.Act.Tool == ToolFind || c.Act.Tool == ToolShop {
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
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		a.Links[d.Link]++
		if d.cut {
			a.Cut++
		}
	}
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
	a.RecommendationNamed = a.Recommended != nil && a.Recommender(a.Recommended) > 0
	a.measureSupport()
	a.RecommendationMentioned = a.Recommended != nil && !a.RecommendationNamed && a.mentions(a.Recommended)
}

// Release returns the memory of the attempt to the pool. The attempt must not be used
// afterwards.
func (a *Attempt) Release() { a.scratch.release() }

// Truncated reports whether the attempt has more words, ids or calls than are examined.
func (a *Attempt) Truncated() bool { return a.scratch.full }

// Request returns the hashes of the words of the request.
func (a *Attempt) Request() []uint64 { return a.scratch.request }

// Fit counts the words of a title that the customer's request contains.
func (a *Attempt) Fit(title string) int {
	n := 0
	for word := range Words(title) {
		if a.scratch.isRequested(word) {
			n++
		}
	}
	return n
}

// Unbound counts the dispatches (logged requests to the shop) that no reply of their own turn
// asked for: those linked as none, overridden, no inference or stale.
func (a *Attempt) Unbound() int {
	return a.Links[LinkNone] + a.Links[LinkOverride] + a.Links[LinkNoReply] + a.Links[LinkStale]
}

// LostRequests counts, by link, the requests without a reply that asked for them which replies
// missing from the log may have asked for. Since a missing reply is at one position between the
// requests, it explains one run of requests after the same logged reply, and repetitions of
// them. The longest runs count, as many as replies are missing.
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
	slices.SortStableFunc(runs, func(x, y []int) int { return len(y) - len(x) })

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

// Richness returns the share of dispatches that the model asked for with their arguments, among
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

// LastRecommendation returns the index of the last recommendation in Claims, -1 if none.
func (a *Attempt) LastRecommendation() int {
	for i := range slices.Backward(a.Claims) {
		if a.Claims[i].Act.Tool == ToolRecommend {
			return i
		}
	}
	return -1
}

// Recommender returns the number, from 1, of the reply that asked for the recommendation c: the
// first that recommends these products or more, since clients may shorten a recommendation,
// else the last that contains the tool's name and all values as text. It returns 0 if there is
// none.
func (a *Attempt) Recommender(c *Claim) int {
	recommends := func(named Act) bool {
		return isRecommendationOf(&named, c.Act.IDs)
	}
	i := slices.IndexFunc(a.Log.Replies, func(r Reply) bool {
		return slices.ContainsFunc(r.Named, recommends)
	})
	if i >= 0 {
		return i + 1
	}

	r := request{names: []string{ToolName(c.Call.Name)}}
	r.addArguments(gjson.Parse(string(c.Call.Arguments)), false, 0)
	for reply := range slices.Backward(a.Log.Replies) {
		if a.findMention(reply, &r) == mentionWhole {
			return reply + 1
		}
	}
	return 0
}

// isRecommendationOf reports whether a call in a model's reply recommends all products of ids, and
// possibly more. A call of an unknown tool counts too, unless a logged request carried it out. If
// ids is empty, the call must recommend no products.
func isRecommendationOf(named *Act, ids []string) bool {
	if len(ids) == 0 {
		return named.Tool == ToolRecommend && len(named.IDs) == 0
	}
	unusedOther := named.Tool == ToolOther && !named.Used
	return (named.Tool == ToolRecommend || unusedOther) && IsSubset(ids, named.IDs)
}

// FoundByClient reports whether a request that no reply asked for was the first to show a
// recommended product: the client found the answer. It is false if a reply is missing from the
// log or cut, since that reply may have asked for the request.
func (a *Attempt) FoundByClient() bool {
	if a.Recommended == nil || a.Lost > 0 || a.Readable < len(a.Log.Replies) {
		return false
	}
	return slices.ContainsFunc(a.Recommended.Act.IDs, func(id string) bool {
		for i := range a.Log.Dispatches {
			d := &a.Log.Dispatches[i]
			if slices.Contains(d.products, id) {
				isUnnamed := d.Link == LinkNone || d.Link == LinkNoReply || d.Link == LinkOverride
				return isUnnamed && !a.wasSubjectNamed(d)
			}
		}
		return false
	})
}

// wasSubjectNamed reports whether a reply before a logged request called its tool with its
// words and products, so that the client changed only a filter or the page.
func (a *Attempt) wasSubjectNamed(d *Dispatch) bool {
	for i := range a.Log.Replies[:d.LastReply+1] {
		if slices.ContainsFunc(a.Log.Replies[i].Named, func(named Act) bool {
			return named.sameSubject(&d.Act)
		}) {
			return true
		}
	}
	return false
}

// AnswerCut reports whether a reply after the last request to the shop, or the last reply,
// cannot be read. That reply may contain the answer.
func (a *Attempt) AnswerCut() bool {
	first := len(a.Log.Replies) - 1
	if n := len(a.Log.Dispatches); n > 0 {
		first = min(first, a.Log.Dispatches[n-1].LastReply+1)
	}
	return slices.ContainsFunc(a.Log.Replies[max(first, 0):], func(r Reply) bool {
		return !r.readable
	})
}

// HasOtherRecommendation reports whether any reply recommends products. If RecommendationNamed
// is false, they differ from those that the dialogue recommends.
func (a *Attempt) HasOtherRecommendation() bool {
	recommends := func(named Act) bool {
		return named.Tool == ToolRecommend && len(named.IDs) > 0
	}
	return slices.ContainsFunc(a.Log.Replies, func(r Reply) bool {
		return slices.ContainsFunc(r.Named, recommends)
	})
}

// ClientDecided reports whether the client, not the model, chose a request to the shop or the
// answer: readable replies did not ask for it, or asked for another one.
func (a *Attempt) ClientDecided() bool {
	lastReply := len(a.Log.Replies) - 1
	if a.Unbound()+a.Links[LinkUnknown]-a.Cut > 0 {
		return true
	}
	if a.Readable <= lastReply {
		return false
	}
	if a.Recommended == nil || a.RecommendationNamed {
		return false
	}

	n := len(a.Log.Dispatches)
	noReplyAfter := n > 0 && a.Log.Dispatches[n-1].LastReply == lastReply
	return noReplyAfter || a.HasOtherRecommendation() || !a.RecommendationMentioned
}

// countTokens computes the approximate number of tokens of a dialogue: a quarter of the bytes of
// its texts, calls and results, rounded up.
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

// ReplyText returns the text of a reply of the log.
func (a *Attempt) ReplyText(reply int) string {
	return a.scratch.contentText(a.Log.Replies[reply].content)
}
