package analyzer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// class is the word-break class of an ASCII character.
type class uint8

const (
	other class = iota
	letter
	digit
	// extend is the underscore, which joins everything.
	extend
	// midBoth (. and ') joins letters or digits, midLetter (:) letters,
	// midDigit (, and ;) digits.
	midBoth
	midLetter
	midDigit
)

var asciiClass = func() (t [utf8.RuneSelf]class) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			t[c] = letter
		}
	}
	t['_'], t['.'], t['\''], t[':'], t[','], t[';'] = extend, midBoth, midBoth, midLetter, midDigit, midDigit
	return t
}()

// asciiWords is the segmentation (UAX #29) for text that is ASCII throughout,
// where seven classes are all there is.
func asciiWords(s string, emit func(string)) {
	for i := 0; i < len(s); {
		if c := asciiClass[s[i]]; c != letter && c != digit && c != extend {
			i++
			continue
		}
		start := i
		var worth bool
		i, worth = asciiWordEnd(s, i)
		if !worth {
			continue
		}
		for w := s[start:i]; w != ""; {
			n := min(len(w), maxWord)
			emit(w[:n])
			w = w[n:]
		}
	}
}

// asciiWordEnd finds the end of the word at i; worth says that it holds a
// letter or a digit.
func asciiWordEnd(s string, i int) (end int, worth bool) {
	last := other
	for ; i < len(s); i++ {
		switch c := asciiClass[s[i]]; c {
		case letter, digit:
			worth, last = true, c
		case extend:
			last = c
		default:
			if !joins(c, last) || i+1 == len(s) || asciiClass[s[i+1]] != last {
				return i, worth
			}
		}
	}
	return i, worth
}

func joins(mid, last class) bool {
	return last == letter && (mid == midBoth || mid == midLetter) || last == digit && (mid == midBoth || mid == midDigit)
}

// unicodeWords is the segmentation for any text, with Lucene's own choices on
// top: which words count, and South East Asian runs as one word.
func unicodeWords(s string, emit func(string)) {
	var run strings.Builder
	flush := func() {
		cut(run.String(), emit)
		run.Reset()
	}
	for it := words.FromString(s); it.Next(); {
		w := it.Value()
		if r, _ := utf8.DecodeRuneInString(w); complexContext(r) {
			run.WriteString(w)
			continue
		}
		flush()
		if counts(w) {
			cut(w, emit)
		}
	}
	flush()
}

// cut emits w in pieces of at most maxWord UTF-16 units.
func cut(w string, emit func(string)) {
	units, from := 0, 0
	for i, r := range w {
		n := 1
		if r >= 0x10000 {
			n = 2
		}
		if units+n > maxWord {
			emit(w[from:i])
			from, units = i, 0
		}
		units += n
	}
	if from < len(w) {
		emit(w[from:])
	}
}

// complexContext are the letters and marks of scripts without blanks between
// words (line-break class SA).
func complexContext(r rune) bool {
	return r >= 0x0e00 && (unicode.IsLetter(r) || unicode.IsMark(r)) &&
		unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Ahom)
}

// counts says whether a segment is a word: it needs a letter, a digit, a sign
// of Han or Kana, or a pictograph. The scripts that Lucene's grammar leaves
// out do not count.
func counts(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool {
		return !unicode.In(r, unicode.Tangut, unicode.Nushu, unicode.Khitan_Small_Script) && (wordLetter(r) || wordSign(r))
	}) >= 0
}

func wordLetter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Nl, unicode.Han, unicode.Katakana, unicode.Hiragana) ||
		unicode.Is(unicode.Other_Alphabetic, r) && !unicode.IsMark(r)
}

// wordSign: the modifier letters from U+02C2, the keycap, regional indicators
// and pictographs.
func wordSign(r rune) bool {
	return r >= 0x2c2 && r <= 0x2ff || r == 0x20e3 || r >= 0x1f1e6 && r <= 0x1f1ff || unicode.Is(pictographs, r)
}
