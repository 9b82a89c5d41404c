package gates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/gates"
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
		"causes": strings.Repeat("I choose because it 7000000037 ", 80) + "\n",
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

// TestHugeCopiesTakeLinearTime does the same for texts that thinking may copy from results, and for
// texts in results that are hidden from readers.
func TestHugeCopiesTakeLinearTime(t *testing.T) {
	t.Parallel()
	const size = 1 << 18
	var chinese strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&chinese, `{"product_id":"%d","title":"%c%c %d"},`, 1000000+i, 0x4e00+i%4000, 0x4e00+i/2, i)
	}
	var colours, values strings.Builder
	for i := range 60 {
		fmt.Fprintf(&colours, `{"product_id":"%d","title":"Lumo lamp","price":%d,"attributes":{"color":"%s"}},`, 7000000000+i%16*37, i, []string{"white", "black"}[i%2])
		fmt.Fprintf(&values, "%d white black ", 7000000000+i%16*37)
	}
	for name, c := range map[string]struct{ result, piece string }{
		"values":           {"[" + colours.String() + "{}]", values.String() + "\n"},
		"one listing":      {`[{"a":"xx","b":"yy","c":"zz"}]`, `{"a":"xx","b":"yy","c":"zz"} as told here `},
		"fields of none":   {`["` + strings.Repeat("q", 16*size) + `"]`, `"a":1,"b":2,"c":3,`},
		"lines of a text":  {`"` + strings.Repeat(`b line of\n`, size) + `"`, "a line of more than 24 bytes 1\n"},
		"Chinese titles":   {"[" + chinese.String() + "{}]", "好的 "},
		"brackets in text": {`"` + strings.Repeat("[", 32*size) + `"`, "the first is cheaper. "},
	} {
		think := strings.Repeat(c.piece, size/len(c.piece))
		d := &arena.Dialogue{Turns: []arena.Turn{
			{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: arena.Raw(c.result)}}},
			{Step: 1, Think: think}}}
		trace := &arena.Trace{HasDialogue: true, Query: "a glass kettle", Steps: []arena.Step{
			{Number: 1, Proxy: []arena.ProxyCall{chat("60", false)}}, {Number: 2}}}
		checkForm(t, name, trace, d, gates.Judge(trace, d))
	}
}

func TestUsageBeyondAnyNumberPasses(t *testing.T) {
	t.Parallel()
	for tokens, passed := range map[string]bool{"1e300": true, "-1e300": false} {
		trace := &arena.Trace{HasDialogue: true, Steps: []arena.Step{{Number: 1, Proxy: []arena.ProxyCall{chat(tokens, false)}}}}
		if j := gates.Judge(trace, &arena.Dialogue{}); j.Gates[0] != passed {
			t.Errorf("%s tokens: %v, want %v", tokens, j.Gates[0], passed)
		}
	}
}

// TestPhrasesMayEndAfterTheirSentence grades thinking whose 256th word, at which a sentence is cut, begins a
// negation of several words after a value.
func TestPhrasesMayEndAfterTheirSentence(t *testing.T) {
	t.Parallel()
	shelf := arena.Raw(`[{"product_id":"7000000037","title":"Lumo lamp","price":9,"attributes":{"color":"white"}},{"product_id":"7000000074","title":"Fiato lamp","price":8,"attributes":{"color":"black"}}]`)
	for words := range 260 {
		think := "7000000037 black " + strings.Repeat("qq ", words) + "does not fit 7000000074 because it is cheaper"
		d := &arena.Dialogue{Turns: []arena.Turn{
			{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: shelf}}},
			{Step: 1, Think: think}}}
		trace := &arena.Trace{HasDialogue: true, Query: "a lamp", Steps: []arena.Step{
			{Number: 1, Proxy: []arena.ProxyCall{chat("60", false)}}, {Number: 2}}}
		checkForm(t, fmt.Sprint(words, " words"), trace, d, gates.Judge(trace, d))
	}
}
