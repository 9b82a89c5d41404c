package disguise

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// substitution is a disguise that changes each word of a text by itself, such as digits for
// letters.
type substitution struct {
	how string
	// readings returns the possible originals of a word, the likeliest first.
	readings func(word string) []string
	// mayBe reports whether a word can be disguised in this way; nil if every word can.
	mayBe func(word string) bool
	// alternatives undo the disguise of a part of a text in other ways than word by word.
	alternatives []func(part string) string
}

var substitutions = []substitution{
	{
		how: "read backwards",
		readings: func(w string) []string {
			return []string{reverse(w)}
		},
		alternatives: []func(string) string{reverse, reverseWords},
	},
	{how: "digits and signs for letters", readings: leetReadings, mayBe: func(w string) bool { return strings.ContainsAny(w, leetSigns) }},
	{how: "misread letters", readings: misreadings, mayBe: func(w string) bool { return strings.ContainsAny(w, "01") || strings.Contains(w, "rn") }},
}

// maxWord is the maximum length in bytes of a word of a text. Longer sequences without white space
// are data.
const maxWord = 64

// minWord is the minimum length in bytes of a word that can show a disguise. Words of two letters
// are often words backwards too.
const minWord = 3

// minGain is the minimum number of words in a part of a text that become known when the
// substitution is undone, minus the number of words in it that are known as written. In ordinary
// text two words in a row are hardly ever words backwards too.
const minGain = 3

// undo returns readings of text in which the substitution is undone in the part that it disguises:
// the part where this makes the most words known. It returns nil if there is no such part. known
// reports whether a word in lower case is one of the language.
func (s *substitution) undo(text string, known func(string) bool) []string {
	fields := strings.Fields(text)
	first, last := s.disguisedPart(fields, known)
	if last == 0 {
		return nil
	}
	positions := field.FindAllStringIndex(text, -1)
	start := positions[first][0]
	end := positions[last-1][1]
	before := text[:start]
	part := text[start:end]
	after := text[end:]

	undone := field.ReplaceAllStringFunc(part, func(w string) string {
		return s.undoWord(w, known)
	})
	out := []string{before + undone + after}
	for _, alternative := range s.alternatives {
		out = append(out, before+alternative(part)+after)
	}
	return out
}

// undoWord returns, in lower case, the first possible original of w that consists of known words, or the
// likeliest one if none does. It returns a word longer than maxWord unchanged.
func (s *substitution) undoWord(w string, known func(string) bool) string {
	if len(w) > maxWord {
		return w
	}
	readings := s.readings(strings.ToLower(w))
	for _, r := range readings {
		if isKnown(r, known) {
			return r
		}
	}
	return readings[0]
}

// disguisedPart returns the range of fields, the words of a text, in which undoing the substitution
// adds the most known words, extended by neighbours that may be disguised too. It returns 0, 0 if
// fewer than minGain words are added.
func (s *substitution) disguisedPart(fields []string, known func(string) bool) (start, end int) {
	gain := make([]int, len(fields))
	sum := 0
	sumStart := 0
	best := minGain - 1
	for i, f := range fields {
		gain[i] = s.gain(f, known)
		sum += gain[i]
		if sum <= 0 {
			sum = 0
			sumStart = i + 1
		}
		if sum > best {
			best = sum
			start = sumStart
			end = i + 1
		}
	}
	if end == 0 {
		return 0, 0
	}
	for start > 0 && s.mayInclude(fields[start-1], gain[start-1], known) {
		start--
	}
	for end < len(fields) && s.mayInclude(fields[end], gain[end], known) {
		end++
	}
	return start, end
}

// mayInclude reports whether the word w, a neighbour of a disguised part of a text, may belong to
// that part. gain is the result of s.gain for w. Only a word that is known as written, and unknown
// when the disguise is undone, does not belong to it.
func (s *substitution) mayInclude(
	w string,
	gain int,
	known func(string) bool,
) bool {
	if gain == 0 {
		return true
	}
	return slices.ContainsFunc(s.readings(strings.ToLower(w)), func(r string) bool {
		return isKnown(r, known)
	})
}

