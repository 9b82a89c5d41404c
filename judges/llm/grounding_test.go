package llm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/traces"
)

// readDay returns the attempts of a day that have a dialogue.
func readDay(t *testing.T, dir string) (attempts []*arena.Trace) {
	t.Helper()
	inputs, err := traces.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		_, err := traces.Read(t.Context(), input, traces.Defaults(), func(i traces.Item) error {
			if i.Trace != nil && i.Trace.HasDialogue {
				attempts = append(attempts, i.Trace)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return attempts
}

// inventions are data of no result, each in a sentence of thinking and with the
// line that is to name it.
var inventions = [...]struct{ sentence, line string }{
	{"7003318254 is a good one.", "checked, in no earlier result: 7003318254"},
	{"One of them costs 1422.75, a fair price.", "checked, in no earlier result: 1422.75"},
	{"The best so far is by Quozbar, which I trust.", "words in no earlier result: Quozbar"},
	{"Verdanix has the best price.", "words in no earlier result: Verdanix"},
	{"It has sold 88231 times already.", "checked, in no earlier result: 88231"},
	{"The nicest costs nine hundred and forty-three pesos.", "checked, in no earlier result: nine hundred and forty-three"},
	{"At least one of them is made of titanium.", "checked, in no earlier result: titanium"},
	{"The first one comes with engraving.", "words in no earlier result: engraving"},
	{"One can be had for 26.00 there.", "checked, in no earlier result: 26.00"},
}

// TestInventionsAreNamed plants a made datum into 30 attempts of which the rendered prompt names no
// invention: it then names the planted one.
func TestInventionsAreNamed(t *testing.T) {
	t.Parallel()
	planted := 0
	for _, trace := range readDay(t, "../../testdata/day") {
		d := filters.Normalise(trace)
		last := len(d.Turns) - 1
		before := llm.Render(trace, &d)
		if planted == 30 || last < 2 || d.Turns[last].User != "" || strings.Contains(before, "in no earlier result") {
			continue
		}
		invention := inventions[planted%len(inventions)]
		d.Turns[last].Think = strings.TrimSpace(d.Turns[last].Think + " " + invention.sentence)
		after := llm.Render(trace, &d)
		if !slices.ContainsFunc(strings.Split(after, "\n"), func(line string) bool { return named(line, invention.line) }) {
			t.Errorf("%s: %q is not named in\n%s", trace.ID, invention.line, after)
		}
		planted++
	}
	if planted != 30 {
		t.Errorf("%d attempts", planted)
	}
}

// TestIDsMayHaveLetters checks product ids with letters, which shops other than ORO's use.
func TestIDsMayHaveLetters(t *testing.T) {
	t.Parallel()
	d := &arena.Dialogue{Turns: []arena.Turn{
		{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: arena.Raw(`[{"product_id":"B0871QP6X4","title":"` + strings.Repeat("Roasted barley ", 80) + `"}]`)}}},
		{Step: 1, Think: "B0871QP6X4 is the one, B09KJJCWZF is too dear."}}}
	got := llm.Render(&arena.Trace{Query: "coffee", HasDialogue: true, Steps: []arena.Step{{Number: 1}, {Number: 2}}}, d)
	if !strings.Contains(got, "words in no earlier result: B09KJJCWZF\n") {
		t.Errorf("ids of letters:\n%s", got)
	}
}

// named reports whether a line of a prompt equals want, or lists the words of want among the words
// that no earlier result has.
func named(line, want string) bool {
	_, words, _ := strings.Cut(want, "words in no earlier result: ")
	return line == want || words != "" && strings.HasPrefix(line, "words in") && strings.Contains(line, words)
}

// TestGroundingCostsLittle checks that the findings add at most 15 % to the length of a rendered
// trace.
func TestGroundingCostsLittle(t *testing.T) {
	t.Parallel()
	plain := 0
	withLog := 0
	for _, trace := range readDay(t, "../../testdata/day") {
		d := filters.Normalise(trace)
		plain += len(llm.RenderBare(trace, &d))
		withLog += len(llm.Render(trace, &d))
	}
	if ratio := float64(withLog) / float64(plain); ratio > 1.15 || ratio < 1 {
		t.Errorf("%.3f of the bare trace", ratio)
	}
}

// TestRowsAreShownWithTheirPrices holds that a result whose rows all occur in the thinking is shown
// as two full rows, which inform better than ten ids.
func TestRowsAreShownWithTheirPrices(t *testing.T) {
	t.Parallel()
	var rows, ids []string
	for i := range 10 {
		ids = append(ids, fmt.Sprint(6_120_458_830+i))
		rows = append(rows, fmt.Sprintf(`{"product_id":%q,"shop_id":"740112","title":"Orvane electric kettle of glass, 1.7 litres, teal","price":%d.5,"sold_count":88}`, ids[i], 1200+i))
	}
	d := &arena.Dialogue{Turns: []arena.Turn{
		{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: arena.Raw("[" + strings.Join(rows, ",") + "]")}}},
		{Step: 1, Think: strings.Join(ids, ", ") + " are all in the range."}}}
	got := llm.Render(&arena.Trace{Query: "a kettle", HasDialogue: true, Steps: []arena.Step{{Number: 1}, {Number: 2}}}, d)
	if !strings.Contains(got, "price:1200.5") || !strings.Contains(got, "price:1201.5") {
		t.Errorf("rows without prices:\n%s", got)
	}
}
