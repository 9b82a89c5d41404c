package guard

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/trajectory-arena/arena/guard/disguise"
	"github.com/trajectory-arena/arena/internal/scripts"
)

// textIndex finds texts that are equal to a protected request, byte for byte, after normalisation,
// or with their clauses in another order.
type textIndex struct {
	exact      map[string]int
	normalised map[string]int
	// joined has the requests without any space.
	joined map[string]int
	// clauses has the clauses of each request in alphabetical order.
	clauses map[string]int
	// sums has the letterSum of each normalised request.
	sums map[uint64]bool
	// maxBytes is the length in bytes of the longest request.
	maxBytes int
}

func newTextIndex(bank []Entry) *textIndex {
	t := &textIndex{
		exact:      map[string]int{},
		normalised: map[string]int{},
		joined:     map[string]int{},
		clauses:    map[string]int{},
		sums:       map[uint64]bool{},
	}
	for i, e := range bank {
		if key := normalised(disguise.Plain(e.Text)); key != "" {
			setIfAbsent(t.exact, e.Text, i)
			setIfAbsent(t.normalised, withoutSpaces(key), i)
			setIfAbsent(t.joined, strings.ReplaceAll(key, " ", ""), i)
			clauses := sortedClauses(disguise.Plain(e.Text))
			if clauses != "" {
				setIfAbsent(t.clauses, clauses, i)
			}
			for _, form := range []string{key, clauses} {
				sum, _ := letterSum(form)
				t.sums[sum] = true
			}
			t.maxBytes = max(t.maxBytes, len(e.Text))
		}
	}
	return t
}

// minBroken is the minimum number of spaces that a text has more than a request, for those between
// its digits to be mistakes too.
const minBroken = 3

// withoutSpaces returns the request that is equal to a normalised text but for spaces, since a program
// that reads a picture puts some into words and numbers: "br ake sh oe of 200 7". In a text with fewer
// than minBroken of these, spaces between digits count: "2 50 ml" is not "250 ml", nor "1/2" "12".
func (t *textIndex) withoutSpaces(text string, bank []Entry) (request int, ok bool) {
	if request, ok = t.normalised[withoutSpaces(text)]; ok {
		return request, true
	}
	request, ok = t.joined[strings.ReplaceAll(text, " ", "")]
	if !ok {
		return 0, false
	}
	written := normalised(disguise.Plain(bank[request].Text))
	return request, strings.Count(text, " ") >= strings.Count(written, " ")+minBroken
}

// withoutSpaces returns a normalised text without spaces but those between two digits.
func withoutSpaces(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := range len(text) {
		isBetweenDigits := i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1])
		if text[i] != ' ' || isBetweenDigits {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

func setIfAbsent(m map[string]int, key string, i int) {
	if _, ok := m[key]; !ok {
		m[key] = i
	}
}

// maxPadding limits how long a text may be to be compared with requests after normalisation, as a
// multiple of the length of the longest request. Longer texts are only searched byte for byte here;
// the guard's other methods, such as runs of words, find reworded requests in them.
const maxPadding = 4

func (t *textIndex) check(text string, bank []Entry) Finding {
	if i, ok := t.exact[text]; ok {
		return textFinding(bank[i], TierExact, "the request is equal byte for byte")
	}
	if len(text) > maxPadding*(t.maxBytes+1) {
		return Finding{}
	}
	if sum, isPlain := letterSum(text); isPlain && !t.sums[sum] {
		return Finding{}
	}
	if i, ok := t.withoutSpaces(normalised(text), bank); ok {
		return textFinding(bank[i], TierNormalised, "the request is equal but for case, white space and punctuation")
	}
	if clauses := sortedClauses(text); clauses != "" {
		if i, ok := t.clauses[clauses]; ok {
			return textFinding(bank[i], TierNormalised, "the request is equal but for the order of its clauses")
		}
	}
	return Finding{}
}

// clauseSign matches the signs between two clauses of a text, but not those within a number.
var clauseSign = regexp.MustCompile(`[,;.:!?](?:\s|$)|\n`)

// sortedClauses returns the normalised clauses of a text in alphabetical order. It returns "" for a
// text of one clause. A sign of another script that ends a clause ends one without white space after
// it too.
func sortedClauses(text string) string {
	var clauses []string
	text = strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && scripts.EndsClause(r) {
			return '\n'
		}
		return r
	}, text)
	for _, clause := range clauseSign.Split(text, -1) {
		if clause = normalised(clause); clause != "" {
			clauses = append(clauses, clause)
		}
	}
	if len(clauses) < 2 {
		return ""
	}
	slices.Sort(clauses)
	return strings.Join(clauses, "\n")
}

func textFinding(e Entry, tier Tier, evidence string) Finding {
	return Finding{
		Match:    e.ID,
		Bank:     e.Bank,
		Drop:     true,
		Same:     true,
		Score:    1,
		Tier:     tier,
		Evidence: evidence,
	}
}

// normalised returns text in a form in which requests that differ only in case, punctuation and
// white space are equal: compatibility forms, lower case, and single spaces in place of all signs
// but decimal points and percent signs. White space around the text is removed first, since it
// influences how invalid bytes and marks without a letter compose.
func normalised(text string) string {
	if strings.IndexFunc(text, isNotASCII) >= 0 {
		text = norm.NFKC.String(strings.TrimSpace(strings.ToValidUTF8(text, " ")))
	}
	text = strings.ToLower(text)
	var b strings.Builder
	b.Grow(len(text))
	gap := false
	for i, r := range text {
		isWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if !isWord && !isNumberSign(text, i, r) {
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

// letterSum returns a sum of the characters of a text that normalised keeps. It depends neither on spaces
// nor on the order of clauses, so that texts with different sums are not equal but for these. isPlain is
// false for a text that is not ASCII and has no sum.
func letterSum(text string) (sum uint64, isPlain bool) {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return 0, false
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		isLetter := c >= 'a' && c <= 'z'
		if isLetter || isDigit(c) || isNumberSign(text, i, rune(c)) {
			square := uint64(c) * uint64(c)
			sum += square * square * square
		}
	}
	return sum, true
}

// isNumberSign reports whether the sign r at text[i] changes the number before it: "1.5" is not
// "15" and "5%" is not "5". It reports false for separators of thousands.
func isNumberSign(text string, i int, r rune) bool {
	switch r {
	case '%':
		return i > 0 && isDigit(text[i-1])
	case '.':
		return i > 0 && isDigit(text[i-1]) && i+1 < len(text) && isDigit(text[i+1])
	}
	return false
}

func isNotASCII(r rune) bool { return r >= utf8.RuneSelf }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
