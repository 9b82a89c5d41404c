package redact

import "strings"

// number records the run of digits, dots, blanks and hyphens at an index.
func (h *hits) number(text string, index int) {
	n := len(h.numbers)
	if n > 0 && index < h.numbers[n-1].end {
		return
	}
	start := index
	end := index
	for start > 0 && numeric(text[start-1]) {
		start--
	}
	for end < len(text) && numeric(text[end]) {
		end++
	}
	h.numbers = append(h.numbers, span{start, end})
}

// longNumbers records the uninterrupted runs of digits as long as a card's.
func (h *hits) longNumbers(text string) {
	h.numbers = append(h.numbers, stretches(text, &digits, shortestCard)...)
}

// numbersWith returns a function for the numbers with at least so many digits and dots, as a
// card or an address has, with a byte on either side.
func numbersWith(leastDigits, leastDots int) func(string, *hits) []span {
	return func(text string, h *hits) []span {
		var out []span
		for _, s := range h.numbers {
			if number := text[s.start:s.end]; digitsIn(number) >= leastDigits && strings.Count(number, ".") >= leastDots {
				out = append(out, span{max(0, s.start-1), min(len(text), s.end+1)})
			}
		}
		return out
	}
}

// accounts returns the parts of a text that may be the number of a bank account: capitals,
// digits and blanks, as many as the shortest has, starting with a country, with a byte on
// either side.
func accounts(text string, _ *hits) []span {
	var out []span
	for _, s := range stretches(text, &isCapital, shortestIBAN) {
		for i := s.start; i+shortestIBAN <= s.end; i++ {
			if digit(text[i+3]) && digit(text[i+2]) && ibanLength(text[i:i+2]) > 0 {
				out = append(out, span{max(0, i-1), min(len(text), s.end+1)})
				break
			}
		}
	}
	return out
}

var (
	digits    = setOf("0123456789")
	isCapital = digits.with("ABCDEFGHIJKLMNOPQRSTUVWXYZ ")
)

// The least lengths: of a card's number in digits, of an account's in letters and digits.
const shortestCard, shortestIBAN = 15, 15

func digit(c byte) bool { return c >= '0' && c <= '9' }

func digitsIn(s string) (n int) {
	for i := range len(s) {
		if digit(s[i]) {
			n++
		}
	}
	return n
}

func numeric(c byte) bool { return digit(c) || c == '.' || c == ' ' || c == '-' }

// The sets of bytes that follow a word.
var (
	alphanumeric = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	hexadecimal  = setOf("0123456789abcdefABCDEF")
	tokenBytes   = alphanumeric.with("_-./+=~")
	hostBytes    = except(" \t\n\r\f\"',;<>{}()[]@:/_=")
)

type charset [256]bool

func setOf(bytes string) charset { return charset{}.with(bytes) }

func (s charset) with(bytes string) charset {
	for _, c := range []byte(bytes) {
		s[c] = true
	}
	return s
}

// except returns all other bytes, including those beyond ASCII.
func except(bytes string) charset {
	s := setOf(bytes)
	for i := range s {
		s[i] = !s[i]
	}
	return s
}

// What must stand at a word that ordinary text is full of for its rule to match: a
// look that is cheaper than the rule's expression.

// near returns a test for n bytes of the set in a row that begin at most reach characters
// after the keyword.
func near(set charset, n, reach int) func(string, int, int) bool {
	return func(text string, _, end int) bool {
		return set.row(text, end, n, reach)
	}
}

// hasGroup reports whether the first group of a global IPv6 address precedes: four digits of
// which the first is 2 or 3.
func hasGroup(text string, start, _ int) bool {
	return start >= 4 && (text[start-4] == '2' || text[start-4] == '3') && hexadecimal.row(text, start-3, 3, 0)
}

// hasHash reports whether a hexadecimal digit precedes.
func hasHash(text string, start, _ int) bool {
	return start > 0 && (hexadecimal[text[start-1]] || text[start-1] == '\\')
}

// row reports whether n bytes of the set stand in a row that begins at most reach characters
// behind a place. Escapes count as what they mean; a backslash that escapes nothing may
// stand for anything.
func (s *charset) row(text string, index, n, reach int) bool {
	run := 0
	for seen := 0; index < len(text) && seen-run <= reach; seen++ {
		r := rune(text[index])
		next := index + 1
		if r == '\\' {
			if r, next = unescape(text, index); r < 0 {
				return true
			}
		}
		if !s[min(r, 0xFF)] {
			run = 0
		} else if run++; run == n {
			return true
		}
		index = next
	}
	return false
}

// isAssigned reports whether a colon or an equals sign follows, after a quote and up to
// three blanks.
func isAssigned(text string, _, end int) bool {
	remaining := strings.TrimLeft(text[end:min(len(text), end+5)], "\"' \t\n\r\f")
	return remaining != "" && strings.IndexByte(`:=\`, remaining[0]) >= 0
}
