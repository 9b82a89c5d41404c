// Package evidence holds what an attempt says against what the proxy saw: which
// reply named each dispatch, which results came back, and what cannot be.
package evidence

import (
	"iter"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Attempt is one trace under examination: the dialogue, the log, and how they
// hang together.
type Attempt struct {
	Trace    *arena.Trace
	Dialogue *arena.Dialogue
	Log      ProxyLog
	Claims   []Claim
	Links    [len(linkWords)]int
	// Inference counts the chat completions that may have said something.
	Inference int
	// Readable counts the answers that can be read.
	Readable int
	// ClocksApart reports whether calls and replies fit one another in their order, but
	// not by their times: the clocks differ, or the model repeated what was done.
	ClocksApart bool
	// Said is what the turns that act after a result rest on.
	Said []Said
	Numbers
	facts
	Pad *Pad
	// Query is the request, as far as it is searched for ids and numbers.
	Query string
	// searched counts the bytes of results searched for citations, titled the
	// claims whose titles are among the pad's words of titles.
	searched, titled int
}

// maxQuery is how much of a request is looked at; real ones have a thousand
// bytes.
const maxQuery = 1 << 16

// facts are counts that several rules and checks read; each is measured once
// by the function that has its name.
type facts struct {
	// Phantoms counts results of the dialogue that no dispatch returned, Edits such that
	// differ from what was returned.
	Phantoms, Edits         int
	Invented, InventedNamed int
	Prescient, PrescientBy  int
	Forged                  int
	// CallTurns counts the turns that make calls.
	CallTurns           int
	Tokens              int
	Recommended         *Claim
	RecommendationNamed bool
	RecommendationHeard bool
}

// Examine reads an attempt in a harness of these tools; its pad may be released when
// nothing more is asked of it. Where the log's times speak against the model, and
// another clock of the model server would explain all of it, the times count for
// nothing.
func Examine(t *arena.Trace, d *arena.Dialogue, tools Tools) *Attempt {
	a := examine(t, d, tools, nil)
	if a.Unbound() == 0 && a.PrescientBy == 0 || len(a.Log.Replies) == 0 || a.Log.Slack == 0 {
		return a
	}
	replied, fits, apart := a.causal()
	b := examine(t, d, tools, replied)
	if !fits || b.Unbound() > 0 || b.PrescientBy > 0 {
		b.Pad.Release()
		return a
	}
	a.Pad.Release()
	if b.ClocksApart = apart; apart {
		b.Links = [len(linkWords)]int{LinkUnknown: len(b.Log.Dispatches)}
	}
	return b
}

func examine(t *arena.Trace, d *arena.Dialogue, tools Tools, replied []span) *Attempt {
	p := Pads.Get().(*Pad)
	p.harness = tools
	p.hearTools(t, d)
	a := &Attempt{Trace: t, Dialogue: d, Pad: p, Query: t.Query[:min(len(t.Query), maxQuery)]}
	from := len(p.words)
	p.words = AppendWords(p.words, a.Query)
	p.Request = p.words[from:len(p.words):len(p.words)]
	a.Log = readLog(t, p, replied)
	a.Claims = readClaims(d, p)
	if last := a.LastRecommendation(); last >= 0 {
		a.Recommended = &a.Claims[last]
	}
	for _, c := range Each(a.Claims) {
		if c.Act.Tool == ToolFind || c.Act.Tool == ToolShop {
			c.Listing = p.List(c.Call.Result)
		}
	}
	a.Log.match(a.Claims, p)
	a.show()
	a.forms()
	a.unnumber()
	a.Log.link()
	a.hearVerbatim()
	for i := range a.Log.Dispatches {
		a.Links[a.Log.Dispatches[i].Link]++
	}
	a.Readable = slicesx.CountFunc(a.Log.Replies, func(r *Reply) bool { return r.readable })
	a.Inference = a.Log.inferences(t.InferenceTotal)
	a.measure()
	return a
}

func (a *Attempt) measure() {
	a.Phantoms = slicesx.CountFunc(a.Claims, func(c *Claim) bool { return c.Phantom })
	a.Edits = slicesx.CountFunc(a.Claims, func(c *Claim) bool { return c.Edited })
	a.Invented, a.InventedNamed = a.countInvented()
	a.Prescient, a.PrescientBy = a.countPrescient()
	a.Forged = a.forgedReplies()
	a.Tokens = Tokens(a.Dialogue)
	a.RecommendationNamed = a.Recommended != nil && a.Recommender(a.Recommended) > 0
	a.read()
	a.RecommendationHeard = a.Recommended != nil && !a.RecommendationNamed && a.hears(a.Recommended)
}

// Unbound counts the dispatches that readable replies did not name.
func (a *Attempt) Unbound() int {
	return a.Links[LinkNone] + a.Links[LinkOverride] + a.Links[LinkNoReply] + a.Links[LinkStale]
}

// Richness is the share of decided dispatches that the model named with these
// arguments; NaN where no dispatch is decided.
func (a *Attempt) Richness() float64 {
	bound := a.Links[LinkNamed] + a.Links[LinkLoose] + a.Links[LinkDerived]
	return Share(bound, bound+a.Unbound())
}

// Share is NaN where nothing was counted.
func Share(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// Flag is 1 where b holds, else 0.
func Flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Each gives the elements of a list with their places, without copying them.
func Each[T any](all []T) iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := range all {
			if !yield(i, &all[i]) {
				return
			}
		}
	}
}

