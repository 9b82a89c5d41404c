package llm_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/llm"
)

func shopDomain() *domain.Domain { return (*domain.Set)(nil).ByName(domain.Shop) }

// TestTheShopsPromptsAreThoseOfItsLedgers holds the names of the shop's judges, which have a hash of
// their prompts: a ledger answers under the name under which it was paid for.
func TestTheShopsPromptsAreThoseOfItsLedgers(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Reply(modeltest.Grade(0.5))))
	j, _ := judge(t, config(s), nil)
	if j.Name() != "llm_v1_15a50adf" || j.StepsName() != "llm_steps_v1_738ab5ba" {
		t.Errorf("%s and %s", j.Name(), j.StepsName())
	}
	if in := j.In(shopDomain()); in.Name() != j.Name() || in.StepsName() != j.StepsName() {
		t.Errorf("in the shop: %s and %s", in.Name(), in.StepsName())
	}
}

// TestAModelIsToldTheRubricOfTheDomain asks about attempts of each built-in domain, and of one that
// has a rubric of its own. No model is told of a shop but about attempts in one.
func TestAModelIsToldTheRubricOfTheDomain(t *testing.T) {
	t.Parallel()
	own, err := domain.Parse([]byte("name: garden\ntitle: Gardens\noutcome: {from: declared, pass: 1}\nunlogged: keep\n" +
		"rubric: {reasoning: {task: You grade how a gardener reasoned.}, steps: {rules: Every step is needed.}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	shopWords := regexp.MustCompile(`(?i)\b(shop|shopping|product|brand|price)`)
	names := map[string]string{}
	for _, d := range append(domain.Builtin(), own) {
		s := modeltest.New(t, modeltest.Sequence(modeltest.Reply(modeltest.Grade(0.5))))
		j, _ := judge(t, config(s), nil)
		j = j.In(d)
		got, err := ask(t.Context(), j, 1)
		if err != nil || got.Outcome != arena.JudgeScored || got.Judge != j.Name() {
			t.Fatalf("%s: %+v, %v", d.Name, got, err)
		}
		system, _, _ := strings.Cut(s.Calls()[0].Text, "[[[ trajectory ")
		rubric := d.CompleteRubric().Reasoning
		if !strings.HasPrefix(system, rubric.Task+"\n\nYou receive one") || !strings.Contains(system, "\n\n"+rubric.Rules+"\n\nAnswer with") {
			t.Errorf("%s: asked %q", d.Name, system)
		}
		if word := shopWords.FindString(system); (word != "") != (d.Name == domain.Shop) {
			t.Errorf("%s: the prompt has %q", d.Name, word)
		}
		names[d.Name] = j.Name() + " " + j.StepsName()
	}
	if names["base"] != names["envpack"] || names["base"] == names["shop"] || names["garden"] == names["base"] {
		t.Errorf("names: %v", names)
	}
}

// TestADomainSaysWhatThinkingCites renders one attempt in two domains of one's own. Only their keys
// evidence and rivals differ: the checked lines, the rules and the names of the judges follow them.
func TestADomainSaysWhatThinkingCites(t *testing.T) {
	t.Parallel()
	const head = "name: garden\ntitle: Gardens\noutcome: {from: declared, pass: 1}\nunlogged: keep\n"
	attempt := &arena.Trace{Query: strings.Repeat("water the beds ", 60), HasDialogue: true, Steps: []arena.Step{{Number: 1}, {Number: 2}}}
	dialogue := &arena.Dialogue{Turns: []arena.Turn{
		{Calls: []arena.Call{{Name: "look", Arguments: "{}", Result: arena.Quote(strings.Repeat("dry soil ", 60) + "bed_7 needs 350 ml, by beds/plan.txt")}}},
		{Step: 1, Think: "So bed_7 gets 350 by beds/plan.txt, and bed_9 waits until 1400."},
	}}
	names := map[string]bool{}
	for keys, want := range map[string][]string{
		"evidence: [id]\nrivals: beds or tools\n": {"checked, in earlier results: bed_7\n", "checked, in no earlier result: bed_9\n", "(beds or tools)", "which of the ids in"},
		"evidence: [number, path]\n":              {"in earlier results: beds/plan.txt, 350\n", "in no earlier result: 1400\n", "(records, files", "paths, numbers and amounts"},
	} {
		d, err := domain.Parse([]byte(head + keys))
		if err != nil {
			t.Fatal(err)
		}
		text := llm.RenderIn(d, attempt, dialogue) + d.CompleteRubric().Reasoning.Rules
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q: no %q in\n%s", keys, w, text)
			}
		}
		s := modeltest.New(t, modeltest.Sequence(modeltest.Reply(modeltest.Grade(0.5))))
		j, _ := judge(t, config(s), nil)
		names[j.In(d).Name()] = true
	}
	if len(names) != 2 {
		t.Errorf("names: %v", names)
	}
}
