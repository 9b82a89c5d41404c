package redact

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// reference is Scan without any short cut: it searches each word of each rule separately, applies
// rules without words to the full text, and also searches each text with its disguises removed.
func reference(r *Redactor, text string) []Finding {
	plain := unescaped(text)
	plainView := undisguised(plain.text)
	findings := append(plainView.sourced(referenceIn(r, plainView.text)), referenceIn(r, plain.text)...)
	return plain.sourced(merge(findings))
}

var anyRun = regexp.MustCompile(`[A-Za-z0-9+/_.-]{32,}`)

func referenceIn(r *Redactor, text string) []Finding {
	var findings []Finding
	for i := range r.rules {
		rule := &r.rules[i]
		switch {
		case rule.kind == "wallet-mnemonic": // what its spans give is what it finds
			h := &hits{}
			for i := range text {
				if w := wordAt(text, i); i >= h.phrased && listed(text, w) {
					h.phraseAt(text, w)
				}
			}
			for _, s := range h.phrases {
				findings = rule.within(findings, text, s)
			}
			continue
		case rule.spans != nil:
			findings = rule.within(findings, text, span{0, len(text)})
			continue
		}
		var hits []hit
		for pos := range len(text) {
			for _, word := range rule.keywords {
				if len(text) >= pos+len(word) && strings.EqualFold(text[pos:pos+len(word)], word) {
					hits = append(hits, hit{i, span{pos, pos + len(word)}})
				}
			}
		}
		if len(hits) > 0 {
			findings = rule.find(findings, text, hits)
		}
	}
	var runs []span
	for _, m := range anyRun.FindAllStringIndex(text, -1) {
		runs = append(runs, span{m[0], m[1]})
	}
	findings = append(findings, r.encoded(text, runs, maxCoats)...)
	return merge(outside(r.spare(text, findings), r.look(text).placeholders))
}

// scraps returns the parts of random texts: what rules search for, the texts that surround it, and
// texts that resemble it.
func scraps(r *Redactor) []string {
	out := []string{" ", "\n", `"`, `\"`, `\n`, `\\`, `\/`, ":", "=", ", ", " is ", `{"q":"`, `"}`, "://", "@", ".", "-", "_", "0x", "5", "soft plaid cotton shirt ",
		"4111 1111 " + "1111 1111", "203.0.113" + ".7", "10.5 x 20.25", "2024-06-01", "x.org", "a1B2c3D4e5F6g7H8i9J0", strings.Repeat("0a1b2c3d", 8),
		"5AtUVE5Zoyk1n6NhrxsQvzroE6WuEfs2UUnVi9UqAFhmtuFJ", `A`, Placeholder("email"), "\u200b", "&#64;", "%40", "b3BlbmFpLmFwaV9rZXkgPSB6ejk5eXk4OHh4Nzc=", "+1 202 555 " + "0143", "DE89 3704 0044 " + "0532 0130 00", "product_id", "legal winner thank year wave sausage worth useful legal winner thank yellow", "éü", "İ", "\xff", "-----BEGIN PRIVATE " + "KEY-----"}
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
	r := New(Options{Hotkeys: true})
	parts := scraps(r)
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	count := 0
	texts := longtest.Pick(1500, 300)
	for range texts {
		var b strings.Builder
		for range 3 + random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
			for range random.IntN(3) * random.IntN(30) {
				b.WriteByte(letters[random.IntN(len(letters))])
			}
		}
		want := reference(r, b.String())
		count += len(want)
		if diff := cmp.Diff(want, r.Scan(b.String()), cmp.Transformer("list", func(f []Finding) []Finding { return append([]Finding{}, f...) })); diff != "" {
			t.Fatalf("%q: %s", b.String(), diff)
		}
	}
	if count < texts/3 {
		t.Errorf("only %d findings: the texts test little", count)
	}
}

// TestNamesAreFoundUpToTheirValues holds that the check of the text before a common name rejects no
// value that the rule's expression matches. The same holds in JSON within JSON.
func TestNamesAreFoundUpToTheirValues(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	hex := strings.Repeat("0a1b2c3d4e5f6789", 4)
	far := "_aaaaaaaaaa.bbbbbbbb\"\n'" // the longest text between name and value
	for _, plain := range []string{
		"plaid" + far + ":::=`'\" =" + hex[:24] + " ", "Plaid" + far + "=" + hex[:30] + " ",
		"plaid" + far + "=access-sandbox-" + hex[:8] + "-" + hex[:4] + "-" + hex[:4] + "-" + hex[:4] + "-" + hex[:12] + " ",
		"lob" + far + ":::=`'\" =live_" + hex[:35] + " ", "lob" + far + ":::=`'\" =test_pub_" + hex[:31] + " ",
		"sumo" + far + ":::=`'\" =su" + hex[:12] + " ", "sumo" + far + ":::=`'\" =" + hex + " ",
		`phone number"'   me at   "(202) 555 01` + "43", `tel="202 555 01` + "43",
	} {
		text := plain
		for range 3 {
			got := r.Scan(text)
			want := reference(r, text)
			if len(want) == 0 || !cmp.Equal(got, want) {
				t.Errorf("%q: found %v, want %v and any", text, got, want)
			}
			b, _ := json.Marshal(text)
			text = string(b)
		}
	}
}
