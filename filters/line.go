package filters

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// featureRichness is the name of this project's own richness, see
// evidence.Attempt.Richness.
const featureRichness = "richness_args"

// features returns the values behind the verdicts, in the order of the public format; NaN
// for a value that cannot be measured.
func features(a *evidence.Attempt, score float64) []arena.Feature {
	unnamed := a.Links[evidence.LinkNone] + a.Links[evidence.LinkNoReply]
	return []arena.Feature{
		{Name: "log_odds", Value: score},
		{Name: featureRichness, Value: a.Richness()},
		{Name: "turns", Value: float64(len(a.Dialogue.Turns))},
		{Name: "calls", Value: float64(len(a.Claims))},
		{Name: "tokens", Value: float64(a.Tokens)},
		{Name: "dispatches", Value: logged(a, len(a.Log.Dispatches))},
		{Name: "inference", Value: logged(a, a.Log.Requested)},
		{Name: "unreadable_replies", Value: logged(a, len(a.Log.Replies)-a.Readable)},
		{Name: "named", Value: linked(a, evidence.LinkNamed)},
		{Name: "named_loosely", Value: linked(a, evidence.LinkLoose)},
		{Name: "derived", Value: linked(a, evidence.LinkDerived)},
		{Name: "retries", Value: linked(a, evidence.LinkRetry)},
		{Name: "stale", Value: linked(a, evidence.LinkStale)},
		{Name: "overridden", Value: linked(a, evidence.LinkOverride)},
		{Name: "unnamed", Value: logged(a, unnamed)},
		{Name: "undecided", Value: linked(a, evidence.LinkUnknown)},
		{Name: "calls_without_dispatch", Value: logged(a, a.Phantoms)},
		{Name: "edited_results", Value: logged(a, a.Edits)},
		{Name: "invented_ids", Value: float64(a.Invented)},
		{Name: "depth", Value: depth(a)},
		{Name: "reformulations", Value: reformulations(a.Claims)},
		{Name: "verified", Value: verified(a)},
		{Name: "regular", Value: regular(a.Claims)},
	}
}

// logged returns a count from the proxy's log, NaN if there is no log.
func logged(a *evidence.Attempt, n int) float64 {
	if !a.Log.Present {
		return math.NaN()
	}
	return float64(n)
}

// linked returns the number of dispatches with a link, NaN if there is no log.
func linked(a *evidence.Attempt, link evidence.Link) float64 { return logged(a, a.Links[link]) }

// AppendLine appends the line of `arena filter` for one attempt, without a line break. Its
// keys and their order are the public format.
func AppendLine(dst []byte, t *arena.Trace, s arena.Structure) []byte {
	dst = gjson.AppendJSONString(append(dst, `{"eval_run_id":`...), t.RunID)
	dst = gjson.AppendJSONString(append(dst, `,"problem_id":`...), t.ProblemID)
	dst = gjson.AppendJSONString(append(dst, `,"agent_version_id":`...), t.Agent.VersionID)
	dst = fmt.Appendf(dst, `,"keep":%t,"axis":"%s","confidence":`, s.Keep, s.Axis)
	dst = appendNumber(dst, s.Confidence)
	dst = appendPointer(append(dst, `,"adaptivity":`...), s.Adaptivity)
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

// appendPointer appends a number, null for nil.
func appendPointer(dst []byte, p *float64) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	return appendNumber(dst, *p)
}

// appendNumber appends a number in its shortest form, null for NaN and infinities.
func appendNumber(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
