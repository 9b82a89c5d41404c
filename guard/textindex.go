package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/trajectory-arena/arena/guard/disguise"
)

// textIndex finds requests that are a protected one letter for letter, or after
// normalisation.
type textIndex struct {
	exact      map[string]int
	normalised map[string]int
	// longest is the length in bytes of the longest request.
	longest int
}

func newTextIndex(bank []Entry) *textIndex {
	t := &textIndex{exact: map[string]int{}, normalised: map[string]int{}}
	for i, e := range bank {
		if key := normalised(disguise.Plain(e.Text)); key != "" {
			first(t.exact, e.Text, i)
			first(t.normalised, key, i)
			t.longest = max(t.longest, len(e.Text))
		}
	}
	return t
}

// mostPadding is how many times as long as the longest request a text may be that
// repeats one but for white space and punctuation; the lexical tier reads longer ones.
const mostPadding = 4

func first(m map[string]int, key string, i int) {
	if _, known := m[key]; !known {
		m[key] = i
	}
}

func (t *textIndex) check(text string, bank []Entry) Finding {
	tier, evidence := TierExact, "the request is equal byte for byte"
	i, found := t.exact[text]
	if !found {
		if len(text) > mostPadding*(t.longest+1) {
			return Finding{}
		}
		tier, evidence = TierNormalised, "the request is equal but for case, white space and punctuation"
		if i, found = t.normalised[normalised(text)]; !found {
			return Finding{}
		}
	}
	return Finding{Match: bank[i].ID, Bank: bank[i].Bank, Drop: true, Same: true, Score: 1, Tier: tier, Evidence: evidence}
}

// normalised folds text for comparison as a whole: compatibility forms, case,
// then single spaces between runs of letters, marks, digits and the few signs
// that change a number or a size. What stands around the text is cut off first:
// it decides how bytes that are no character and marks without a letter compose.
func normalised(text string) string {
	if strings.IndexFunc(text, beyondASCII) >= 0 {
		text = norm.NFKC.String(strings.TrimSpace(strings.ToValidUTF8(text, " ")))
	}
	text = strings.ToLower(text)
	var b strings.Builder
	b.Grow(len(text))
	gap := false
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !signOfNumber(text, i, r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// signOfNumber keeps "1.5" apart from "15" and "5%" from "5"; separators of
// thousands go, as does all other punctuation.
func signOfNumber(text string, i int, r rune) bool {
	switch r {
	case '%':
		return i > 0 && isDigit(text[i-1])
	case '.':
		return i > 0 && isDigit(text[i-1]) && i+1 < len(text) && isDigit(text[i+1])
	}
	return false
}

func beyondASCII(r rune) bool { return r >= utf8.RuneSelf }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
