package filters

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// featureRichness is the name of the feature with this project's own definition of richness (see
// evidence.Attempt.Richness).
const featureRichness = "richness_args"

// featureUnsaid is the name of the share of an attempt's thinking that no reply of the log contains.
const featureUnsaid = "thinking_unsaid"

// featureCount is the number of features that describe an attempt in the public output.
const featureCount = 24

// features returns the numbers that describe an attempt in the public output, in the order of the
// output. score is the log-odds that the model made the calls, from this attempt alone. unsaid is
// the share of the thinking that is in no logged reply. A number that cannot be measured is NaN.
func features(a *evidence.Attempt, score, unsaid float64) []arena.Feature {
	list := append(make([]arena.Feature, 0, featureCount),
		arena.Feature{Name: "log_odds", Value: score},
		arena.Feature{Name: featureRichness, Value: a.Richness()},
		arena.Feature{
			Name:  "turns",
			Value: float64(len(a.Dialogue.Turns)),
		},
		arena.Feature{Name: "calls", Value: float64(len(a.Claims))},
		arena.Feature{Name: "tokens", Value: float64(a.Tokens)},
	)
	list = appendLogFeatures(list, a)
	return append(list,
		arena.Feature{Name: "invented_ids", Value: float64(a.Invented)},
		arena.Feature{Name: "depth", Value: depth(a)},
		arena.Feature{Name: "reformulations", Value: reformulations(a.Claims)},
		arena.Feature{Name: "verified", Value: verified(a)},
		arena.Feature{Name: "regular", Value: regular(a.Claims)},
		arena.Feature{Name: featureUnsaid, Value: unsaid},
	)
}

// appendLogFeatures appends the features that are counted in the proxy's log. They are NaN if
// the attempt has no log.
func appendLogFeatures(list []arena.Feature, a *evidence.Attempt) []arena.Feature {
	unreadable := len(a.Log.Replies) - a.Readable
	unnamed := a.Links[evidence.LinkNone] + a.Links[evidence.LinkNoReply]
	for _, f := range [...]struct {
		name  string
		count int
	}{
		{"dispatches", len(a.Log.Dispatches)},
		{"inference", a.Log.Requested},
		{"unreadable_replies", unreadable},
		{"named", a.Links[evidence.LinkNamed]},
		{"named_loosely", a.Links[evidence.LinkLoose]},
		{"derived", a.Links[evidence.LinkDerived]},
		{"retries", a.Links[evidence.LinkRetry]},
		{"stale", a.Links[evidence.LinkStale]},
		{"overridden", a.Links[evidence.LinkOverride]},
		{"unnamed", unnamed},
		{"undecided", a.Links[evidence.LinkUnknown]},
		{"calls_without_dispatch", a.Phantoms},
		{"edited_results", a.Edits},
	} {
		list = append(list, arena.Feature{
			Name:  f.name,
			Value: logged(a, f.count),
		})
	}
	return list
}

// logged converts a count in the proxy's log to the value of a feature. It returns NaN if the
// attempt has no log.
func logged(a *evidence.Attempt, n int) float64 {
	if !a.Log.Present {
		return math.NaN()
	}
	return float64(n)
}

// AppendLine appends the output line of `arena filter` for one attempt, without a line break.
// The keys and their order are a public format.
func AppendLine(
	dst []byte,
	t *arena.Trace,
	s arena.Structure,
) []byte {
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
	dst = fmt.Appendf(dst, `,"thinking_stripped":%t,"features":{`, s.ThinkingStripped)
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

// appendPointer appends the number at p as JSON, or null if p is nil.
func appendPointer(dst []byte, p *float64) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	return appendNumber(dst, *p)
}

// appendNumber appends f as JSON in its shortest decimal form, or null if f is NaN or infinite.
func appendNumber(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
