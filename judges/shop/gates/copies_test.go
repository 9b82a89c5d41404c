package gates_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// layouts write a result as agents log it.
var layouts = map[string]func(arena.Raw) string{
	"unchanged": func(r arena.Raw) string { return string(r) },
	"cut":       func(r arena.Raw) string { return string(r[:len(r)*2/3]) },
	"indented": func(r arena.Raw) string {
		var b bytes.Buffer
		if json.Indent(&b, []byte(r), "", "  ") != nil {
			return string(r)
		}
		return b.String()
	},
	"python": func(r arena.Raw) string {
		return strings.NewReplacer(`":"`, `': '`, `","`, `', '`, `{"`, `{'`, `"}`, `'}`, `":`, `': `, `,"`, `, '`, `"]`, `']`, `["`, `['`, `",`, `',`).Replace(string(r))
	},
}

func TestCopiesOfResultsNeverRaise(t *testing.T) {
	t.Parallel()
	for name, layout := range layouts {
		for _, c := range ownCases(t) {
			other := c.changed(unchanged, unchanged)
			last := arena.Raw("")
			for i := range other.dialogue.Turns {
				turn := &other.dialogue.Turns[i]
				if last != "" {
					turn.Think += "\nObservation: " + layout(last)
				}
				for _, call := range turn.Calls {
					if call.Name != "recommend_product" && call.Name != "terminate" {
						last = call.Result
					}
				}
			}
			a := score(c)
			b := score(other)
			if b > a {
				t.Errorf("%s: a copy %s raises %v to %v: %+v", c.name, name, a, b, gates.Judge(other.trace, other.dialogue).Spans)
			}
		}
	}
}

func TestOneListingInOwnWordsIsCited(t *testing.T) {
	t.Parallel()
	for think, want := range map[string]float64{
		`{"product_id":"6120458837","shop_id":"740112","title":"Orvane kettle","price":1289.5}`:                                    0.3,
		`I think {"product_id":"6120458837","shop_id":"740112","title":"Orvane kettle","price":1289.5} is what we want here.`:      0.7,
		`Tool said: {"product_id":"6120458837","shop_id":"740112","title":"Orvane kettle","price":1289.5}`:                         0.3,
		"product_id: 6120458837, shop_id: 740112, title: Orvane kettle, price: 1289.5":                                             0.3,
		`{"choice":"6120458837","price":1289.5,"reason":"in the range"}`:                                                           0.7,
		"1. Orvane kettle, 1289.5, id 6120458837":                                                                                  0.7,
		`[{"product_id": "6120458837", "shop_id": "740112", "title": "Orvane kettle", "price": 1289.50}]` + "\nthe first one fits": 0.5,
	} {
		trace := &arena.Trace{HasDialogue: true, Query: "a kettle", Steps: []arena.Step{{Number: 1, Proxy: []arena.ProxyCall{chat("60", false)}}, {Number: 2}}}
		d := &arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{{Name: "find_product", Arguments: "{}",
			Result: `[{"product_id":"6120458837","shop_id":"740112","title":"Orvane kettle","price":1289.5,"service":[]}]`}}}, {Step: 1, Think: think}}}
		if j := gates.Judge(trace, d); *j.Score != want {
			t.Errorf("%s: %v, want %v: %+v", think, *j.Score, want, j)
		}
	}
}

// TestLinesOfTextResults holds that a line of a result that is text is no
// thought of the agent.
func TestLinesOfTextResults(t *testing.T) {
	t.Parallel()
	trace := &arena.Trace{HasDialogue: true, Query: "a kettle", Steps: []arena.Step{{Number: 1, Proxy: []arena.ProxyCall{chat("60", false)}}, {Number: 2}}}
	line := "1. Orvane glass kettle, 1289.50 PHP, id 6120458837"
	d := &arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: arena.Raw(`"` + line + `\n2. Tulmek kettle, 1190.00 PHP, id 9043317265"`)}}}, {Step: 1, Think: line}}}
	if j := gates.Judge(trace, d); *j.Score != 0.3 {
		t.Errorf("a copied line is graded %v", *j.Score)
	}
	d.Turns[1].Think = "Orvane at 1289.50, id 6120458837, is in the range."
	if j := gates.Judge(trace, d); *j.Score != 0.7 {
		t.Errorf("a cited line is graded %v", *j.Score)
	}
}

// TestManyCopiesTakeNoLong holds that pasting results in pieces, or fields that
// no result has, costs time in proportion.
func TestManyCopiesTakeNoLong(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&list, `,{"product_id":"%d","shop_id":"%d","title":"Orvane kettle %d","price":%d.5}`, 6_120_000_000+i, 740_000+i, i, 1000+i)
	}
	result := arena.Raw("[" + list.String()[1:] + "]")
	for name, think := range map[string]string{
		"pieces": strings.ReplaceAll(list.String(), "},{", "}\nso\n{"), "own": strings.Repeat(`"a": 1, so `, 80_000), "quotes": strings.Repeat(`'`, 1<<20),
	} {
		trace := &arena.Trace{HasDialogue: true, Query: "a kettle", Steps: []arena.Step{{Number: 1, Proxy: []arena.ProxyCall{chat("60", false)}}, {Number: 2}}}
		d := &arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: result}}}, {Step: 1, Think: think}}}
		start := time.Now()
		j := gates.Judge(trace, d)
		// A linear comparison takes a fraction of a second; all pairs of a million characters are
		// 10^12 steps.
		if took := time.Since(start); took > time.Minute || *j.Score != 0.3 {
			t.Errorf("%s: %v after %v", name, *j.Score, took)
		} else {
			t.Log(name, took)
		}
	}
}
