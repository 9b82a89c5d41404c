package redact

// number notes the run of digits, dots, blanks and hyphens at a place.
func (h *hits) number(text string, at int) {
	n := len(h.numbers)
	if n > 0 && at < h.numbers[n-1].end {
		return
	}
	start, end := at, at
	for start > 0 && numeric(text[start-1]) {
		start--
	}
	for end < len(text) && numeric(text[end]) {
		end++
	}
	h.numbers = append(h.numbers, span{start, end})
}

// longNumbers notes the runs of digits as long as a card's that have nothing
// between them.
func (h *hits) longNumbers(text string) {
	h.numbers = append(h.numbers, stretches(text, &digits, shortestCard)...)
}

// cards and networks are the numbers that may be a card's or an address, with a
// byte on either side.
func cards(text string, h *hits) []span {
	return filled(text, h.numbers, func(digits, _ int) bool { return digits >= shortestCard })
}

func networks(text string, h *hits) []span {
	return filled(text, h.numbers, func(_, dots int) bool { return dots >= 3 })
}

func filled(text string, numbers []span, enough func(digits, dots int) bool) []span {
	var out []span
	for _, s := range numbers {
		digits, dots := 0, 0
		for i := s.start; i < s.end; i++ {
			if digit(text[i]) {
				digits++
			}
			if text[i] == '.' {
				dots++
			}
		}
		if enough(digits, dots) {
			out = append(out, span{max(0, s.start-1), min(len(text), s.end+1)})
		}
	}
	return out
}

// accounts are the parts of a text that may be the number of a bank account:
// capitals, digits and blanks, as many as the shortest has, from a country on,
// with a byte on either side.
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

// shortestCard is in digits.
const shortestCard = 15

// shortestIBAN is in letters and digits.
const shortestIBAN = 15

func digit(c byte) bool { return c >= '0' && c <= '9' }

func numeric(c byte) bool { return digit(c) || c == '.' || c == ' ' || c == '-' }
