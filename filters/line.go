package filters

import (
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// featureRichness is the project's own richness: see attempt.richness.
const featureRichness = "richness_args"

// features are the values behind the verdict, in the catalogue's order; NaN
// where one cannot be measured.
func (a *attempt) features() []arena.Feature {
	return []arena.Feature{
		{Name: "log_odds", Value: a.score},
		{Name: featureRichness, Value: a.richness()},
		{Name: "turns", Value: float64(len(a.dialogue.Turns))},
		{Name: "calls", Value: float64(len(a.claims))},
		{Name: "tokens", Value: float64(a.tokens)},
		{Name: "dispatches", Value: a.logged(len(a.log.dispatches))},
		{Name: "inference", Value: a.logged(a.log.asked)},
		{Name: "unreadable_replies", Value: a.logged(len(a.log.replies) - a.readable)},
		{Name: "named", Value: a.logged(a.links[linkNamed])},
		{Name: "named_loosely", Value: a.logged(a.links[linkLoose])},
		{Name: "derived", Value: a.logged(a.links[linkDerived])},
		{Name: "retries", Value: a.logged(a.links[linkRetry])},
		{Name: "stale", Value: a.logged(a.links[linkStale])},
		{Name: "overridden", Value: a.logged(a.links[linkOverride])},
		{Name: "unnamed", Value: a.logged(a.links[linkNone] + a.links[linkNoReply])},
		{Name: "undecided", Value: a.logged(a.links[linkUnknown])},
		{Name: "calls_without_dispatch", Value: a.logged(a.phantoms)},
		{Name: "edited_results", Value: a.logged(a.edits)},
		{Name: "hidden_dispatches", Value: a.logged(a.hidden)},
		{Name: "narrated_turns", Value: a.logged(a.told)},
		{Name: "invented_ids", Value: float64(a.invented)},
		{Name: "depth", Value: a.signals.Depth},
		{Name: "reformulations", Value: a.signals.Reformulations},
		{Name: "verified", Value: a.signals.Verified},
		{Name: "regular", Value: a.signals.Regular},
	}
}

// logged is a count from the proxy's log, NaN where there is no log.
func (a *attempt) logged(n int) float64 {
	if !a.log.present {
		return math.NaN()
	}
	return float64(n)
}

// AppendLine appends the line of `arena filter` for one attempt, without a
// line break. Keys and order are the public format.
func AppendLine(dst []byte, t *arena.Trace, s arena.Structure) []byte {
	dst = append(dst, `{"eval_run_id":`...)
	dst = gjson.AppendJSONString(dst, t.RunID)
	dst = append(dst, `,"problem_id":`...)
	dst = gjson.AppendJSONString(dst, t.ProblemID)
	dst = append(dst, `,"agent_version_id":`...)
	dst = gjson.AppendJSONString(dst, t.Agent.VersionID)
	dst = append(dst, `,"keep":`...)
	dst = strconv.AppendBool(dst, s.Keep)
	dst = append(dst, `,"axis":`...)
	dst = gjson.AppendJSONString(dst, string(s.Axis))
	dst = append(dst, `,"confidence":`...)
	dst = appendNumber(dst, s.Confidence)
	dst = append(dst, `,"reasons":[`...)
	for i, r := range s.Reasons {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = gjson.AppendJSONString(dst, r)
	}
	dst = append(dst, `],"richness_v1":`...)
	dst = appendPointer(dst, s.RichnessV1)
	dst = append(dst, `,"richness_v2":`...)
	dst = appendPointer(dst, s.RichnessV2)
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
