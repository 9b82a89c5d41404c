package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reference is Scan as it would be without any short cut: each word of each
// rule is searched by itself, whatever follows it, and rules without words see
// the whole text.
func reference(r *Redactor, text string) []Finding {
	v := newView(text)
	var all []Finding
	for i := range r.rules {
		rule := &r.rules[i]
		if rule.spans != nil {
			all = rule.within(all, v.text, span{0, len(v.text)})
			continue
		}
		var found []hit
		for at := range len(v.text) {
			for _, word := range rule.keywords {
				if len(v.text) >= at+len(word) && equalLower(v.text[at:], word) {
					found = append(found, hit{i, span{at, at + len(word)}})
				}
			}
		}
		if len(found) > 0 {
			all = rule.find(all, v.text, found)
		}
	}
	all = merge(outside(all, r.look(v.text).placeholders))
	for i, f := range all {
		s := v.source(span{f.Start, f.End})
		all[i].Start, all[i].End = s.start, s.end
	}
	return all
}

// scraps are what random texts are made of: what rules look for, what stands
// around it, and what looks like it.
func scraps(r *Redactor) []string {
	out := []string{" ", "\n", `"`, `\"`, `\n`, `\\`, ":", "=", ", ", " is ", `{"q":"`, `"}`, "://", "@", ".", "-", "_", "0x", "5", "soft plaid cotton shirt ",
		"4111 1111 " + "1111 1111", "203.0.113" + ".7", "10.5 x 20.25", "2024-06-01", "x.org", "a1B2c3D4e5F6g7H8i9J0", strings.Repeat("0a1b2c3d", 8),
		"5AtUVE5Zoyk1n6NhrxsQvzroE6WuEfs2UUnVi9UqAFhmtuFJ", `A`, Placeholder("email"), "éü", "İ", "\xff", "-----BEGIN PRIVATE " + "KEY-----"}
	for i := range r.rules {
		out = append(out, r.rules[i].keywords...)
		for _, k := range r.rules[i].keywords {
			out = append(out, strings.ToUpper(k))
		}
	}
	return out
}

// TestScanFindsWhatTheReferenceFinds holds the short cuts against a scan
// without them, on random texts.
func TestScanFindsWhatTheReferenceFinds(t *testing.T) {
	t.Parallel()
	r, err := New(Options{Hotkeys: true})
	if err != nil {
		t.Fatal(err)
	}
	parts := scraps(r)
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	found := 0
	for range 1500 {
		var b strings.Builder
		for range 3 + random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
			for range random.IntN(3) * random.IntN(30) {
				b.WriteByte(letters[random.IntN(len(letters))])
			}
		}
		want := reference(r, b.String())
		found += len(want)
		if diff := cmp.Diff(want, r.Scan(b.String()), cmp.Transformer("list", func(f []Finding) []Finding { return append([]Finding{}, f...) })); diff != "" {
			t.Fatalf("%q: %s", b.String(), diff)
		}
	}
	if found < 500 {
		t.Errorf("only %d findings: the texts test little", found)
	}
}
