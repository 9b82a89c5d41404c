package analyzer

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func terms(s string) []string {
	got := []string{}
	Terms(s, func(b []byte) { got = append(got, string(b)) })
	return got
}

func TestTerms(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"The Men's running shoes", "men run shoe"},
		{"3.5mm jack, 1,000 pcs", "3.5mm jack 1,000 pc"},
		{"size:xl foo_bar fishing.sale", "size:xl foo_bar fishing.sal"},
		{"b.1 1.b x;y 1:2", "b 1 1 b x y 1 2"},
		{"___ -- !!", ""},
		{"agreed hopping hoping relational possibly analogies skies", "agre hop hope relat possibl analog ski"},
		{"oscillators generalizations", "oscil gener"},
		{"kids’ toy’s ＴＯＹ", "kid toi ｔｏｙ"},
		{"東京 タワー", "東 京 タワー"},
		{"สวัสดีครับ", "สวัสดีครับ"},
		{"red ❤ heart 🇵🇭", "red ❤ heart 🇵🇭"},
		{"Ça ÇA", "ça ça"},
	}
	for _, c := range cases {
		want := strings.Fields(c.want)
		if got := terms(c.text); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("terms of %q: %q, want %q", c.text, got, want)
		}
	}
}

func TestLongWordsAreCut(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "é", "𝒳"} {
		total := 0
		for _, term := range terms(strings.Repeat(unit, 600)) {
			n := 0
			for _, r := range term {
				n += len(string(r))/4 + 1
			}
			if n > maxWord {
				t.Errorf("%q: a term of %d units", unit, n)
			}
			total += utf8.RuneCountInString(term)
		}
		if total != 600 {
			t.Errorf("%q: %d of 600 characters left", unit, total)
		}
	}
}

// TestTermsEqualTheRealEngine holds the chain against terms that the real
// engine gave. The rest are code points newer than its Unicode tables.
func TestTermsEqualTheRealEngine(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "search", "analyzer.jsonl"))
	if err != nil {
		t.Skip("no conformance data beside the repository")
	}
	defer f.Close()
	total, same := 0, 0
	for sc := bufio.NewScanner(f); sc.Scan(); total++ {
		var c struct {
			Text   string
			Tokens []string
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(terms(c.Text), c.Tokens) {
			same++
		}
	}
	t.Logf("%d of %d texts", same, total)
	if float64(same) < 0.99*float64(total) {
		t.Errorf("%d of %d texts have the same terms", same, total)
	}
}

// FuzzTermsAgreeOnASCII: the fast path for ASCII and the general one are the
// same function.
func FuzzTermsAgreeOnASCII(f *testing.F) {
	for _, s := range []string{"don't 3.5mm a:b 1,2;3 x_y_ _ 'tis 's", strings.Repeat("ab", 400), "A.B.C. 1.2.3. :a: 9'9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.Map(func(r rune) rune { return r & 0x7f }, s)
		var fast, general []string
		asciiWords(s, func(w string) { fast = append(fast, w) })
		unicodeWords(s, func(w string) { general = append(general, w) })
		if !slices.Equal(fast, general) {
			t.Fatalf("%q: %q, in general %q", s, fast, general)
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("Dila heatproof spatula polyester cartoon new white 3.5mm fishing's ", 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Terms(text, func([]byte) {})
	}
}
