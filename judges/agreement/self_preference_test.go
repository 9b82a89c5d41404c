package agreement_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/judges/agreement"
)

// panelLine returns the line of an attempt of a panel of two families.
func panelLine(problem, agent string, qwen, glm float64) string {
	const format = `{"eval_run_id":"r","problem_id":%q,"outcome":"scored","score":%v,"votes":[{"model":"Qwen/Qwen3-32B","score":%v},{"model":"zai-org/GLM-5","score":%v}],"agent_models":[%q]}`
	return fmt.Sprintf(format, problem, min(qwen, glm), qwen, glm, agent) + "\n"
}

func readPanel(t *testing.T, lines ...string) agreement.Ratings {
	t.Helper()
	r, err := agreement.ReadRatings(strings.NewReader(strings.Join(lines, "")), "panel", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSelfPreference(t *testing.T) {
	t.Parallel()
	r := readPanel(t,
		// Qwen is 0.2 above the rest on its own attempt and on another one, and GLM is not.
		panelLine("a", "qwen/qwen-2.5", 0.9, 0.5),
		panelLine("b", "Qwen3-4B", 0.7, 0.7),
		panelLine("c", "zai-org/GLM-4.6", 0.3, 0.5),
		panelLine("d", "openai/gpt-oss-20b", 0.5, 0.5),
		// An attempt whose models are unknown is no evidence.
		`{"eval_run_id":"r","problem_id":"e","outcome":"scored","score":0.1,"votes":[{"model":"Qwen/Qwen3-32B","score":0.9},{"model":"zai-org/GLM-5","score":0.1}]}`+"\n",
		// Nor is an attempt without a grade.
		`{"eval_run_id":"r","problem_id":"f","outcome":"failed","score":null}`+"\n",
	)
	got := agreement.SelfPreferences(&r, agreement.DefaultOptions())
	if len(got) != 2 {
		t.Fatalf("%d families, want 2: %+v", len(got), got)
	}
	for i, want := range []struct {
		family      string
		self, other int
		preference  float64
	}{
		{"glm", 1, 3, 0.2 - (-0.4+0+0)/3},
		{"qwen", 2, 2, (0.4+0)/2 - (-0.2+0)/2},
	} {
		p := got[i]
		if p.Family != want.family || p.Own != want.self || p.Other != want.other {
			t.Errorf("got %+v, want %+v", p, want)
		}
		if p.Preference.Value == nil || math.Abs(*p.Preference.Value-want.preference) > 1e-12 {
			t.Errorf("%s: preference %v, want %v", p.Family, p.Preference.Value, want.preference)
		}
	}
}

// TestSelfPreferenceIsUndefinedOneSided holds that no figure is given without attempts of both kinds.
func TestSelfPreferenceIsUndefinedOneSided(t *testing.T) {
	t.Parallel()
	r := readPanel(t, panelLine("a", "qwen3", 0.9, 0.5), panelLine("b", "qwen3", 0.9, 0.5))
	for _, p := range agreement.SelfPreferences(&r, agreement.DefaultOptions()) {
		if p.Preference.Value != nil {
			t.Errorf("%s: got %v, want no figure", p.Family, *p.Preference.Value)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	r := readPanel(t, panelLine("a", "x", 0.9, 0.5), panelLine("b", "x", 0.3, 0.3))
	members := r.Members()
	if len(members) != 2 || members[0].Name != "Qwen/Qwen3-32B" || members[1].Name != "zai-org/GLM-5" {
		t.Fatalf("got %+v", members)
	}
	key := agreement.Key{Run: "r", Problem: "a"}
	if *members[0].Scores[key] != 0.9 || *members[1].Scores[key] != 0.5 {
		t.Errorf("got %v and %v", *members[0].Scores[key], *members[1].Scores[key])
	}
}
