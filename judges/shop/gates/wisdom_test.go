package gates_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// TestWisdomIsNoRemark holds that sentences about thinking, choosing and
// feeling well say nothing of what a tool returned, whatever words they share
// with remarks that do.
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
