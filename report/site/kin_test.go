package site

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// agent makes attempts: its voice is in every thought and search, its client in the
// lines of its prompt.
type agent struct{ voice, client string }

func (a agent) attempt(problem int) *arena.Trace {
	t := &arena.Trace{ProblemID: fmt.Sprint(problem), HasDialogue: true}
	t.Steps = []arena.Step{{
		Think: fmt.Sprintf("I would like to look at %s product number %d first. All of us begin with this very sentence.", a.voice, problem),
		Calls: []arena.ToolCall{
			{Name: "find_product", Arguments: arena.Raw(fmt.Sprintf(`{"q": "%s %d"}`, a.voice, problem))},
			{Name: "recommend_product", Arguments: `{"product_ids": "1"}`},
		},
	}}
	var prompt []string
	for line := range 12 {
		prompt = append(prompt, fmt.Sprintf("%s line %s of a prompt", a.client, strings.Repeat("x", line)))
	}
	t.Steps[0].Proxy = []arena.ProxyCall{{Body: arena.Raw(fmt.Sprintf(`{"messages": [{"role": "system", "content": %q}]}`, strings.Join(prompt, "\n")))}}
	return t
}

// reworded replaces the thinking by other words in another order.
func reworded(t *arena.Trace) *arena.Trace {
	t.Steps[0].Think = "At first my eyes go to the one that was named; everybody, me too, starts out like so."
	return t
}

// TestPlantedCopiesAreFoundAndNoOther has twelve agents with words of their own and one sentence
// that all of them write; four have the same public client. The copies are one full agent, a third
// of another, one in other words, and the prompts of one.
func TestPlantedCopiesAreFoundAndNoOther(t *testing.T) {
	t.Parallel()
	var k kinship
	for i := range 12 {
		a := agent{fmt.Sprint("word", string(rune('a'+i))), fmt.Sprint("client", string(rune('a'+max(i, 3))))}
		for problem := range 20 {
			k.add(a.attempt(problem), []string{fmt.Sprintf("agent%02d", i)})
		}
	}
	for problem := range 20 {
		third := agent{"wordz", "clientz"}
		if problem%3 == 0 {
			third.voice = "wordg"
		}
		k.add(third.attempt(problem), []string{"copies a third of agent06"})
		k.add(agent{"wordf", "clientf"}.attempt(problem), []string{"copies agent05"})
		k.add(reworded(agent{"worde", "clienty"}.attempt(problem)), []string{"copies agent04 in other words"})
		k.add(agent{"wordx", "clienth"}.attempt(problem), []string{"copies the prompts of agent07"})
	}
	var matches []string
	for _, p := range k.pairs() {
		if !p.Copied {
			continue
		}
		matches = append(matches, p.B[max(0, strings.Index(p.B, "agent")):][:7]+" "+p.A)
		if !strings.Contains(p.B, p.A) && !strings.Contains(p.B, "copies") {
			t.Errorf("%s and %s are taken for copies by %v", p.A, p.B, p.By)
		}
		if len(p.Problems)+len(p.Lines) == 0 {
			t.Errorf("%s and %s: nothing to look at", p.A, p.B)
		}
	}
	slices.Sort(matches)
	if want := "[agent04 agent04 agent05 agent05 agent06 agent06 agent07 agent07]"; fmt.Sprint(matches) != want {
		t.Errorf("found %s, want %s", matches, want)
	}
}
