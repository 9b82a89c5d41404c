package traces

import (
	"fmt"
	"slices"
	"testing"
)

// TestNothingIsLostSilently: a value under a key that no reader knows is named, in a row and in a
// message, whatever its type.
func TestNothingIsLostSilently(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`"text"`, `0.5`, `true`, `[1]`, `{"deep":"x"}`, `0`, `false`} {
		for place, row := range map[string]string{
			"row":     `{"id":"p","strange_key":%s,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}`,
			"message": `{"id":"p","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a","strange_key":%s}]}`,
		} {
			all, faults := readTextWith(t, "rows.jsonl", fmt.Sprintf(row, value)+"\n", named())
			if len(all) != 1 || len(faults) > 0 {
				t.Fatalf("%s %s: %d traces, faults %v", place, value, len(all), faults)
			}
			if !slices.Contains(all[0].Lost, "unread:strange_key") {
				t.Errorf("%s %s: lost %q", place, value, all[0].Lost)
			}
		}
	}
	for _, empty := range []string{`null`, `""`, `[]`, `{ }`} {
		all, _ := readTextWith(t, "rows.jsonl", `{"id":"p","strange_key":`+empty+`,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}`+"\n", named())
		if len(all) != 1 || len(all[0].Lost) > 0 {
			t.Errorf("%s: %v", empty, all)
		}
	}
}

// TestRulesOfEveryReader: a greeting that no request led to is left out and named, and thinking
// whose opening tag stood in the prompt is thinking.
func TestRulesOfEveryReader(t *testing.T) {
	t.Parallel()
	all, _ := readTextWith(t, "rows.jsonl", `{"id":"p","messages":[{"role":"system","content":"s"},{"role":"assistant","content":"Hello!"},{"role":"user","content":"u"},{"role":"assistant","content":"hm</think>\n\na"}]}`+"\n", named())
	if len(all) != 1 || len(all[0].Steps) != 1 || !slices.Equal(all[0].Lost, []string{"greeting"}) {
		t.Fatalf("%+v", all)
	}
	if s := all[0].Steps[0]; s.Reasoning != "hm" || s.Content != "a" {
		t.Errorf("reasoning %q, content %q", s.Reasoning, s.Content)
	}
}

// TestDeclaredRewards: a reward is read under the names that data sets use, as a number, a text or
// a boolean.
func TestDeclaredRewards(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]float64{
		`"reward":0.5`: 0.5, `"reward":"0.5"`: 0.5, `"score":0.25`: 0.25, `"success":true`: 1, `"success":false`: 0, `"resolved":true`: 1,
	} {
		all, _ := readTextWith(t, "rows.jsonl", `{"id":"p",`+member+`,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}`+"\n", named())
		if len(all) != 1 || all[0].Declared == nil || *all[0].Declared != want {
			t.Errorf("%s: %v", member, all)
		}
	}
}
