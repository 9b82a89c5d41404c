package filters

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// Row is one line of an explanation: a call of the dialogue, a turn without
// calls, or a dispatch that the dialogue does not show.
type Row struct {
	// Step counts the dialogue's turns from 1; 0 for a dispatch outside of it.
	Step int
	// Said is the beginning of what the turn thinks or says.
	Said string
	// Call is the dialogue's call, Dispatched the request that the proxy saw.
	Call       string
	Dispatched string
	// NamedBy counts the log's answered inference calls from 1; 0 where none
	// named the dispatch.
	NamedBy int
	// Link says how the dispatch hangs on the inference before it, or what is
	// wrong with a call that has none.
	Link string
}

// Term is what one rule adds to the log-odds.
type Term struct {
	Rule string
	Why  string
	Odds float64
}

// Explanation is one verdict, step by step.
type Explanation struct {
	Rows  []Row
	Terms []Term
}

// Explain takes the first pass apart for one attempt.
func (f *Filter) Explain(t *arena.Trace, d *arena.Dialogue) Explanation {
	a := examine(t, d)
	e := Explanation{Rows: a.rows()}
	for i := range rules {
		if odds := rules[i].odds(a); odds != 0 {
			e.Terms = append(e.Terms, Term{Rule: rules[i].name, Why: rules[i].why, Odds: odds})
		}
	}
	return e
}

func (a *attempt) rows() []Row {
	var rows []Row
	next := 0
	for i := range a.dialogue.Turns {
		turn := &a.dialogue.Turns[i]
		said := shorten(joinLines(turn.Think, joinLines(turn.Text, turn.User)), 60)
		if len(turn.Calls) == 0 {
			rows = append(rows, Row{Step: i + 1, Said: said})
		}
		for range min(len(turn.Calls), len(a.claims)-next) {
			rows = append(rows, a.row(i, said, &a.claims[next]))
			next, said = next+1, ""
		}
	}
	for i := range a.log.dispatches {
		if d := &a.log.dispatches[i]; d.claimed < 0 {
			rows = append(rows, Row{Dispatched: request(d), NamedBy: d.reply + 1, Link: d.link.String() + ", not in the dialogue"})
		}
	}
	return rows
}

func (a *attempt) row(turn int, said string, c *claim) Row {
	r := Row{Step: turn + 1, Said: said, Call: shorten(c.call.Name+" "+string(c.call.Arguments), 70)}
	switch {
	case c.dispatch >= 0:
		d := &a.log.dispatches[c.dispatch]
		r.Dispatched, r.NamedBy, r.Link = request(d), d.reply+1, d.link.String()
		if c.edited {
			r.Link += ", result edited"
		}
	case c.phantom:
		r.Link = "result without a dispatch"
	case c.act.tool == toolRecommend:
		r.NamedBy, r.Link = a.recommendationLink(c)
	}
	return r
}

// recommendationLink says which reply named a recommendation, if any.
func (a *attempt) recommendationLink(c *claim) (reply int, link string) {
	reply = a.recommender(c)
	switch {
	case reply > 0:
		return reply, linkNamed.String()
	case a.readable < len(a.log.replies):
		return 0, linkUnknown.String()
	}
	return 0, linkNone.String()
}

func request(d *dispatch) string {
	return shorten(endpoint(d.call.Path)+" "+string(d.call.Params), 60) + " (" + strconv.Itoa(d.call.Status) + ")"
}

// shorten cuts a text to its first line and n characters.
func shorten(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if utf8.RuneCountInString(s) > n {
		return plaintext.Clip(s, n-1) + "…"
	}
	return s
}