// LastRecommendation is the place of the last one among the claims, -1 where none.
func (a *Attempt) LastRecommendation() int {
	for i := range slices.Backward(a.Claims) {
		if a.Claims[i].Act.Tool == ToolRecommend {
			return i
		}
	}
	return -1
}

// Recommender is the reply, counted from 1, that named a recommendation with
// these products, which a client may have cut short; 0 where none did.
func (a *Attempt) Recommender(c *Claim) int {
	names := func(n Act) bool { return recommends(&n, c.Act.IDs) }
	return 1 + slices.IndexFunc(a.Log.Replies, func(r Reply) bool { return slices.ContainsFunc(r.Named, names) })
}

// recommends reports whether a named call recommends these products; none are
// recommended by a call that names none.
func recommends(n *Act, ids []string) bool {
	if len(ids) == 0 {
		return n.Tool == ToolRecommend && len(n.IDs) == 0
	}
	return (n.Tool == ToolRecommend || n.Tool == ToolOther && !n.Used) && Subset(ids, n.IDs)
}

// OtherAnswer reports whether replies named recommendations, with other products than
// the dialogue shows.
func (a *Attempt) OtherAnswer() bool {
	other := func(n Act) bool { return n.Tool == ToolRecommend && len(n.IDs) > 0 }
	return slices.ContainsFunc(a.Log.Replies, func(r Reply) bool { return slices.ContainsFunc(r.Named, other) })
}

// Foreign reports whether something was sent that readable replies did not name, or the
// answer is one that none named: the client chose it, or put another in its place.
func (a *Attempt) Foreign() bool {
	n, last := len(a.Log.Dispatches), len(a.Log.Replies)-1
	if a.Readable <= last {
		return a.Unbound() > 0
	}
	if a.Unbound()+a.Links[LinkUnknown] > 0 {
		return true
	}
	unasked := n > 0 && a.Log.Dispatches[n-1].Last == last
	return a.Recommended != nil && !a.RecommendationNamed && (unasked || a.OtherAnswer() || !a.RecommendationHeard)
}

// Tokens counts a dialogue's tokens as a quarter of its rendered UTF-8 bytes,
// rounded up: the counter of this project until it is given a tokenizer.
func Tokens(d *arena.Dialogue) int {
	n := 0
	for _, t := range Each(d.Turns) {
		n += len(t.User) + len(t.Think) + len(t.Text)
		for _, c := range Each(t.Calls) {
			n += len(c.Name) + len(c.Arguments) + len(c.Result)
		}
	}
	return (n + 3) / 4
}

// Words is what a reply says.
func (a *Attempt) Words(reply int) string { return a.Pad.said(a.Log.Replies[reply].content) }
