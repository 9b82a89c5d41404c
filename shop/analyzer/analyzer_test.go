package analyzer

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/longtest"
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
		{"eed ies exceed ties", "eed i exce ti"},
		{"kids’ toy’s ＴＯＹ", "kid toi ｔｏｙ"},
		{"東京 タワー", "東 京 タワー"},
		{"สวัสดีครับ", "สวัสดีครับ"},
		{"red ❤ heart 🇵🇭", "red ❤ heart 🇵🇭"},
		{"Ça ÇA", "ça ça"},
		{"1\u200d❤ a\u200d😀 👨🏽\u200d⚕\ufe0f", "1\u200d ❤ a\u200d 😀 👨🏽\u200d⚕\ufe0f"},
		{"🇵 🇵🇭🇺🇸 🏽 #\ufe0f⃣ 1\ufe0f⃣", "🇵🇭 🇺🇸 🏽 #\ufe0f⃣ 1\ufe0f⃣"},
		{"צה\"ל. ג'ירפה א'", "צה\"ל ג'ירפה א'"},
		{"İT Kelvins 𐐀s", "kelvin 𐐨"},
		{"กุ ุก ꞉ ׳", "กุ ุก ꞉ ׳"},
	}
	for _, c := range cases {
		want := strings.Fields(c.want)
		if got := terms(c.text); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("terms of %q: %q, want %q", c.text, got, want)
		}
	}
}

// TestLongWordsAreCut checks that a word ends at the last possible place within 255 units, and that
// the remainder is read as a new word.
func TestLongWordsAreCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit string
		n    int
		want []int
	}{
		{"x", 600, []int{255, 255, 90}}, {"é", 300, []int{255, 45}}, {"𝒳", 200, []int{127, 73}},
		{"1,", 200, []int{255, 143}}, {"a_", 150, []int{255, 45}}, {"กิ", 200, []int{255, 145}}, {"👩\u200d", 90, []int{170, 10}},
	} {
		var got []int
		for _, term := range terms(strings.Repeat(c.unit, c.n)) {
			got = append(got, utf8.RuneCountInString(term))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d times %q: terms of %v characters, want %v", c.n, c.unit, got, c.want)
		}
	}
	if got := terms(strings.Repeat("_", 300) + "a"); len(got) != 1 || len(got[0]) != maxWord {
		t.Errorf("underscores before a letter: %q", got)
	}
}

// TestTermsEqualTheRealEngine compares the analyzer's terms with those of the real engine, for
// texts of all scripts, signs and code points.
func TestTermsEqualTheRealEngine(t *testing.T) {
	t.Parallel()
	t.Run("terms.jsonl", func(t *testing.T) {
		t.Parallel()
		compareTerms(t, filepath.Join("testdata", "terms.jsonl"))
	})
	t.Run("analyzer.jsonl", func(t *testing.T) {
		t.Parallel()
		compareTerms(t, longtest.Shared(t, "data/search/analyzer.jsonl"))
	})
}

func compareTerms(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	total := 0
	for sc := bufio.NewScanner(f); sc.Scan(); total++ {
		var c struct {
			Text   string
			Tokens []string
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if got := terms(c.Text); !slices.Equal(got, c.Tokens) {
			t.Errorf("terms of %+q: %+q, want %+q", c.Text, got, c.Tokens)
		}
	}
	t.Logf("%d texts", total)
}

// FuzzTerms checks that the terms of any text are words within the maximum length.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"don't 3.5mm a:b 1,2;3 x_y_ _ 'tis 's", strings.Repeat("ab", 400), strings.Repeat("1,", 200), "eed ies s's", "A.B.C. 9'9 \xff𐐀s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range terms(s) {
			if term == "" || len(utf16.Encode([]rune(term))) > maxWord {
				t.Fatalf("%q: term %q", s, term)
			}
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
