package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s                 string
		n                 int
		characters, bytes string
	}{
		{"", 3, "", ""}, {"abc", 3, "abc", "abc"}, {"abcd", 3, "abc", "abc"}, {"abc", 0, "", ""},
		{"日本語", 3, "日本語", "日"}, {"日本語", 5, "日本語", "日"}, {"日本語", 2, "日本", ""}, {"é-é", 2, "é-", "é"},
	} {
		if got := Clip(c.s, c.n); got != c.characters {
			t.Errorf("Clip(%q, %d) = %q", c.s, c.n, got)
		}
		if got := ClipBytes(c.s, c.n); got != c.bytes {
			t.Errorf("ClipBytes(%q, %d) = %q", c.s, c.n, got)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("日本語", 2)
	f.Add("a\xff\x80b", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(n, 0)
		if got := Clip(s, n); utf8.RuneCountInString(got) > n || s[:len(got)] != got {
			t.Errorf("Clip(%q, %d) = %q", s, n, got)
		}
		got := ClipBytes(s, n)
		isBroken := utf8.ValidString(s) && !utf8.ValidString(got)
		if len(got) > n || s[:len(got)] != got || isBroken {
			t.Errorf("ClipBytes(%q, %d) = %q", s, n, got)
		}
	})
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"reward", "rewrad", 2}, {"score", "score", 0}, {"score", "scores", 1}, {"flaw", "lawn", 2}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"I’m sorry, but I can't help.": true, "  **I cannot** do that": true, "I refuse to": true, "This request violates our policy": true,
		"Here is what I cannot find elsewhere": false, "": false, "I can help": false,
	} {
		if Refuses(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	if b, err := ReadAll(strings.NewReader("four"), 4); string(b) != "four" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := ReadAll(strings.NewReader("four"), 3); err == nil || err.Error() != "larger than 3 bytes" {
		t.Errorf("%q, %v", b, err)
	}
}
