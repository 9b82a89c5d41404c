package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// TestFormsOfSharedRules counts the forms that sharedRules knows in the text of
// gitleaks' expressions: with another version of the file they may be written
// in another way, and rules would be searched more slowly or find less. Where
// the counts change, look at the forms first and then write the new ones here.
func TestFormsOfSharedRules(t *testing.T) {
	t.Parallel()
	got := map[string]int{}
	for _, s := range asjson.Parse[[]gitleaksRule](gitleaksFile) {
		if s.Path != "" || s.Regex == "" || s.ID == "generic-api-key" || s.ID == "private-key" {
			continue
		}
		got["rules"]++
		for form, present := range map[string]bool{
			"tail":    strings.HasSuffix(s.Regex, tail),
			"leading": leading.MatchString(s.Regex),
			"before":  !leading.MatchString(s.Regex) && strings.Contains(s.Regex, before),
			// one ends in a way of its own, and none begins in one
			"other tail": !strings.HasSuffix(s.Regex, tail) && strings.HasSuffix(s.Regex, "|$)"),
			"other head": strings.Contains(strings.ReplaceAll(s.Regex, before, ""), "{0,50}"),
		} {
			if present {
				got[form]++
			}
		}
	}
	want := map[string]int{"rules": 215, "tail": 149, "leading": 82, "before": 17, "other tail": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forms in gitleaks' expressions (-want +got):\n%s", diff)
	}
}

// TestEveryExpressionCompiles compiles the expressions of all rules, since a rule that is not used
// is never compiled.
func TestEveryExpressionCompiles(t *testing.T) {
	t.Parallel()
	for _, r := range compile(Options{Hotkeys: true}).rules {
		r.re()
	}
}
