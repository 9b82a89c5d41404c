package lexical

import (
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// token is a word or a number of a text in normal form (see foldText).
type token struct {
	// text is the word, empty for a number.
	text string
	// value is the value of a number, 0 for a word. written is the value as written, before its unit was
	// applied.
	value, written float64
	unit           unitName
	// before is the last sign between the previous token and this one: 0 if nothing is between
	// them, ' ' for white space only, '\n' for a new line.
	before byte
	// isApart reports that more than one byte is between the previous token and this one.
	isApart bool
	// direction is the kind of bound that a number expresses, undirected for a word.
	direction direction
	// isPrice reports that a number is next to a word of the base currency.
	isPrice bool
	// isField reports that the word is the name of a field, as in {"name": value} and name=value.
	isField bool
}

func (t *token) isNumber() bool { return t.text == "" }

// direction says how a number limits what is asked for: as a lower bound (above), as an upper bound
// (below), or not (undirected).
type direction uint8

const (
	undirected direction = iota
	above
	below
	// ranged is the direction of a word such as "between": the number after it is a lower bound,
	// the next number an upper bound.
	ranged
)

// scan splits a text in normal form (see foldText) into words and numbers. It reuses the memory of
// out.
func (l *lexicon) scan(text string, out []token) []token {
	s := scanner{lexicon: l, text: text, out: out[:0]}
	for s.pos < len(text) {
		s.next()
	}
	return s.out
}

type scanner struct {
	lexicon *lexicon
	text    string
	pos     int
	end     int  // of the last token, as a byte offset in text
	before  byte // field before of the next token
	out     []token
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
		s.emit(token{text: "%"}, s.pos, s.pos+1)
	case c == '$':
		s.emit(token{text: "usd"}, s.pos, s.pos+1)
	case c == '\n':
		s.before = '\n'
	case c == ' ' || c == '\t' || c == '\r':
		if s.before == 0 {
			s.before = ' '
		}
	case s.before != '\n' || c == '(':
		s.markField(c)
		s.before = c
	}
	s.pos++
}

// markField marks the last word as the name of a data field if the sign c at the current position
// shows this: an "=" directly after the word, or a colon after its closing quote.
func (s *scanner) markField(c byte) {
	if len(s.out) == 0 || s.pos == 0 {
		return
	}
	last := &s.out[len(s.out)-1]
	isAfterWord := s.end == s.pos && c == '='
	isAfterQuote := s.end == s.pos-1 && c == ':' && s.text[s.pos-1] == '"'
	if isAfterWord || isAfterQuote {
		last.isField = true
	}
}

// emit adds the token t, which is at these byte offsets of the text.
func (s *scanner) emit(t token, start, end int) {
	t.isApart = start > s.end+1
	s.end = end
	t.before = s.before
	s.before = 0
	if len(s.out) == 0 && t.before == 0 {
		t.before = '\n'
	}
	s.out = append(s.out, t)
}

// maxWord is the maximum length of a word in bytes. Longer runs of letters are data and are cut,
// since the search for typing errors takes time quadratic in the length.
const maxWord = 64

// contracted are the endings after an apostrophe that are no part of a word, as in "lamp's" and "I'll".
var contracted = map[string]bool{"s": true, "ll": true, "d": true, "ve": true, "re": true, "m": true}

// word scans a word of ASCII letters. It omits apostrophes inside the word and endings of contracted. A
// sign of a currency directly before a number ("p500") becomes the code of the currency.
func (s *scanner) word() {
	start := s.pos
	s.letters()
	w := s.text[start:s.pos]
	for s.pos+1 < len(s.text) && s.text[s.pos] == '\'' && isLower(s.text[s.pos+1]) {
		s.pos++
		suffix := s.pos
		s.letters()
		if !contracted[s.text[suffix:s.pos]] && len(w) < maxWord {
			w += s.text[suffix:s.pos]
		}
	}
	w = w[:min(len(w), maxWord)]
	if code := s.lexicon.prefixes[w]; code != "" && s.isAmountAt(s.pos) {
		w = code
	}
	s.emit(token{text: w}, start, s.pos)
}

