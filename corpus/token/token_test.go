package token_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/corpus/token"
)

func smallTokenizer(t testing.TB) *token.Tokenizer {
	t.Helper()
	data, err := os.ReadFile("testdata/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := token.Parse("small", data)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestCountMatchesReference compares with the counts of the tokenizers library
// (0.23.3) for a tokenizer of Qwen's shape, trained on a few sentences.
func TestCountMatchesReference(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Text   string
		Tokens int
	}
	if err = json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	tok := smallTokenizer(t)
	for range 2 { // the second time from the cache
		for _, w := range want {
			if got, err := tok.Count(w.Text); got != w.Tokens || err != nil {
				t.Errorf("%q: %d tokens, the reference has %d; %v", w.Text, got, w.Tokens, err)
			}
		}
	}
}

func TestParseNamesUnsupportedParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`:                            "parse tokenizer",
		`{"model":{"type":"Unigram"}}`: `"Unigram"`,
		`{"model":{"type":"BPE"}}`:     "not byte-level",
		`{"model":{"type":"BPE","merges":["ab"]},"pre_tokenizer":{"type":"ByteLevel"}}`:                                  "merge 0",
		`{"model":{"type":"BPE"},"pre_tokenizer":{"type":"Metaspace"}}`:                                                  `"Metaspace"`,
		`{"model":{"type":"BPE"},"normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"ByteLevel"}}`:                `"Lowercase"`,
		`{"model":{"type":"BPE"},"pre_tokenizer":{"type":"Split","behavior":"Removed"}}`:                                 `"Removed"`,
		`{"model":{"type":"BPE"},"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"("}}}`:        "split",
		`{"model":{"type":"BPE"},"pre_tokenizer":{"type":"ByteLevel"},"added_tokens":[{"content":"<x>","lstrip":true}]}`: "strips",
		`{"model":{"type":"BPE"},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true}}`:                          "add_prefix_space",
	} {
		if _, err := token.Parse("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzCountIsBounded checks that a text has at most three tokens a byte and that a second
// count equals the first.
func FuzzCountIsBounded(f *testing.F) {
	f.Add("a blue towel")
	f.Add("<|im_start|>\xff\xfe é\u0301")
	tok := smallTokenizer(f)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := tok.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		limit := 3 * len(text) // an invalid byte is counted as the three bytes of U+FFFD
		if n > limit || n < 0 {
			t.Fatalf("%d tokens of %d bytes", n, len(text))
		}
		if second, err := tok.Count(text); second != n || err != nil {
			t.Fatalf("%d, then %d, %v", n, second, err)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	tok := smallTokenizer(b)
	text := strings.Repeat("The first shop sells it for 250, the second for 310. ", 200)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tok.Count(text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLongWordIsMergedInLinearTime checks that a long word that no pattern splits has the number of
// tokens of merging pair by pair. It has no time limit of its own.
func TestLongWordIsMergedInLinearTime(t *testing.T) {
	t.Parallel()
	tok, err := token.Parse("x", []byte(`{"model":{"type":"BPE","merges":["a a","b a","aa aa","aa b"]},"pre_tokenizer":{"type":"ByteLevel"}}`))
	if err != nil {
		t.Fatal(err)
	}
	const long = 1 << 18
	for word, want := range map[string]int{
		"":                          0,
		"é":                         2,
		"aaab":                      3,        // aa, a, b: of two pairs of one rank the first
		"aabaab":                    2,        // aab, aab: a a before b a
		strings.Repeat("a", long):   long / 4, // aaaa
		strings.Repeat("ab", long):  long + 1, // a, ba, ba, …, b
		strings.Repeat("c", long):   long,     // nothing merges
		strings.Repeat("€", long):   3 * long, // nor here
		strings.Repeat("aac", long): 2 * long, // aa, c
	} {
		if got, err := tok.Count(word); got != want || err != nil {
			t.Errorf("%.12q, %d bytes: %d tokens, want %d; %v", word, len(word), got, want, err)
		}
	}
}

// TestSlowPatternIsAnError holds that a pattern which would take years for a text is named in an
// error after seconds, without a count: in one match, or in many of which each takes less than the
// limit.
func TestSlowPatternIsAnError(t *testing.T) {
	t.Parallel()
	for pattern, text := range map[string]string{
		`(\p{L}+\s?)+$`:              strings.Repeat("words ", 20) + "1",
		`(?s:.{0,2000}.{0,2000}@)?.`: strings.Repeat("words ", 3000),
	} {
		tok, err := token.Parse("x", fmt.Appendf(nil, `{"model":{"type":"BPE"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[`+
			`{"type":"Split","behavior":"Isolated","pattern":{"Regex":%q}},{"type":"ByteLevel","use_regex":false}]}}`, pattern))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		n, err := tok.Count(text)
		if !errors.Is(err, token.ErrSlow) || !strings.Contains(err.Error(), strconv.Quote(pattern)) || n != 0 {
			t.Errorf("%d tokens, %v: want an error that names the pattern %s", n, err, pattern)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: an error only after %v", pattern, took)
		}
	}
}
