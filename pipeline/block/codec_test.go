package block

import (
	"reflect"
	"testing"
)

// TestAnotherFieldIsAnotherLayout holds that blocks are made again where an
// entry holds another field, or the same in another form.
func TestAnotherFieldIsAnotherLayout(t *testing.T) {
	t.Parallel()
	type one struct{ A int }
	type renamed struct{ B int }
	type more struct{ A, B int }
	type other struct{ A float64 }
	type word struct{ A string }
	type inner struct{ X []one }
	layouts := map[string]bool{}
	types := []reflect.Type{reflect.TypeFor[one](), reflect.TypeFor[renamed](), reflect.TypeFor[more](), reflect.TypeFor[other](),
		reflect.TypeFor[word](), reflect.TypeFor[inner]()}
	for _, typ := range types {
		layouts[layoutOf(typ)] = true
	}
	if len(layouts) != len(types) {
		t.Errorf("%d types have %d layouts: %v", len(types), len(layouts), layouts)
	}
}
