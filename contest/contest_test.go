package contest

import "testing"

// TestFigureAsText checks that a figure over no observations prints no number.
func TestFigureAsText(t *testing.T) {
	t.Parallel()
	if got := Rate(0, 0).String(); got != "not measured" {
		t.Error(got)
	}
	if got := Rate(3, 4).String(); got != "0.75 (95 % 0.3006 to 0.9544, n 4)" {
		t.Error(got)
	}
}
