package llm_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
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
