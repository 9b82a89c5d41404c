package gates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/gates"
)

// TestHugeTextTakesLinearTime runs texts on which anything quadratic would
// outlast the test's time limit.
func TestHugeTextTakesLinearTime(t *testing.T) {
	t.Parallel()
	var products []string
	for i := range 20000 {
		products = append(products, fmt.Sprintf(`{"product_id":"%d","title":"Brand%d kettle glass","price":%d.5}`, 7000000000+i*37, i%50, i))
	}
	shelf := arena.Raw("[" + strings.Join(products, ",") + "]")
	const size = 1 << 18
	for name, piece := range map[string]string{
		"part ids": "7000 ", "ids": "7000000037 better. ", "brands": "brand1 over brand2, cheaper. ", "one word": "a", "spaced": "1 234 ",
		"number words": "hundred", "sentences": "x. ", "marks": "更好", "commas": ",", "unknown": "9999999999 is ", "brackets": "]",
	} {
		think := strings.Repeat(piece, size/len(piece))
		d := &arena.Dialogue{Turns: []arena.Turn{
			{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: shelf}}},
			{Step: 1, Think: think}}}
		trace := &arena.Trace{HasDialogue: true, Query: "a glass kettle", Steps: []arena.Step{
			{Number: 1, Proxy: []arena.ProxyCall{chat("60", false)}}, {Number: 2}}}
		checkForm(t, name, trace, d, gates.Judge(trace, d))
	}
}