func (s *scanner) letters() {
	for s.pos < len(s.text) && isLower(s.text[s.pos]) {
		s.pos++
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// number scans a number with separators of thousands and a decimal point, such as 1,593.50 and
// 1'593. A point before exactly three digits separates thousands: 1.593 is 1593. A k after the
// digits multiplies by a thousand.
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

// isAmountAt reports whether a number begins at index i of the text and is no part of a word, as that
// of "p2p" or "p100d" is.
func (s *scanner) isAmountAt(i int) bool {
	if !s.isDigitAt(i) {
		return false
	}
	for s.isDigitAt(i) {
		i++
	}
	return i == len(s.text) || !isLower(s.text[i]) || s.isThousandsAt(i)
}

// groupFollows reports whether the sign c at the current position separates thousands in the number
// that begins at start: exactly three digits follow it, and at most three stand between it and the
// start of the number or the separator before it. A point is a separator only if the number so far
// has at most seven bytes and does not start with 0, and no k follows the three digits: 2.692k is
// the number 2,692.
func (s *scanner) groupFollows(start int, c byte) bool {
	if c != ',' && c != '\'' && c != '.' {
		return false
	}
	if !s.isGroupAt(s.pos+1) || s.pos-start > 3 && isDigit(s.text[s.pos-4]) {
		return false
	}
	return c != '.' || s.text[start] != '0' && s.pos-start <= 7 && !s.isThousandsAt(s.pos+4)
}

// isGroupAt reports whether exactly three digits begin at index i of the text.
func (s *scanner) isGroupAt(i int) bool {
	return s.isDigitAt(i) && s.isDigitAt(i+1) && s.isDigitAt(i+2) && !s.isDigitAt(i+3)
}

// isThousandsAt reports whether the byte at index i of the text is a k that means thousands: no
// letter follows it.
func (s *scanner) isThousandsAt(i int) bool {
	if i >= len(s.text) || s.text[i] != 'k' {
		return false
	}
	return i+1 == len(s.text) || !isLower(s.text[i+1])
}

// maxDigits is the maximum length of a number in characters. A longer one is an identifier and
// becomes a word.
const maxDigits = 18

func (s *scanner) emitNumber(start int, digits []byte) {
	var t token
	if s.isThousandsAt(s.pos) {
		digits = append(digits, "e3"...)
		s.pos++
	}
	value, err := strconv.ParseFloat(string(digits), 64)
	if err != nil || len(digits) > maxDigits {
		t.text = s.text[start:min(s.pos, start+maxWord)]
	} else {
		t.value = s.century(start) + value
		t.written = t.value
	}
	s.emit(t, start, s.pos)
}

// century returns what a year of two digits lacks, as in "'07". It returns 0 for another number, also one
// in quotes.
func (s *scanner) century(start int) float64 {
	isYear := start > 0 && s.text[start-1] == '\'' && s.pos == start+2 && (start == 1 || !isDigit(s.text[start-2]) && !isLower(s.text[start-2])) &&
		(s.pos == len(s.text) || s.text[s.pos] != '\'')
	switch {
	case !isYear:
		return 0
	case s.text[start] < '5':
		return 2000
	}
	return 1900
}

// nonASCII scans a word of letters that are not ASCII, such as one of another script. Any other
// character that is not ASCII is skipped and counts as a full stop.
func (s *scanner) nonASCII() {
	r, size := utf8.DecodeRuneInString(s.text[s.pos:])
	switch {
	case isUnspaced(r):
		s.unspaced()
	case unicode.IsLetter(r):
		start := s.pos
		for s.pos < len(s.text) {
			r, size = utf8.DecodeRuneInString(s.text[s.pos:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) || isUnspaced(r) {
				break
			}
			s.pos += size
		}
		s.emit(token{text: s.text[start:s.pos]}, start, s.pos)
	default:
		if s.before == 0 || s.before == ' ' {
			s.before = '.'
		}
		s.pos += size
	}
}

// unspacedScripts are the scripts in which words follow one another, or are followed by their
// particles, without blanks.
var unspacedScripts = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// prolonged is the sign of a long vowel in Japanese, which belongs to no script.
const prolonged = 'ー'

func isUnspaced(r rune) bool {
	return r >= 0xE00 && (r == prolonged || unicode.In(r, unspacedScripts...))
}

// unspaced splits a run of letters of unspacedScripts into words: at each position the longest word of
// the lexicon. If no word of the lexicon starts there, it is a single character of Chinese, or the
// letters of one script up to the next word.
func (s *scanner) unspaced() {
	end := s.pos
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !isUnspaced(r) {
			break
		}
		end += size
	}
	for s.pos < end {
		size := s.lexicon.longestUnspaced(s.text[s.pos:end])
		if size == 0 {
			size = s.lexicon.unknownUnspaced(s.text[s.pos:end])
		}
		s.emit(token{text: s.text[s.pos : s.pos+size]}, s.pos, s.pos+size)
		s.pos += size
	}
}

// unknownUnspaced returns the length in bytes of the unknown word at the start of run. A word has at
// most maxWord bytes.
func (l *lexicon) unknownUnspaced(run string) int {
	first, n := utf8.DecodeRuneInString(run)
	for n < len(run) && !unicode.Is(unicode.Han, first) {
		r, size := utf8.DecodeRuneInString(run[n:])
		if !isSameScript(first, r) || n+size > maxWord || l.longestUnspaced(run[n:]) > 0 {
			break
		}
		n += size
	}
	return n
}

// isSameScript reports whether two letters are of one script of unspacedScripts.
func isSameScript(a, b rune) bool {
	return b == prolonged || slices.ContainsFunc(unspacedScripts, func(t *unicode.RangeTable) bool { return unicode.Is(t, a) && unicode.Is(t, b) })
}

// minUnspaced is the minimum number of characters of a word of the lexicon within a run of a script
// other than Chinese, of whose characters few are words.
const minUnspaced = 2

// longestUnspaced returns the length in bytes of the longest word of the lexicon at the start of run, 0 if
// there is none.
func (l *lexicon) longestUnspaced(run string) int {
	first, _ := utf8.DecodeRuneInString(run)
	longest := l.longest[first]
	best := 0
	runes := 0
	for i, r := range run {
		runes++
		if runes > longest {
			break
		}
		w := run[:i+utf8.RuneLen(r)]
		if next, _ := utf8.DecodeRuneInString(run[len(w):]); unicode.IsMark(next) || next == prolonged {
			continue
		}
		isShort := runes < minUnspaced && !unicode.Is(unicode.Han, first)
		_, isUnit := l.units[w]
		isWord := isUnit || l.base[w] || l.own[w] || l.foreign[w] != nil || l.phrases[w] != nil
		if isWord && !isShort {
			best = len(w)
		}
	}
	return best
}
