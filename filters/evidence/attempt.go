// Package evidence compares the dialogue of an attempt with the log of the proxy: which
// reply of the model named each request to the shop, which results really came back, and
// which parts of the dialogue or the log cannot be true.
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
	// Links counts the dispatches by their link.
	Links Links
	// Offers counts the requests that stand in a reply among other calls which were not sent:
	// the client chose from a list.
	Offers int
	// Inference counts the chat completions that may have returned text.
	Inference int
	// Readable counts the replies that can be read.
	Readable int
	// Cut counts the dispatches whose reply the log has in part only.
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
	// unread are the texts of replies without the calls that were read in them, by reply.
	unread map[int]*replyText
	// tools are the names of toolNames, nil until they are asked for.
	tools []string
	// comparedWords counts the comparisons of words of requests and replies.
	comparedWords int
	// searchedBytes counts the bytes of results that were searched for numbers and words.
	searchedBytes int
	// indexedTitles counts the claims whose titles are in scratch.titles.
	indexedTitles int
}

// maxQuery is the number of bytes of a request that are examined; real requests have a
// thousand.
const maxQuery = 1 << 16

// Examine returns the evidence of an attempt in a harness of these tools. Call Release
// when it is no longer needed.
//
// The log's times are ignored if they contradict the model and a different clock of the
// model server would explain every contradiction.
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

// examine returns the evidence of an attempt. replyTimes replace the times of the log's
// replies unless they are nil.
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

// Fit returns the number of words of a title that the request contains.
func (a *Attempt) Fit(title string) int {
	n := 0
	for word := range Words(title) {
		if a.scratch.isRequested(word) {
			n++
		}
	}
	return n
}

// Unbound returns the number of dispatches that readable replies did not name.
func (a *Attempt) Unbound() int {
	return a.Links[LinkNone] + a.Links[LinkOverride] + a.Links[LinkNoReply] + a.Links[LinkStale]
}

// LostRequests returns the requests without a named call that the replies which the log lacks
// can have named, by their links. Since each lost reply belongs to one place between the
// requests, it explains one run of requests after the same reply, and their repetitions. The
// longest runs are returned, as many as there are lost replies.
func (a *Attempt) LostRequests() (links Links) {
	if a.Lost == 0 {
		return links
	}
	isUnnamed := func(d *Dispatch) bool {
		return d.Link == LinkNone || d.Link == LinkOverride || d.Link == LinkNoReply || d.Link == LinkStale
	}
	var runs [][]int // indexes of dispatches
	after := -2      // the reply before the current run; no request has this one
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

// Richness returns the share of decided dispatches that the model named with their
// arguments, NaN if no dispatch is decided.
func (a *Attempt) Richness() float64 {
	bound := a.Links[LinkNamed] + a.Links[LinkLoose] + a.Links[LinkDerived]
	return ratio(bound, bound+a.Unbound())
}

// ratio returns part / total, NaN if total is 0.
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

// Recommender returns the number, from 1, of the first reply that named a recommendation
// of these products or of more; 0 if none did. Clients may shorten a recommendation.
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

// isRecommendationOf reports whether a named call recommends these products. A
// recommendation of no products matches only a call that names none.
func isRecommendationOf(named *Act, ids []string) bool {
	if len(ids) == 0 {
		return named.Tool == ToolRecommend && len(named.IDs) == 0
	}
	unusedOther := named.Tool == ToolOther && !named.Used
	return (named.Tool == ToolRecommend || unusedOther) && IsSubset(ids, named.IDs)
}

// FoundByClient reports whether a request that no reply named was the first to show a
// recommended product: the client found the answer. It reports false if a reply that is
// lost or cut can have named the request.
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

// wasSubjectNamed reports whether a reply before a request named its tool with its words or
// products: the client then changed a filter or the page only.
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

// AnswerCut reports whether a reply after the last request, or the last reply, cannot be
// read: it can have named the answer.
func (a *Attempt) AnswerCut() bool {
	first := len(a.Log.Replies) - 1
	if n := len(a.Log.Dispatches); n > 0 {
		first = min(first, a.Log.Dispatches[n-1].LastReply+1)
	}
	return slices.ContainsFunc(a.Log.Replies[max(first, 0):], func(r Reply) bool {
		return !r.readable
	})
}

// HasOtherRecommendation reports whether any reply named a recommendation of products.
// If RecommendationNamed is false, these products differ from those of the dialogue.
func (a *Attempt) HasOtherRecommendation() bool {
	recommends := func(named Act) bool {
		return named.Tool == ToolRecommend && len(named.IDs) > 0
	}
	return slices.ContainsFunc(a.Log.Replies, func(r Reply) bool {
		return slices.ContainsFunc(r.Named, recommends)
	})
}

// ClientDecided reports whether the client, not the model, chose a request to the shop or
// the answer: readable replies did not name it, or named another one.
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

// countTokens returns the tokens of a dialogue, estimated as a quarter of its rendered
// UTF-8 bytes, rounded up.
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
