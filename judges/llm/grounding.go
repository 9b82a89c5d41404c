package llm

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges/grounding"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// Only a few rows of each result can be shown in the prompt. So the prompt lists, for the thinking
// of each step, which of its data is in earlier results and which is in none, and it shows the rows
// first that any thinking mentions. These are the limits.
const (
	// maxGrounding is the maximum number of bytes, about 25 tokens, of one list of data that the
	// thinking of a step mentions.
	maxGrounding = 100
	// extraShare limits the lists that newView adds to the trace a judge reads (for each step,
	// which figures and words of the thinking are in earlier tool results and which are not). It is
	// their total length as a share of the length of the trace rendered without them.
	extraShare = 0.105
	// minRow is the number of characters that at least remain of a row of a cut tool result if the
	// thinking mentions the row's item. A shorter row would end before its price, and an id
	// alone is of no use.
	minRow = 125
)

// view sets how an attempt is rendered for a judge. It has, for each turn, the figures, values and
// words of the thinking that earlier tool results contain or lack, and the maximum lengths of these
// lists and of a result. A view with only a resultLimit adds no lists.
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

// newView returns how an attempt is rendered for the judge. With each turn's thinking go lists of
// which of its data earlier tool results contain, by the evidence of the domain; they are as long
// as possible, but in total at most extraShare of the trace without lists. What the lists leave of
// that share lengthens the results that have to be cut.
func newView(
	taskDomain *domain.Domain,
	t *arena.Trace,
	d *arena.Dialogue,
	heading func(int) string,
) view {
	groundings, mentioned := grounding.OfTurns(taskDomain, t, d)
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

// narrow reduces by half the maximum length of one of the three lists shown beside the thinking:
// first of the data found in earlier results, until it is 0, then of the unknown words, and last of
// the data found in no result.
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

// writeGrounding writes up to three lines that tell the judge how far the thinking of a turn agrees
// with the tool results before it: the figures and values that are in them, those that are not, and
// the words that are not. A line without items is left out.
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

// formatResult returns a tool result on one line, cut to v.resultLimit characters. If the result is
// a JSON list that has to be cut, the rows of items that the agent's thinking mentions come
// first, and all rows lose their quotes and braces (see stripSyntax).
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

// stripSyntax returns JSON text without its quotation marks and with parentheses for braces, to
// save room: `{"id":"7","price":9}` → `(id:7,price:9)`.
func stripSyntax(raw string) string {
	return strings.NewReplacer(`"`, "", "{", "(", "}", ")").Replace(raw)
}
