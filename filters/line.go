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
	ranked := signals(a.Dialogue, a.Claims)
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
		{Name: "depth", Value: ranked.Depth},
		{Name: "reformulations", Value: ranked.Reformulations},
		{Name: "verified", Value: ranked.Verified},
		{Name: "regular", Value: ranked.Regular},
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
