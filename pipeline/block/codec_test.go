package block

import "testing"

// TestAnotherFieldIsAnotherLayout holds that blocks are made again where an
// entry holds another field, or the same in another form.
func TestAnotherFieldIsAnotherLayout(t *testing.T) {
	t.Parallel()
	type one struct{ A int }
	type renamed struct{ B int }
	type more struct{ A, B int }
	type other struct{ A float64 }
	type word struct{ A string }
	type text struct {
		A string `block:"text"`
	}
	type inner struct{ X []one }
	type outer struct {
		X []one `block:"-"`
	}
	layouts := map[string]bool{}
	all := []*plan{planFor[one](), planFor[renamed](), planFor[more](), planFor[other](), planFor[word](), planFor[text](), planFor[inner](), planFor[outer]()}
	for _, c := range all {
		layouts[c.layout] = true
	}
	if len(layouts) != len(all) {
		t.Errorf("%d types have %d layouts: %v", len(all), len(layouts), layouts)
	}
}
