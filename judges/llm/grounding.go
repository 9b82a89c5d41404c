package llm

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/gates"
)

// Results are long and thinking speaks of a few of their rows. So a judge is told
// what of each thinking stands in earlier results and what nowhere, and is shown
// the rows first that any thinking speaks of. maxGround bounds, in characters,
// each list of a step, about 25 tokens; extraShare is the part of a
// rendered trace that all may add to it; minRow is the least of a row: with less it
// ends before its price, and ten ids alone are many tokens and tell nothing.
const (
	maxGround  = 100
	extraShare = 0.105
	minRow     = 125
)

// view is how an attempt is rendered. The zero value shows nothing beside what is
// recorded, and results up to maxResult.
type view struct {
	// grounds are the lists of turns, by their index.
	grounds map[int]gates.Grounding
	// held, words and nowhere are the most of each list, result of each result;
	// spoken are the products whose rows go first.
	held, words, nowhere, result int
	spoken                       map[string]bool
}

// grounded is the view within the room that a trace has.
func grounded(t *arena.Trace, d *arena.Dialogue, heading func(int) string) view {
	all, spoken := gates.Ground(t, d)
	v := view{grounds: map[int]gates.Grounding{}, result: maxResult, spoken: spoken}
	for _, g := range all {
		if !leftOut(g.Turn, d) {
			v.grounds[g.Turn] = g
		}
	}
	recorded := len(render(t, d, heading, v))
	room, lists := int(extraShare*float64(recorded)), 0
	for v.held, v.words, v.nowhere = maxGround, maxGround, maxGround; v.nowhere > 0; v.narrow() {
		if lists = len(render(t, d, heading, v)) - recorded; lists <= room {
			break
		}
	}
	v.result += max(0, room-lists) / max(cutResults(d), 1)
	return v
}

// narrow takes room from what stands in results first, then from words, and from
// made data last.
func (v *view) narrow() {
	for _, most := range [...]*int{&v.held, &v.words, &v.nowhere} {
		if *most > 0 {
			*most /= 2
			return
		}
	}
}

func cutResults(d *arena.Dialogue) (n int) {
	for i := range d.Turns {
		for k := range d.Turns[i].Calls[:min(len(d.Turns[i].Calls), maxCalls)] {
			if !leftOut(i, d) && len(d.Turns[i].Calls[k].Result) > maxResult {
				n++
			}
		}
	}
	return n
}

// The lines of the three lists.
const (
	heldHead    = "checked, in earlier results: "
	nowhereHead = "checked, in no earlier result: "
	wordsHead   = "words in no earlier result: "
)

func (v *view) check(b *strings.Builder, turn int) {
	g := v.grounds[turn]
	for _, list := range [...]struct {
		head  string
		items []string
		most  int
	}{{heldHead, g.Supported, v.held}, {nowhereHead, g.Unsupported, v.nowhere}, {wordsHead, g.Words, v.words}} {
		if len(list.items) == 0 || list.most <= 0 {
			continue
		}
		var shown []string
		for i, item := range list.items {
			if i > 0 && len(strings.Join(list.items[:i+1], ", ")) > list.most {
				shown = append(shown, "…")
				break
			}
			shown = append(shown, line(item, maxGround))
		}
		b.WriteString(list.head + strings.Join(shown, ", ") + "\n")
	}
}

// shownResult is a result as far as a judge is shown it: of a list first the rows
// that any thinking speaks of, each without the marks of JSON.
func (v *view) shownResult(result arena.Raw) string {
	whole := result.Text()
	list := gjson.Parse(whole)
	if len(v.spoken) == 0 || len(whole) <= v.result || !list.IsArray() || !gjson.Valid(whole) {
		return line(whole, v.result)
	}
	var first, rest []string
	for _, row := range list.Array() {
		if v.spoken[row.Get("product_id").String()] {
			first = append(first, plain(row.Raw))
		} else {
			rest = append(rest, plain(row.Raw))
		}
	}
	for i, row := range first { // none takes more than its share of the room
		first[i] = cut(row, max(v.result/len(first)-len(cutMark), minRow))
	}
	return line(strings.Join(append(first, rest...), " "), v.result)
}

// plain is JSON without what makes it JSON.
func plain(raw string) string {
	return strings.NewReplacer(`"`, "", "{", "(", "}", ")").Replace(raw)
}
