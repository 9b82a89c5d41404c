package filters

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// Row is one line of an explanation: a call of the dialogue with its logged request to the tool server,
// or a logged request that the dialogue does not show.
type Row struct {
	// NamedBy is the number, counted from 1, of the logged reply that asked for the request; 0
	// if none did.
	NamedBy int
	// Link tells how the logged request relates to the replies before it or, if there is no
	// request, what is wrong with the call.
	Link string
	// Newest is the number, counted from 1, of the newest reply before a request that no reply
	// asked for. Passages is the text of that reply with the words of the request marked. They
	// are 0 and nil for any other request.
	Newest   int
	Passages []evidence.Passage
	// Call is the call of the dialogue, nil if there is none. Dispatch is the logged request,
	// nil if there is none.
	Call     *arena.Call
	Dispatch *arena.ProxyCall
}

// Term is the contribution of one rule to the log-odds that the model decided the calls, with
// the reason.
type Term struct {
	Rule string  `json:"rule"`
	Why  string  `json:"why"`
	Odds float64 `json:"odds"`
}

// Explanation contains the evidence behind the first pass of one attempt.
type Explanation struct {
	Rows  []Row
	Terms []Term
	// Replies are the answered calls of models in the log. Row.NamedBy is a position in this
	// list.
	Replies []*arena.ProxyCall
}

// noPrompts is a sentence of explanations for a log without prompts. It states which programs then
// look like a model.
const noPrompts = "the log contains no prompts. Without them, two kinds of programs look like a model, and the confidence does not cover them: " +
	"one that chooses calls at random as a model would and has a model write each, and one that dictates only the answer"

// Explain returns the evidence behind the first pass of one attempt.
func (f *Filter) Explain(t *arena.Trace, d *arena.Dialogue) Explanation {
	a := f.examine(t, d)
	e := Explanation{Rows: explainCalls(a)}
	for i := range a.Log.Replies {
		e.Replies = append(e.Replies, a.Log.Replies[i].Call)
	}
	for i := range rules {
		r := &rules[i]
		if odds := r.odds(a); odds != 0 {
			e.Terms = append(e.Terms, Term{
				Rule: r.name,
				Why:  r.why,
				Odds: odds,
			})
		}
	}
	if a.Prompted == 0 && a.Links[evidence.LinkNamed] > 0 {
		e.Terms = append(e.Terms, Term{Rule: "no_prompts", Why: noPrompts})
	}
	return e
}

// explainCalls returns the rows of the table that shows a person who made each call of an attempt:
// one for each call of the dialogue, then one for each logged request to the tool server that the
// dialogue does not show.
func explainCalls(a *evidence.Attempt) []Row {
	var rows []Row
	for i := range a.Claims {
		rows = append(rows, explainCall(a, &a.Claims[i]))
	}
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Claimed < 0 {
			r := Row{
				NamedBy:  d.Reply + 1,
				Link:     linkText(d) + ", not in the dialogue",
				Dispatch: d.Call,
			}
			r.quote(a, d)
			rows = append(rows, r)
		}
	}
	return rows
}

func explainCall(a *evidence.Attempt, c *evidence.Claim) Row {
	r := Row{Call: c.Call}
	switch {
	case c.Dispatch >= 0:
		d := &a.Log.Dispatches[c.Dispatch]
		r.NamedBy = d.Reply + 1
		r.Link = linkText(d)
		r.Dispatch = d.Call
		r.quote(a, d)
		if c.Edited {
			r.Link += ", result edited"
		}
	case c.Phantom:
		r.Link = "result without a dispatch"
	case c.Act.Tool == evidence.ToolCommit:
		link := evidence.LinkNone
		r.NamedBy = a.CommitReply(c)
		if r.NamedBy > 0 {
			link = evidence.LinkNamed
		} else if a.Readable < len(a.Log.Replies) {
			link = evidence.LinkUnknown
		}
		r.Link = link.String()
	}
	return r
}

// linkText returns in words, for explanations, how the model's replies asked for a logged tool
// request, such as "named" if a reply contains the call. If the client chose the request from
// several calls, the text says so.
func linkText(d *evidence.Dispatch) string {
	if d.Chosen {
		return d.Link.String() + ", chosen from several calls"
	}
	return d.Link.String()
}

// quote adds to the row of a logged request, if no reply of the model asked for it, the text of the
// newest reply before it. A person can then check that the reply does not ask for it.
func (r *Row) quote(a *evidence.Attempt, d *evidence.Dispatch) {
	if r.NamedBy == 0 {
		r.Passages, r.Newest = a.NewestReply(d)
	}
}
