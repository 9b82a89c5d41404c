package disguise

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// exchange is a disguise that changes each word for itself.
type exchange struct {
	how string
	// of returns what a word may have been, the likeliest first.
	of func(word string) []string
	// signs is true where only a word with digits or signs can be changed.
	signs bool
	// also are further readings of a stretch that of unlocks.
	also []func(stretch string) string
}

var exchanges = []exchange{
	{how: "read backwards", of: func(w string) []string { return []string{backwards(w)} }, also: []func(string) string{backwards, lettersBackwards}},
	{how: "digits and signs for letters", of: fromLeet, signs: true},
}

// maxWord is the longest word in bytes that may be one of a language.
const maxWord = 64

// minWord is the shortest word that says whether a text is disguised: words of
// two letters are words backwards too.
const minWord = 3

// minStretch is how many more words of a stretch must be known after an exchange
// than before it. Of a thousand words of ordinary text fewer than two in a row
// are words backwards, too.
const minStretch = 3

// undo returns the readings of text with the exchange undone in the stretch of
// words that it makes known; none where there is no such stretch.
func (e *exchange) undo(text string, known func(string) bool) []string {
	fields := strings.Fields(text)
	from, to := e.stretch(fields, known)
	if to == 0 {
		return nil
	}
	places := field.FindAllStringIndex(text, -1)
	start, end := places[from][0], places[to-1][1]
	out := []string{text[:start] + field.ReplaceAllStringFunc(text[start:end], func(w string) string { return e.word(w, known) }) + text[end:]}
	for _, also := range e.also {
		out = append(out, text[:start]+also(text[start:end])+text[end:])
	}
	return out
}

// word is the first reading of w that is known, or the likeliest.
func (e *exchange) word(w string, known func(string) bool) string {
	if len(w) > maxWord {
		return w
	}
	readings := e.of(strings.ToLower(w))
	if i := slices.IndexFunc(readings, func(r string) bool { return isKnown(r, known) }); i >= 0 {
		return readings[i]
	}
	return readings[0]
}

// stretch finds the words of which most more are known after the exchange than
// before, and widens it over those that do not speak against it. to is 0 where
// there are too few.
func (e *exchange) stretch(fields []string, known func(string) bool) (from, to int) {
	gain := make([]int, len(fields))
	sum, best, start := 0, minStretch-1, 0
	for i, f := range fields {
		gain[i] = e.gain(f, known)
		if sum += gain[i]; sum <= 0 {
			sum, start = 0, i+1
		}
		if sum > best {
			best, from, to = sum, start, i+1
		}
	}
	if to == 0 {
		return 0, 0
	}
	for from > 0 && e.allows(fields[from-1], gain[from-1], known) {
		from--
	}
	for to < len(fields) && e.allows(fields[to], gain[to], known) {
		to++
	}
	return from, to
}

// allows reports whether a word may be in a stretch: it is known neither way, or
// both ways ("dna").
func (e *exchange) allows(w string, gain int, known func(string) bool) bool {
	return gain == 0 || slices.ContainsFunc(e.of(strings.ToLower(w)), func(r string) bool { return isKnown(r, known) })
}

// gain is 1 where a word is known only after the exchange, -1 where it is known
// as it stands.
func (e *exchange) gain(w string, known func(string) bool) int {
	w = strings.ToLower(w)
	switch {
	case len(w) < minWord || len(w) > maxWord || e.signs && !strings.ContainsAny(w, leetSigns):
		return 0
	case isKnown(w, known):
		return -1
	case slices.ContainsFunc(e.of(w), func(r string) bool { return r != w && isKnown(r, known) }):
		return 1
	}
	return 0
}

// isKnown reports whether all parts of w that are long enough are known words.
func isKnown(w string, known func(string) bool) bool {
	parts := 0
	for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if utf8.RuneCountInString(part) < minWord {
			continue
		}
		if !known(part) {
			return false
		}
		parts++
	}
	return parts > 0
}

var field = regexp.MustCompile(`\S+`)

func backwards(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

// lettersBackwards turns words round and leaves numbers.
func lettersBackwards(text string) string { return word.ReplaceAllStringFunc(text, backwards) }

// leet are the letters that digits and signs stand for; where there are two, the
// second is tried as well.
var leet = map[rune]string{
	'0': "o", '1': "il", '2': "z", '3': "e", '4': "a", '5': "s", '6': "gb", '7': "t", '8': "b", '9': "g",
	'@': "a", '$': "s", '!': "il", '|': "li", '+': "t", '€': "e", '£': "l", '(': "c",
}

const leetSigns = "0123456789@$!|+€£("

const maxSpellings = 16

// amount is a number, with a unit or without: "97", "15cm", and "4nd".
var amount = regexp.MustCompile(`^[^a-z]*[a-z]{0,3}[^a-z0-9]*$`)

// fromLeet reads a word in which digits and signs stand for letters. What may be
// an amount is one unless it is a known word.
func fromLeet(w string) []string {
	var asIs []string
	if amount.MatchString(w) {
		asIs = []string{w}
	}
	out := []string{""}
	for _, r := range w {
		letters := leet[r]
		if letters == "" {
			letters = string(r)
		}
		more := out
		for i, letter := range []rune(letters) {
			if i == 0 {
				more = appended(out, letter)
			} else if len(more) < maxSpellings {
				more = append(more, appended(out, letter)...)
			}
		}
		out = more
	}
	return append(asIs, out...)
}

func appended(words []string, letter rune) []string {
	return slicesx.Map(words, func(s string) string { return s + string(letter) })
}
