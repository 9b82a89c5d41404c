package filters

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// Row is one line of an explanation: a call of the dialogue, or a dispatch that the
// dialogue does not show.
type Row struct {
	// NamedBy counts the log's answered inference calls from 1; 0 where none
	// named the dispatch.
	NamedBy int
	// Link says how the dispatch hangs on the inference before it, or what is
	// wrong with a call that has none.
	Link string
	// Of is the dialogue's call itself, Sent its dispatch; nil where there is none.
	Of   *arena.Call
	Sent *arena.ProxyCall
}

// Term is what one rule adds to the log-odds.
type Term struct {
	Rule string  `json:"rule"`
	Why  string  `json:"why"`
	Odds float64 `json:"odds"`
}

// Explanation is one verdict, step by step.
type Explanation struct {
	Rows  []Row
	Terms []Term
	// Replies are the log's answered inference calls, as NamedBy counts them.
	Replies []*arena.ProxyCall
}

// Explain takes the first pass apart for one attempt.
func (f *Filter) Explain(t *arena.Trace, d *arena.Dialogue) Explanation {
	a := evidence.Examine(t, d, f.tools)
	e := Explanation{Rows: rows(a)}
	for i := range a.Log.Replies {
		e.Replies = append(e.Replies, a.Log.Replies[i].Logged())
	}
	for i := range rules {
		if odds := rules[i].odds(a); odds != 0 {
			e.Terms = append(e.Terms, Term{Rule: rules[i].name, Why: rules[i].why, Odds: odds})
		}
	}
	return e
}

func rows(a *evidence.Attempt) []Row {
	var rows []Row
	next := 0
	for i := range a.Dialogue.Turns {
		for range min(len(a.Dialogue.Turns[i].Calls), len(a.Claims)-next) {
			rows = append(rows, row(a, &a.Claims[next]))
			next++
		}
	}
	for i := range a.Log.Dispatches {
		if d := &a.Log.Dispatches[i]; d.Claimed < 0 {
			rows = append(rows, Row{NamedBy: d.Reply + 1, Link: d.Link.String() + ", not in the dialogue", Sent: d.Call})
		}
	}
	return rows
}

func row(a *evidence.Attempt, c *evidence.Claim) Row {
	r := Row{Of: c.Call}
	switch {
	case c.Dispatch >= 0:
		d := &a.Log.Dispatches[c.Dispatch]
		r.NamedBy, r.Link, r.Sent = d.Reply+1, d.Link.String(), d.Call
		if c.Edited {
			r.Link += ", result edited"
		}
	case c.Phantom:
		r.Link = "result without a dispatch"
	case c.Act.Tool == evidence.ToolRecommend:
		link := evidence.LinkNone
		if r.NamedBy = a.Recommender(c); r.NamedBy > 0 {
			link = evidence.LinkNamed
		} else if a.Readable < len(a.Log.Replies) {
			link = evidence.LinkUnknown
		}
		r.Link = link.String()
	}
	return r
}
