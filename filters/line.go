package filters

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// featureRichness is the project's own richness: see attempt.richness.
const featureRichness = "richness_args"

// features are the values behind the verdict, in the catalogue's order; NaN
// where one cannot be measured.
func features(a *evidence.Attempt, score float64) []arena.Feature {
	return []arena.Feature{
		{Name: "log_odds", Value: score},
		{Name: featureRichness, Value: a.Richness()},
		{Name: "turns", Value: float64(len(a.Dialogue.Turns))},
		{Name: "calls", Value: float64(len(a.Claims))},
		{Name: "tokens", Value: float64(a.Tokens)},
		{Name: "dispatches", Value: logged(a, len(a.Log.Dispatches))},
		{Name: "inference", Value: logged(a, a.Log.Asked)},
		{Name: "unreadable_replies", Value: logged(a, len(a.Log.Replies)-a.Readable)},
		{Name: "named", Value: logged(a, a.Links[evidence.LinkNamed])},
		{Name: "named_loosely", Value: logged(a, a.Links[evidence.LinkLoose])},
		{Name: "derived", Value: logged(a, a.Links[evidence.LinkDerived])},
		{Name: "retries", Value: logged(a, a.Links[evidence.LinkRetry])},
		{Name: "stale", Value: logged(a, a.Links[evidence.LinkStale])},
		{Name: "overridden", Value: logged(a, a.Links[evidence.LinkOverride])},
		{Name: "unnamed", Value: logged(a, a.Links[evidence.LinkNone]+a.Links[evidence.LinkNoReply])},
		{Name: "undecided", Value: logged(a, a.Links[evidence.LinkUnknown])},
		{Name: "calls_without_dispatch", Value: logged(a, a.Phantoms)},
		{Name: "edited_results", Value: logged(a, a.Edits)},
		{Name: "invented_ids", Value: float64(a.Invented)},
		{Name: "depth", Value: depth(a)},
		{Name: "reformulations", Value: reformulations(a.Claims)},
		{Name: "verified", Value: verified(a)},
		{Name: "regular", Value: regular(a.Claims)},
	}
}

// logged is a count from the proxy's log, NaN where there is no log.
func logged(a *evidence.Attempt, n int) float64 {
	if !a.Log.Present {
		return math.NaN()
	}
	return float64(n)
}

// AppendLine appends the line of `arena filter` for one attempt, without a
// line break. Keys and order are the public format.
func AppendLine(dst []byte, t *arena.Trace, s arena.Structure) []byte {
	names := [...]struct{ key, value string }{{`{"eval_run_id":`, t.RunID}, {`,"problem_id":`, t.ProblemID}, {`,"agent_version_id":`, t.Agent.VersionID}}
	for _, n := range names {
		dst = gjson.AppendJSONString(append(dst, n.key...), n.value)
	}
	dst = fmt.Appendf(dst, `,"keep":%t,"axis":"%s","confidence":`, s.Keep, s.Axis)
	dst = appendPointer(append(appendNumber(dst, s.Confidence), `,"adaptivity":`...), s.Adaptivity)
	dst = append(dst, `,"reasons":[`...)
	for i, r := range s.Reasons {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = gjson.AppendJSONString(dst, r)
	}
	dst = appendPointer(append(dst, `],"richness_v1":`...), s.RichnessV1)
	dst = appendPointer(append(dst, `,"richness_v2":`...), s.RichnessV2)
	dst = append(dst, `,"features":{`...)
	for i, f := range s.Features {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = gjson.AppendJSONString(dst, f.Name)
		dst = append(dst, ':')
		dst = appendNumber(dst, f.Value)
	}
	return append(dst, `}}`...)
}

func appendPointer(dst []byte, p *float64) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	return appendNumber(dst, *p)
}

// appendNumber writes a number in its shortest form, null where there is none.
func appendNumber(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// Row is one line of an explanation: a call of the dialogue, or a dispatch that the
// dialogue does not show.
type Row struct {
	// NamedBy counts the log's answered inference calls from 1; 0 where none
	// named the dispatch.
	NamedBy int
	// Link says how the dispatch hangs on the inference before it, or what is
	// wrong with a call that has none.
	Link string
	// Call is the dialogue's call itself, Sent its dispatch; nil where there is none.
	Call     *arena.Call
	Dispatch *arena.ProxyCall
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
		e.Replies = append(e.Replies, a.Log.Replies[i].Call)
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
			rows = append(rows, Row{NamedBy: d.Reply + 1, Link: d.Link.String() + ", not in the dialogue", Dispatch: d.Call})
		}
	}
	return rows
}

func row(a *evidence.Attempt, c *evidence.Claim) Row {
	r := Row{Call: c.Call}
	switch {
	case c.Dispatch >= 0:
		d := &a.Log.Dispatches[c.Dispatch]
		r.NamedBy, r.Link, r.Dispatch = d.Reply+1, d.Link.String(), d.Call
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
