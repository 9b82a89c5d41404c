package gates_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// TestAnUnknownPriceIsNoReason checks that a price is no reason for a product if no result shows
// it.
func TestAnUnknownPriceIsNoReason(t *testing.T) {
	t.Parallel()
	g := readGoods(t, "testdata/errands.txt")
	g.items["3518990007"] = "77120|Soundpeats Air4 lite earbuds white||COD|210|"
	for _, think := range []string{
		"I prefer 3518990007. 3518842210 costs 1799.0.",
		"3518990007 stays below 1799.0. I take 3518990007, not 3518842210.",
		"3518842210 at 1799.0, 3518990007 under that; going with 3518990007.",
	} {
		b := newBuilder(t, g, strings.Fields("unknown 0.7 price en"))
		for _, line := range []string{"request ear", "think search", "find ear", "think " + think, "pick 3518990007"} {
			b.line(line)
		}
		if c := b.done(); score(c) != c.score {
			t.Errorf("%q is graded %v", think, score(c))
		}
	}
}

// TestWisdomIsNoRemark holds that sentences about thinking, choosing and feeling count as no remark
// on a result, even if they share words with such remarks.
func TestWisdomIsNoRemark(t *testing.T) {
	t.Parallel()
	world := readGoods(t, "testdata/world.txt")
	search := []arena.Call{{Name: "find_product", Arguments: "{}", Result: world.result(strings.Fields(world.lists["kettles"]), false, "")}}
	for _, line := range textLines(t, "testdata/wisdom.txt") {
		trace := &arena.Trace{HasDialogue: true, Query: world.requests["kettle"],
			Steps: []arena.Step{{Number: 1, Proxy: []arena.ProxyCall{chat("60", false)}}, {Number: 2}}}
		d := &arena.Dialogue{Turns: []arena.Turn{{Calls: search}, {Step: 1, Think: line}}}
		if j := gates.Judge(trace, d); *j.Score != 0.3 {
			t.Errorf("%q is graded %v: %s", line, *j.Score, j.Detail)
		}
	}
}
