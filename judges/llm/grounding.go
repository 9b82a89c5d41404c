package llm

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// Only a few rows of each result can be shown in the prompt. So the prompt lists, for the thinking
// of each step, which of its data is in earlier results and which is in none, and it shows the rows
// first that any thinking mentions. These are the limits.
const (
	// maxGrounding is the maximum number of bytes, about 25 tokens, of one list of data that the
	// thinking of a step mentions.
	maxGrounding = 100
	// extraShare is the maximum total length, in bytes, of the lists of data that the thinking of
	// each step mentions, as a share of the length of the rendered trace without these lists.
	extraShare = 0.105
	// minRow is the minimum length to which a row of a result is cut if the thinking mentions its
	// item. A shorter row would end before its price, and an id alone is of no use.
	minRow = 125
)

// view sets how an attempt is rendered: the lists of the data of the thinking that earlier
// results contain or lack, and the maximum lengths of lists and results. A view with only a
// resultLimit adds no lists.
type view struct {
	// groundings has, by turn index, the data of the thinking that earlier results contain or do
	// not contain.
	groundings map[int]gates.Grounding
	// supportedLimit, wordsLimit and unsupportedLimit are the maximum lengths of the lists of a
	// step, resultLimit that of a result.
	supportedLimit, wordsLimit, unsupportedLimit, resultLimit int
	// mentioned are the ids of the items whose rows are first in a result.
	mentioned map[string]bool
}

// newView returns how an attempt is rendered for the judge: with the longest lists of the
// thinking's data whose total length is at most extraShare of the trace rendered without lists. If
// the lists are shorter, results that are cut are shown at greater length.
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

// narrow reduces the maximum length of one list by half: that of supported data until it is 0, then
// that of words, and that of unsupported data last.
func (v *view) narrow() {
	for _, limit := range [...]*int{&v.supportedLimit, &v.wordsLimit, &v.unsupportedLimit} {
		if *limit > 0 {
			*limit /= 2
			return
		}
	}
}

// countCutResults counts the tool results of the turns and calls shown to the judge that have more
// than maxResult bytes and are therefore cut.
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

// The beginnings of the lines with the three lists. They are part of the prompt.
const (
	supportedHead   = "checked, in earlier results: "
	unsupportedHead = "checked, in no earlier result: "
	wordsHead       = "words in no earlier result: "
)

// writeGrounding writes the lists for the thinking of a turn: the data in earlier results, the data
// in none of them, and the words in none of them.
func (v *view) writeGrounding(b *strings.Builder, turn int) {
	g := v.groundings[turn]
	writeList(b, supportedHead, g.Supported, v.supportedLimit)
	writeList(b, unsupportedHead, g.Unsupported, v.unsupportedLimit)
	writeList(b, wordsHead, g.Words, v.wordsLimit)
}

// writeList writes a line of head and the first items, up to limit bytes but at least one item. If
// there are more, the line ends with "…". It writes nothing if there are no items or limit is 0.
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

// formatResult returns a tool result on one line, cut to v.resultLimit characters. In a list of
// items that has to be cut, the rows that any thinking mentions are first, and all rows lose
// their JSON syntax.
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

// stripSyntax returns JSON without quotes and with parentheses in place of braces.
func stripSyntax(raw string) string {
	return strings.NewReplacer(`"`, "", "{", "(", "}", ")").Replace(raw)
}
