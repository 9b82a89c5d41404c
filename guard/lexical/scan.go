package lexical

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// token is one word or number of a folded text.
type token struct {
	// text is the word, empty for a number.
	text string
	// value is the value of a number, unit its unit, empty if it has none.
	value float64
	unit  string
	// written is the value before its unit was applied.
	written float64
	// start and end are byte positions in the folded text.
	start, end int
	// before is the last sign between the token before and this one: 0 if there is
	// none, ' ' for white space only, '\n' for a new line.
	before byte
	// direction is the direction of a number.
	direction direction
}

func (t *token) isNumber() bool { return t.text == "" }

// direction is the kind of bound that a number is.
type direction uint8

const (
	undirected direction = iota
	above
	below
	// ranged opens a pair: the first number is a lower bound, the next an upper one.
	ranged
)

// scan returns the tokens of a folded text. It reuses the memory of out.
func scan(text string, out []token) []token {
	s := scanner{text: text, out: out[:0]}
	for s.pos < len(text) {
		s.next()
	}
	return s.out
}

type scanner struct {
	text   string
	pos    int
	before byte // of the next token
	out    []token
}

func (s *scanner) next() {
	c := s.text[s.pos]
	switch {
	case isLower(c):
		s.word()
	case isDigit(c):
		s.number()
	case c < utf8.RuneSelf:
		s.sign(c)
	default:
		s.nonASCII()
	}
}

func (s *scanner) sign(c byte) {
	switch {
	case c == '%':
		s.emit(token{
			text:  "%",
			start: s.pos,
			end:   s.pos + 1,
		})
	case c == '$':
		s.emit(token{
			text:  "usd",
			start: s.pos,
			end:   s.pos + 1,
		})
	case c == '\n':
		s.before = '\n'
	case c == ' ' || c == '\t' || c == '\r':
		if s.before == 0 {
			s.before = ' '
		}
	case s.before != '\n' || c == '(':
		s.before = c
	}
	s.pos++
}

func (s *scanner) emit(t token) {
	t.before = s.before
	s.before = 0
	if len(s.out) == 0 && t.before == 0 {
		t.before = '\n'
	}
	s.out = append(s.out, t)
}

// maxWord is the maximum length of a word in bytes: longer runs of letters are
// data, and the search for typing errors takes time quadratic in the length.
const maxWord = 64

// word scans a run of letters. Apostrophes inside it and a possessive s are
// omitted.
func (s *scanner) word() {
	start := s.pos
	s.letters()
	w := s.text[start:s.pos]
	for s.pos+1 < len(s.text) && s.text[s.pos] == '\'' && isLower(s.text[s.pos+1]) {
		s.pos++
		suffix := s.pos
		s.letters()
		if s.text[suffix:s.pos] != "s" && len(w) < maxWord {
			w += s.text[suffix:s.pos]
		}
	}
	w = w[:min(len(w), maxWord)]
	if w == "p" && s.isDigitAt(s.pos) {
		w = currency
	}
	s.emit(token{text: w, start: start, end: s.pos})
}

// currency is the word for pesos in any spelling.
const currency = "php"

func (s *scanner) letters() {
	for s.pos < len(s.text) && isLower(s.text[s.pos]) {
		s.pos++
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// number scans digits with separators of thousands and decimals: 1,593.50, 1'593
// and, before three digits, 1.593. A k after the digits means thousands.
func (s *scanner) number() {
	start := s.pos
	digits := make([]byte, 0, 16)
	decimal := false
read:
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case isDigit(c):
			digits = append(digits, c)
		case !decimal && s.groupFollows(start, c):
		case !decimal && c == '.' && s.isDigitAt(s.pos+1):
			digits = append(digits, '.')
			decimal = true
		default:
			break read
		}
	}
	s.emitNumber(start, digits)
}

func (s *scanner) isDigitAt(i int) bool {
	return i < len(s.text) && isDigit(s.text[i])
}

// groupFollows reports whether exactly three digits follow the separator c. A
// point separates groups only after one to three digits that are not a single
// zero, and not before a k: 2.692k is not a million.
func (s *scanner) groupFollows(start int, c byte) bool {
	if c != ',' && c != '\'' && c != '.' {
		return false
	}
	for i := 1; i <= 3; i++ {
		if !s.isDigitAt(s.pos + i) {
			return false
		}
	}
	if s.isDigitAt(s.pos + 4) {
		return false
	}
	return c != '.' || s.text[start] != '0' && s.pos-start <= 7 && !s.isThousandsAt(s.pos+4)
}

// isThousandsAt reports whether the byte at i is a k that means thousands.
func (s *scanner) isThousandsAt(i int) bool {
	if i >= len(s.text) || s.text[i] != 'k' {
		return false
	}
	return i+1 == len(s.text) || !isLower(s.text[i+1])
}

// maxDigits is the maximum length of a number: longer runs of digits are
// identifiers.
const maxDigits = 18

func (s *scanner) emitNumber(start int, digits []byte) {
	t := token{start: start, end: s.pos}
	if s.isThousandsAt(s.pos) {
		digits = append(digits, "e3"...)
		s.pos++
		t.end = s.pos
	}
	value, err := strconv.ParseFloat(string(digits), 64)
	if err != nil || len(digits) > maxDigits {
		t.text = s.text[start:min(s.pos, start+maxWord)]
	} else {
		t.value = value
		t.written = value
	}
	s.emit(t)
}

// nonASCII scans a run of letters of another script.
func (s *scanner) nonASCII() {
	r, size := utf8.DecodeRuneInString(s.text[s.pos:])
	switch {
	case isHan(r):
		s.han()
	case unicode.IsLetter(r):
		start := s.pos
		for s.pos < len(s.text) {
			r, size = utf8.DecodeRuneInString(s.text[s.pos:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) || isHan(r) {
				break
			}
			s.pos += size
		}
		s.emit(token{
			text:  s.text[start:s.pos],
			start: start,
			end:   s.pos,
		})
	default:
		if s.before == 0 || s.before == ' ' {
			s.before = '.'
		}
		s.pos += size
	}
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// han splits a run of Chinese characters into the longest words of the lexicon. An
// unknown character is a token of its own.
func (s *scanner) han() {
	end := s.pos
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !isHan(r) {
			break
		}
		end += size
	}
	for s.pos < end {
		size := longestHan(s.text[s.pos:end])
		s.emit(token{
			text:  s.text[s.pos : s.pos+size],
			start: s.pos,
			end:   s.pos + size,
		})
		s.pos += size
	}
}

// longestHan returns the length in bytes of the longest known word at the start of
// run, that of its first character if there is none.
func longestHan(run string) int {
	l := loadLexicon()
	best := 0
	runes := 0
	for i, r := range run {
		runes++
		if runes > l.longest {
			break
		}
		w := run[:i+utf8.RuneLen(r)]
		if _, isUnit := l.units[w]; isUnit || l.foreign[w] != nil || l.phrases[w] != nil {
			best = len(w)
		}
	}
	if best == 0 {
		_, best = utf8.DecodeRuneInString(run)
	}
	return best
}
