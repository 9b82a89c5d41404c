package filters_test

import (
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
)

// TestWhatRepliesName holds that calls in blocks, after tokens and in the author's own objects, and
// requests that were sent again, are each attributed to the model.
func TestWhatRepliesName(t *testing.T) {
	t.Parallel()
	for _, a := range slices.Concat(dialects, ownCommands, results) {
		if !a.agentic || a.name == "honest own arguments" {
			continue // its client renames arguments, which hides one recommendation
		}
		r := &recorder{w: newWorld(7), task: newWorld(7).task(1), limit: 4000, now: start}
		if a.setUp != nil {
			a.setUp(r)
		}
		a.play(r)
		links := linksOf(t, r.trace(a.name))
		not := links["unnamed"] + links["overridden"] + links["stale"]
		named := links["named"] + links["named_loosely"]
		if not > 0 || named == 0 {
			t.Errorf("%s: %v dispatches are named, %v not", a.name, named, not)
		}
	}
}

// TestNumbersEndWithinObjects checks that a number after a key ends before the next token of the
// JSON object.
func TestNumbersEndWithinObjects(t *testing.T) {
	t.Parallel()
	r := &recorder{w: newWorld(7), task: newWorld(7).task(1), limit: 4000, now: start, form: afterToken}
	r.act("", find("linen goblet", "page", 2, "price", "0-900", "shop_id", "7"))
	r.act("", recommend("1000000001"))
	if links := linksOf(t, r.trace("numbers")); links["named"] != 1 {
		t.Errorf("%v of 1 dispatches is named", links["named"])
	}
}

// TestAttemptsWithoutAModelAreScripted checks that an attempt whose models returned numbers alone,
// or failed each time, is scripted, for any inference count of the sandbox.
func TestAttemptsWithoutAModelAreScripted(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"embeddings alone", "falls back at once"} {
		for _, j := range judgeDay(t, playDays(familyNamed(family), days{7000, 6})) {
			if j.after.Axis != arena.AxisScripted {
				t.Errorf("%s: the axis is %s", family, j.after.Axis)
			}
		}
	}
}

// TestChecksAreCommands checks that the lookup of a product's details is recognised by the name of
// its own tool, not by that of the tool that opens products.
func TestChecksAreCommands(t *testing.T) {
	t.Parallel()
	r := &recorder{w: newWorld(7), task: newWorld(7).task(1), limit: 4000, now: start}
	search := find("linen goblet rustic")
	products := ids(find0(r, search))
	r.say(`seek["linen goblet rustic"]`)
	r.run("", []call{search})
	r.say("peek[" + products[1] + "]")
	r.run("", []call{view(products[1])})
	r.say("test[" + products[2] + "]")
	details := view(products[2])
	r.do(&details)
	r.step("", &call{name: "check_product_match", args: map[string]any{"product_id": products[2]}, result: `{"matched":true}`})
	r.say("take[" + products[2] + "]")
	r.run("", []call{recommend(products[2])})
	if links := linksOf(t, r.trace("checks")); links["named"]+links["named_loosely"]+links["derived"] != 3 {
		t.Errorf("%v of 3 dispatches are named", links["named"]+links["named_loosely"]+links["derived"])
	}
}
