package redact

import "testing"

// TestNothingShorterIsFound scans every text below Shortest of what short findings are
// made of.
func TestNothingShorterIsFound(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	var grow func(text string)
	grow = func(text string) {
		if findings := r.Scan(text); len(findings) > 0 {
			t.Errorf("%q: %+v", text, findings)
		}
		for _, c := range "+19@.a:/=" {
			if len(text) < Shortest-1 {
				grow(text + string(c))
			}
		}
	}
	grow("")
	if len(r.Scan("a@b.co")) != 1 {
		t.Error("a mail address of six bytes is not found")
	}
}
