package llm

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/gates"
)

// Results are long and thinking mentions a few of their rows. So the prompt lists
// for each thinking what is in earlier results and what is in none, and shows the
// rows first that any thinking mentions.
const (
	// maxGrounding is the maximum length of each list of a step in characters, about
	// 25 tokens.
	maxGrounding = 100
	// extraShare is the maximum length of all lists as a share of the rendered trace.
	extraShare = 0.105
	// minRow is the minimum length of a mentioned row: a shorter one ends before its
	// price, and ten ids alone are many tokens of no use.
	minRow = 125
)

// view is how an attempt is rendered. The zero value with a resultLimit renders what
// is recorded and nothing else.
type view struct {
	// groundings are the lists of turns, by their index.
	groundings map[int]gates.Grounding
	// supportedLimit, wordsLimit and unsupportedLimit are the maximum lengths of the
	// lists, resultLimit that of a result.
	supportedLimit, wordsLimit, unsupportedLimit, resultLimit int
	// mentioned are the products whose rows come first.
	mentioned map[string]bool
}

// newView returns the view with the longest lists and results that fit the limits of
// a trace.
func newView(
	t *arena.Trace,
	d *arena.Dialogue,
	heading func(int) string,
) view {
	groundings, mentioned := gates.Ground(t, d)
	v := view{
		groundings:  map[int]gates.Grounding{},
		resultLimit: maxResult,
		mentioned:   mentioned,
	}
	for _, g := range groundings {
		if !isOmitted(g.Turn, d) {
			v.groundings[g.Turn] = g
		}
	}
	recorded := len(render(t, d, heading, v))
	budget := int(extraShare * float64(recorded))
	lists := 0
	v.supportedLimit = maxGrounding
	v.wordsLimit = maxGrounding
	v.unsupportedLimit = maxGrounding
	for v.unsupportedLimit > 0 {
		lists = len(render(t, d, heading, v)) - recorded
		if lists <= budget {
			break
		}
		v.narrow()
	}
	v.resultLimit += max(0, budget-lists) / max(countCutResults(d), 1)
	return v
}

// narrow reduces the limit of one list by half: of supported data first, then of
// words, and of unsupported data last.
func (v *view) narrow() {
	for _, limit := range [...]*int{&v.supportedLimit, &v.wordsLimit, &v.unsupportedLimit} {
		if *limit > 0 {
			*limit /= 2
			return
		}
	}
}

// countCutResults returns the number of rendered results that are longer than
// maxResult.
func countCutResults(d *arena.Dialogue) int {
	count := 0
	for i := range d.Turns {
		if isOmitted(i, d) {
			continue
		}
		calls := d.Turns[i].Calls
		for k := range calls[:min(len(calls), maxCalls)] {
			if len(calls[k].Result) > maxResult {
				count++
			}
		}
	}
	return count
}

// The lines of the three lists. They are part of the prompt.
const (
	supportedHead   = "checked, in earlier results: "
	unsupportedHead = "checked, in no earlier result: "
	wordsHead       = "words in no earlier result: "
)

// writeGrounding writes the lists of a turn.
func (v *view) writeGrounding(b *strings.Builder, turn int) {
	g := v.groundings[turn]
	writeList(b, supportedHead, g.Supported, v.supportedLimit)
	writeList(b, unsupportedHead, g.Unsupported, v.unsupportedLimit)
	writeList(b, wordsHead, g.Words, v.wordsLimit)
}

// writeList writes the first items of a list, up to limit bytes but at least one.
func writeList(b *strings.Builder, head string, items []string, limit int) {
	if len(items) == 0 || limit <= 0 {
		return
	}
	var written []string
	for i, item := range items {
		if i > 0 && len(strings.Join(items[:i+1], ", ")) > limit {
			written = append(written, "…")
			break
		}
		written = append(written, firstLine(item, maxGrounding))
	}
	b.WriteString(head + strings.Join(written, ", ") + "\n")
}

// formatResult returns a result, cut to resultLimit. If it is longer and a list of
// products, the rows lose their JSON syntax and those that any thinking mentions come
// first.
func (v *view) formatResult(result arena.Raw) string {
	text := result.Text()
	if len(v.mentioned) == 0 || len(text) <= v.resultLimit {
		return firstLine(text, v.resultLimit)
	}
	list := gjson.Parse(text)
	if !list.IsArray() || !gjson.Valid(text) {
		return firstLine(text, v.resultLimit)
	}
	var mentioned, remaining []string
	for _, row := range list.Array() {
		if v.mentioned[row.Get("product_id").String()] {
			mentioned = append(mentioned, stripSyntax(row.Raw))
		} else {
			remaining = append(remaining, stripSyntax(row.Raw))
		}
	}
	for i, row := range mentioned { // equal parts of the limit
		mentioned[i] = cut(row, max(v.resultLimit/len(mentioned)-len(cutMark), minRow))
	}
	return firstLine(strings.Join(append(mentioned, remaining...), " "), v.resultLimit)
}

// stripSyntax returns JSON without quotes and with parentheses for braces.
func stripSyntax(raw string) string {
	return strings.NewReplacer(`"`, "", "{", "(", "}", ")").Replace(raw)
}
