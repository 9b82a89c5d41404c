package site

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena"
)

// think makes an attempt of an agent whose every thought bears its author's word.
func think(word string, problem int, common string) *arena.Trace {
	t := &arena.Trace{ProblemID: fmt.Sprint(problem), HasDialogue: true}
	t.Steps = []arena.Step{{
		Think: fmt.Sprintf("I would like to look at %s product number %d first. %s.", word, problem, common),
		Calls: []arena.ToolCall{{Name: "find_product", Arguments: arena.Raw(fmt.Sprintf(`{"q": "%s %d"}`, word, problem))}},
	}}
	return t
}

// TestPlantedCopiesAreFoundAndNoOther gives twelve agents words of their own and one
// sentence that all write; three of them are copied by another.
func TestPlantedCopiesAreFoundAndNoOther(t *testing.T) {
	t.Parallel()
	var k kinship
	for agent := range 15 {
		for problem := range 20 {
			k.add(think(fmt.Sprint("word", string(rune('a'+agent%12))), problem, "All of us begin with this very sentence"), []string{fmt.Sprint("agent", agent)})
		}
	}
	found := map[string]bool{}
	for _, p := range k.pairs() {
		if p.Copied {
			found[p.A+" "+p.B] = true
			if len(p.Passages) == 0 {
				t.Errorf("%s and %s: no passage", p.A, p.B)
			}
		}
	}
	for _, want := range []string{"agent0 agent12", "agent1 agent13", "agent14 agent2"} {
		if !found[want] {
			t.Errorf("%s is not found", want)
		}
	}
	if len(found) != 3 {
		t.Errorf("found %v", found)
	}
}
