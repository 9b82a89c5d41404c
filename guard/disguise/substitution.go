package disguise

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// substitution is a disguise that changes each word independently.
type substitution struct {
	how string
	// readings returns the possible originals of a word, the likeliest first.
	readings func(word string) []string
	// needsSigns is set if only words with digits or signs can be changed.
	needsSigns bool
	// alternatives return further readings of the part of a text that is disguised.
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
	{how: "digits and signs for letters", readings: leetReadings, needsSigns: true},
}

// maxWord is the maximum length in bytes of a word of a language.
const maxWord = 64

// minWord is the minimum length of a word that indicates a disguise: words of two
// letters are often words backwards too.
const minWord = 3

// minGain is the number of additional words that must be known in a part of a text
// after the substitution is undone. Of a thousand words of ordinary text, fewer
// than two in a row are words backwards too.
const minGain = 3

// undo returns the readings of text with the substitution undone in the part in
// which it makes words known; none if there is no such part.
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

// undoWord returns the first known reading of w, or the likeliest.
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

// disguisedPart returns the range of fields in which the substitution gains most
// known words, extended over neighbours that may belong to it. end is 0 if the
// gain is too small.
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

// mayInclude reports whether a word may be in a disguised part: it is known neither
// as written nor undone, or both ways ("dna").
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

// gain returns 1 if a word is known only after the substitution is undone, -1 if it
// is known as written, else 0.
func (s *substitution) gain(w string, known func(string) bool) int {
	w = strings.ToLower(w)
	if len(w) < minWord || len(w) > maxWord {
		return 0
	}
	if s.needsSigns && !strings.ContainsAny(w, leetSigns) {
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

// isKnown reports whether all parts of w that are long enough are known words.
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

// reverseWords reverses each word and keeps numbers.
func reverseWords(text string) string { return wordPattern.ReplaceAllStringFunc(text, reverse) }

// leet maps digits and signs to the letters that they stand for. If there are two,
// both are tried.
var leet = map[rune]string{
	'0': "o", '1': "il", '2': "z", '3': "e", '4': "a",
	'5': "s", '6': "gb", '7': "t", '8': "b", '9': "g",
	'@': "a", '$': "s", '!': "il", '|': "li",
	'+': "t", '€': "e", '£': "l", '(': "c",
}

const leetSigns = "0123456789@$!|+€£("

const maxSpellings = 16

// amount matches a number, with or without a unit: "97", "15cm", and "4nd".
var amount = regexp.MustCompile(`^[^a-z]*[a-z]{0,3}[^a-z0-9]*$`)

// leetReadings returns the readings of a word with letters in place of digits and
// signs. A word that may be an amount is its own first reading.
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

// appendLetter returns words with letter appended to each.
func appendLetter(words []string, letter rune) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w + string(letter)
	}
	return out
}
