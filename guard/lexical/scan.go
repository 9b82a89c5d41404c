package lexical

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// token is one word or number of a folded text, in order.
type token struct {
	// text is the word, empty for a number.
	text string
	// value and unit are set for a number; unit is empty where it has none.
	value float64
	unit  string
	// written is the value before its unit was applied.
	written float64
	// start and end are byte positions in the folded text.
	start, end int
	// before is the last sign between this token and the one before it: 0 where
	// they touch, ' ' for white space only, '\n' for a new line.
	before byte
	// direction says how a number is meant.
	direction direction
}

func (t *token) isNumber() bool { return t.text == "" }

// direction says how a number bounds what is asked for.
type direction uint8

const (
	undirected direction = iota
	above
	below
	// ranged opens a pair: the first number is a lower bound, the next an upper
	// one.
	ranged
)

func scan(text string, out []token) []token {
	s := scanner{text: text, out: out[:0]}
	for s.at < len(text) {
		s.next()
	}
	return s.out
}

type scanner struct {
	text   string
	at     int
	before byte
	out    []token
}

func (s *scanner) next() {
	c := s.text[s.at]
	switch {
	case c >= 'a' && c <= 'z':
		s.word()
	case isDigit(c):
		s.number()
	case c < utf8.RuneSelf:
		s.sign(c)
	default:
		s.beyondASCII()
	}
}

func (s *scanner) sign(c byte) {
	switch {
	case c == '%':
		s.emit(token{text: "%", start: s.at, end: s.at + 1})
	case c == '$':
		s.emit(token{text: "usd", start: s.at, end: s.at + 1})
	case c == '\n':
		s.before = '\n'
	case c == ' ' || c == '\t' || c == '\r':
		if s.before == 0 {
			s.before = ' '
		}
	case s.before != '\n' || c == '(':
		s.before = c
	}
	s.at++
}

func (s *scanner) emit(t token) {
	t.before, s.before = s.before, 0
	if len(s.out) == 0 && t.before == 0 {
		t.before = '\n'
	}
	s.out = append(s.out, t)
}

// maxWord bounds a word in bytes: longer runs of letters are data and no word
// of a language, and slips are looked for by leaving out each letter in turn.
const maxWord = 64

// word reads a run of letters. An apostrophe inside it is left out, and so is
// a possessive s.
func (s *scanner) word() {
	start := s.at
	s.letters()
	w := s.text[start:s.at]
	for s.at+1 < len(s.text) && s.text[s.at] == '\'' && isLower(s.text[s.at+1]) {
		s.at++
		tail := s.at
		s.letters()
		if s.text[tail:s.at] != "s" && len(w) < maxWord {
			w += s.text[tail:s.at]
		}
	}
	w = w[:min(len(w), maxWord)]
	if w == "p" && s.digitAt(s.at) {
		w = currency
	}
	s.emit(token{text: w, start: start, end: s.at})
}

// currency is the word that every way to write pesos is read as.
const currency = "php"

func (s *scanner) letters() {
	for s.at < len(s.text) && isLower(s.text[s.at]) {
		s.at++
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// number reads digits with separators of thousands and decimals: 1,593.50,
// 1'593 and, where three digits follow, 1.593. A k after it is a thousand.
func (s *scanner) number() {
	start := s.at
	digits := make([]byte, 0, 16)
	decimal := false
read:
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case isDigit(c):
			digits = append(digits, c)
		case !decimal && s.groupFollows(start, c):
		case !decimal && c == '.' && s.digitAt(s.at+1):
			digits, decimal = append(digits, '.'), true
		default:
			break read
		}
	}
	s.finishNumber(start, digits)
}

func (s *scanner) digitAt(i int) bool { return i < len(s.text) && isDigit(s.text[i]) }

// groupFollows reports whether the separator c is followed by exactly three
// digits. A point groups only after one to three digits that are not a lone
// zero, and not before a k: 2.692k are two thousand.
func (s *scanner) groupFollows(start int, c byte) bool {
	if c != ',' && c != '\'' && c != '.' {
		return false
	}
	if !s.digitAt(s.at+1) || !s.digitAt(s.at+2) || !s.digitAt(s.at+3) || s.digitAt(s.at+4) {
		return false
	}
	return c != '.' || s.text[start] != '0' && s.at-start <= 7 && !s.thousandsAt(s.at+4)
}

// thousandsAt reports whether a k that stands for thousands is at i.
func (s *scanner) thousandsAt(i int) bool {
	return i < len(s.text) && s.text[i] == 'k' && (i+1 == len(s.text) || !isLower(s.text[i+1]))
}

// maxDigits bounds a number: longer digit runs are identifiers.
const maxDigits = 18

func (s *scanner) finishNumber(start int, digits []byte) {
	t := token{start: start, end: s.at}
	if s.thousandsAt(s.at) {
		digits, s.at = append(digits, "e3"...), s.at+1
		t.end = s.at
	}
	value, err := strconv.ParseFloat(string(digits), 64)
	if err != nil || len(digits) > maxDigits {
		t.text = s.text[start:min(s.at, start+maxWord)]
	} else {
		t.value, t.written = value, value
	}
	s.emit(t)
}

// beyondASCII reads a run of letters of another script.
func (s *scanner) beyondASCII() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	switch {
	case isHan(r):
		s.han()
	case unicode.IsLetter(r):
		start := s.at
		for s.at < len(s.text) {
			r, size = utf8.DecodeRuneInString(s.text[s.at:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) || isHan(r) {
				break
			}
			s.at += size
		}
		s.emit(token{text: s.text[start:s.at], start: start, end: s.at})
	default:
		if s.before == 0 || s.before == ' ' {
			s.before = '.'
		}
		s.at += size
	}
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// han cuts a run of Chinese characters into the longest words that the lexicon
// knows; a character it does not know stands alone.
func (s *scanner) han() {
	end := s.at
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !isHan(r) {
			break
		}
		end += size
	}
	for s.at < end {
		size := longestHan(s.text[s.at:end])
		s.emit(token{text: s.text[s.at : s.at+size], start: s.at, end: s.at + size})
		s.at += size
	}
}

func longestHan(run string) int {
	l := words()
	best, runes := 0, 0
	for i, r := range run {
		runes++
		w := run[:i+utf8.RuneLen(r)]
		if runes > l.longest {
			break
		}
		if _, is := l.units[w]; is || l.foreign[w] != nil || l.phrases[w] != nil {
			best = len(w)
		}
	}
	if best == 0 {
		_, best = utf8.DecodeRuneInString(run)
	}
	return best
}
