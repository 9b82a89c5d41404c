package attempt

import (
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters"
)

// TestDataAreThoseOfTheDomain tells an attempt of code, and one of a domain that is not built in.
// The story names the files that their thinking cites, which the shop's reading of products does not.
func TestDataAreThoseOfTheDomain(t *testing.T) {
	t.Parallel()
	filter, err := filters.New(filters.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	l := Ledger{filter: filter}
	trace := &arena.Trace{Query: "mend it", HasDialogue: true, Steps: []arena.Step{
		{Number: 1, Calls: []arena.ToolCall{{Name: "bash", Arguments: `{"command":"ls"}`, Result: `"setup.cfg"`}}},
		{Number: 2, Think: "I change setup.cfg and not tox.ini."},
	}}
	for name, isFile := range map[string]bool{"coding": true, "own": true, "shop": false} {
		a := &Argument{Line: &where.Line{Declared: &rows.Declared{Domain: name}}}
		l.Tell(a, trace, "")
		last := a.Story.Turns[len(a.Story.Turns)-1]
		if got := slices.Equal(last.Held, []string{"setup.cfg"}) && slices.Equal(last.Nowhere, []string{"tox.ini"}); got != isFile {
			t.Errorf("%s: held %q, nowhere %q", name, last.Held, last.Nowhere)
		}
	}
}
