package guard

import "testing"

// TestSpacesBetweenDigitsCount compares texts that differ in spaces only.
func TestSpacesBetweenDigitsCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		request, text string
		isEqual       bool
	}{
		{"1/2 inch pipe fittings in PVC", "12 inch pipe fittings in PVC", false},
		{"I need 2 50 ml bottles of argan oil", "I need 250 ml bottles of argan oil", false},
		{"cable ties, size 7-8, black", "cable ties, size 78, black", false},
		{"brake shoe for Honda CRV, 2007 to 2011", "br ake sh oe f or Hon da C RV, 200 7 to 201 1", true},
		{"a water proof bag, 250 ml", "a waterproof bag, 250ml", true},
	} {
		bank := []Entry{{ID: "a", Text: tt.request}}
		f := newTextIndex(bank).check(tt.text, bank)
		if (f.Tier == TierNormalised) != tt.isEqual {
			t.Errorf("%q, %q: tier %q", tt.request, tt.text, f.Tier)
		}
	}
}
