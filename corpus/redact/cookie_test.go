package redact

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// headers is a cookie header as an expression.
var headers = regexp.MustCompile(`(?i)\Acookie["']?\s{0,3}[:=]\s{0,3}["']?((?:[^\s=;,"'<>]+=[^\s;"'<>]*;\s?)*[^\s=;,"'<>]+=[^\s;"'<>]{16,}(?:;\s?[^\s=;,"'<>]+=[^\s;"'<>]*)*)`)

// TestCookiesAreThoseOfTheExpression holds the one walk over a text against the
// expression at each word.
func TestCookiesAreThoseOfTheExpression(t *testing.T) {
	t.Parallel()
	parts := []string{"cookie", "cookie:", "Cookie: ", "cookie=", "a=", "sid=", ";", "; ", ";  ", "=", ":", ",", " ", "\t", `"`, "'", "<", "x", "é", "\xff", "0123456789", "abcdefghijklmnop", "value1"}
	r := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 60_000 {
		var b strings.Builder
		for range 2 + r.IntN(16) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		var words []hit
		var want []Finding
		for at := range len(text) {
			if len(text) < at+6 || !equalLower(text[at:], "cookie") {
				continue
			}
			words = append(words, hit{0, span{at, at + 6}})
			if m := headers.FindStringSubmatchIndex(text[at:]); m != nil {
				want = append(want, Finding{"cookie", at + m[2], at + m[3]})
			}
		}
		var got []Finding
		for _, s := range cookies(text, words) {
			got = append(got, Finding{"cookie", s.start, s.end})
		}
		want = merge(want)
		found += len(want)
		if got = merge(got); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
	if found < 1000 {
		t.Errorf("only %d cookies: the texts test little", found)
	}
}

// TestLongCookieHeadersAreFoundWhole: a session may be the last of many pairs.
func TestLongCookieHeadersAreFoundWhole(t *testing.T) {
	t.Parallel()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := "Cookie: " + strings.Repeat("consent=yes; ", 40) + "session=" + "a1B2c3D4e5F6g7H8i9J0"
	if got := r.Text(text, Counts{}); got != "Cookie: "+Placeholder("cookie") {
		t.Error(got)
	}
}

// TestDenseWordsTakeNoTimeEach would take hours where every word is followed by a
// walk over all that comes after it.
func TestDenseWordsTakeNoTimeEach(t *testing.T) {
	t.Parallel()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		for _, word := range []string{"cookie=", "cookie:", "cookie=a;", "cookie=a1", "password: token: secret: ", "secret="} {
			r.Scan(strings.Repeat(word, 2<<20/len(word)))
		}
		done <- true
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("not done within a minute")
	}
}
