package redact

import "strings"

// number appends to h.numbers the longest sequence of digits, dots, spaces and hyphens around
// an index, unless the index is inside the last one there.
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

// longNumbers records each sequence of at least 15 digits without a separator, the length of the
// shortest card number.
func (h *hits) longNumbers(text string) {
	h.numbers = append(h.numbers, stretches(text, &digits, shortestCard)...)
}

// numbersWith returns a function by which a redaction rule for numbers knows which parts of a text
// to search. The function returns those of the recorded numbers that have at least leastDigits
// digits and leastDots dots. Each is extended by a byte on either side, which the rule's regular
// expression checks too.
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

// accounts returns the parts of a text in which the rule for international bank account numbers
// (IBAN) searches: at least 15 capitals, digits and spaces that begin with the code of a country
// and two digits. Each is extended by a byte on either side, which the rule's regular expression
// checks too.
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

// shortestCard and shortestIBAN are minimum lengths: of a payment card number in digits, and of a
// bank account number (IBAN) in letters and digits.
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

// The sets of bytes that rules require after a keyword. hostBytes are those of a host's name.
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

// except returns the set of all bytes that are not in the argument, including those of characters
// beyond ASCII.
func except(bytes string) charset {
	s := setOf(bytes)
	for i := range s {
		s[i] = !s[i]
	}
	return s
}

// The following functions check the characters next to a keyword that is frequent in ordinary
// text. They are faster than the rule's expression.

// near returns a function that a redaction rule uses as its quick check of the text after a
// keyword: it reports whether n consecutive bytes of the set begin at most reach characters after
// the keyword.
func near(set charset, n, reach int) func(string, int, int) bool {
	return func(text string, _, end int) bool {
		return set.row(text, end, n, reach)
	}
}

// hasGroup reports whether the four characters before the colon at start can be the first group of
// a global IPv6 address: 2 or 3, and three hexadecimal digits. It is the quick check of the rule
// for such addresses, whose keyword is the colon.
func hasGroup(text string, start, _ int) bool {
	return start >= 4 && (text[start-4] == '2' || text[start-4] == '3') && hexadecimal.row(text, start-3, 3, 0)
}

// hasHash reports whether a hexadecimal digit precedes the keyword at start, or a backslash, since
// an escape may be a digit. It is the quick check of a rule for keys that end in a hash and a
// region, such as -us5, whose keyword is -us.
func hasHash(text string, start, _ int) bool {
	return start > 0 && (hexadecimal[text[start-1]] || text[start-1] == '\\')
}

// row reports whether a text has n consecutive characters of the set that begin at most reach
// characters after index. An escape counts as the character that it stands for. At a backslash
// that escapes nothing the result is true, because the check must miss no secret.
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

// isAssigned reports whether the keyword that ends at end is followed by a colon, an equals sign
// or a backslash. Up to four quotes and spaces may be between them.
func isAssigned(text string, _, end int) bool {
	remaining := strings.TrimLeft(text[end:min(len(text), end+5)], "\"' \t\n\r\f")
	return remaining != "" && strings.IndexByte(`:=\`, remaining[0]) >= 0
}
