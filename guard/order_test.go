package guard

import "testing"

// TestClausesOfOtherScripts checks that the order of clauses does not matter where no white space
// follows the signs between them.
func TestClausesOfOtherScripts(t *testing.T) {
	t.Parallel()
	for text, other := range map[string]string{
		"找一个3升的电饭煲，预算400元以内":                "预算400元以内，找一个3升的电饭煲。",
		"أريد ساعة خشبية، بسعر أقل من 900؟": "بسعر أقل من 900، أريد ساعة خشبية",
	} {
		if sortedClauses(text) == "" || sortedClauses(text) != sortedClauses(other) {
			t.Errorf("%q and %q differ", sortedClauses(text), sortedClauses(other))
		}
	}
}