// gain returns 1 if a word becomes a known one only when the disguise is undone, and -1 if it is
// known as written. For any other word it returns 0, and also for one that is too short, too long
// or without a sign that the disguise needs.
func (s *substitution) gain(w string, known func(string) bool) int {
	w = strings.ToLower(w)
	if len(w) < minWord || len(w) > maxWord {
		return 0
	}
	if s.mayBe != nil && !s.mayBe(w) {
		return 0
	}
	if isKnown(w, known) {
		return -1
	}
	for _, r := range s.readings(w) {
		if r != w && isKnown(r, known) {
			return 1
		}
	}
	return 0
}

// isKnown reports whether w consists of known words: every run of at least minWord letters in it is
// known, and there is one.
func isKnown(w string, known func(string) bool) bool {
	parts := 0
	for part := range strings.FieldsFuncSeq(w, isNotLetter) {
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

func isNotLetter(r rune) bool { return !unicode.IsLetter(r) }

var field = regexp.MustCompile(`\S+`)

func reverse(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

// reverseWords reverses the letters of each word and leaves numbers as they are.
func reverseWords(text string) string { return wordPattern.ReplaceAllStringFunc(text, reverse) }

// leet maps digits and signs to the letters that they replace in a disguise ("l4mp"). A sign that
// may replace two letters has both.
var leet = map[rune]string{
	'0': "o", '1': "il", '2': "z", '3': "e", '4': "a",
	'5': "s", '6': "gb", '7': "t", '8': "b", '9': "g",
	'@': "a", '$': "s", '!': "il", '|': "li",
	'+': "t", '€': "e", '£': "l", '(': "c",
}

const leetSigns = "0123456789@$!|+€£("

const maxSpellings = 16

// amount matches a number, with or without a unit of up to three letters: "97", "15cm", and "4nd".
var amount = regexp.MustCompile(`^[^a-z]*[a-z]{0,3}[^a-z0-9]*$`)

// leetReadings returns the possible originals of a word in which digits and signs replace letters.
// The first one is the word itself if it may be a number with a unit.
func leetReadings(w string) []string {
	var first []string
	if amount.MatchString(w) {
		first = []string{w}
	}
	spellings := []string{""}
	for _, r := range w {
		letters := leet[r]
		if letters == "" {
			letters = string(r)
		}
		next := spellings
		for i, letter := range []rune(letters) {
			if i == 0 {
				next = appendLetter(spellings, letter)
			} else if len(next) < maxSpellings {
				next = append(next, appendLetter(spellings, letter)...)
			}
		}
		spellings = next
	}
	return append(first, spellings...)
}

// appendLetter returns a copy of words with letter appended to each word.
func appendLetter(words []string, letter rune) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w + string(letter)
	}
	return out
}

// misreadings returns the possible originals of a word that a program read from a picture: it takes
// an o for a zero, an l or i for a one and an m for rn, and in numbers the reverse.
func misreadings(w string) []string {
	if misreadNumber.MatchString(w) {
		return []string{strings.NewReplacer("o", "0", "l", "1", "i", "1").Replace(w)}
	}
	if amount.MatchString(w) && strings.ContainsAny(w, digitsOf(w)) {
		return []string{w}
	}
	w = strings.ReplaceAll(w, "0", "o")
	m := strings.ReplaceAll(w, "rn", "m")
	var out []string
	for _, one := range []string{"l", "i"} {
		out = append(out, strings.ReplaceAll(m, "1", one), strings.ReplaceAll(w, "1", one))
	}
	return out
}

// digitsOf returns the digits that show that a word is an amount: a zero before letters, as in "0n", is none.
func digitsOf(w string) string {
	if zeroWord.MatchString(w) {
		return "123456789"
	}
	return "0123456789"
}

// zeroWord matches a zero before letters.
var zeroWord = regexp.MustCompile(`^0[a-z]`)

// misreadNumber matches a number of which at least one digit was read as a letter: "16o", "ll9".
var misreadNumber = regexp.MustCompile(`^[^a-z0-9]*[0-9oli]*([0-9][oli]|[oli][0-9])[0-9oli]*[^a-z0-9]*$`)
