// Package text has functions on plain text that several packages use.
package text

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// Clip returns the first n characters of s. It returns s if there are fewer.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// ClipBytes returns the longest prefix of s that has at most n bytes and only complete
// characters.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Join returns a and b with sep between them. If one of them is empty, it returns the other one.
func Join(a, sep, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}

// Distance returns the Levenshtein distance of a and b in bytes.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Ignorable reports whether a character is invisible in a text: zero-width blanks and joiners,
// soft hyphens, variation selectors, tags (Default_Ignorable_Code_Point of the Unicode Character
// Database).
func Ignorable(r rune) bool {
	return r >= 0xAD && unicode.In(r, ignorable...) && !unicode.In(r, visible...)
}

// The characters that are in ignorable and not in visible have the property
// Default_Ignorable_Code_Point, as DerivedCoreProperties.txt derives it.
var (
	ignorable = []*unicode.RangeTable{unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}
	visible   = []*unicode.RangeTable{unicode.Prepended_Concatenation_Mark, {
		R16: []unicode.Range16{{
			Lo:     0xFFF9,
			Hi:     0xFFFB,
			Stride: 1,
		}},
		R32: []unicode.Range32{{
			Lo:     0x13430,
			Hi:     0x1345F,
			Stride: 1,
		}},
	}}
)

// Ignorables calls see for every ignorable character, in no particular order.
func Ignorables(see func(rune)) {
	for _, table := range ignorable {
		rangetable.Visit(table, func(r rune) {
			if Ignorable(r) {
				see(r)
			}
		})
	}
}

// Line returns untrusted text as one line that is safe for a terminal. Each run of blanks,
// control characters and bidirectional controls becomes one blank.
func Line(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
}

// refusals are the first words, in lower case, of replies in which a model declines a request.
var refusals = []string{
	"i can't", "i cannot", "i can not", "i won't", "i will not", "i'm unable", "i am unable",
	"i'm not able", "i am not able", "i must decline", "i have to decline", "i decline", "i refuse",
	"i'm sorry, but i", "i am sorry, but i", "sorry, but i", "sorry, i can", "i'm sorry, i can", "i'm sorry, but as",
	"i apologize, but i", "as an ai", "this request violates", "unfortunately, i can't", "unfortunately, i cannot",
}

// Refuses reports whether s starts with words in which a model declines a request. Later in a
// text, the same words may be a quote or about something else.
func Refuses(s string) bool {
	s = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(s, "*_#>\"' \t\r\n"), "\u2019", "'"))
	return slices.ContainsFunc(refusals, func(begin string) bool {
		return strings.HasPrefix(s, begin)
	})
}

// Runs yields the start and end of each run of at least minBytes bytes that are in a set. For
// speed it examines only one byte in minBytes, which is enough to find each run.
func Runs(
	s string,
	set *[256]bool,
	minBytes int,
) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		end := 0
		for i := minBytes - 1; i < len(s); i += minBytes {
			if i < end || !set[s[i]] {
				continue
			}
			start := i
			for end = i; end < len(s) && set[s[end]]; end++ {
			}
			for start > 0 && set[s[start-1]] {
				start--
			}
			if end-start >= minBytes && !yield(start, end) {
				return
			}
		}
	}
}

// Optional formats the value of a pointer. It returns none if the pointer is nil.
func Optional[T any](v *T, format, none string) string {
	if v == nil {
		return none
	}
	return fmt.Sprintf(format, *v)
}
