package redact

import (
	"strings"
	"unicode/utf8"
)

// span is a part of a text by byte offsets.
type span struct{ start, end int }

// The rules name a secret at most reachBack bytes before their keyword and
// begin it at most reachOn bytes after. A window then goes on to the end of the
// token that it cuts, at most longest bytes on.
const (
	reachBack = 96
	reachOn   = 256
	longest   = 16 << 10
)

// places are the parts of a text from each word on.
func places(text string, found []hit) []span {
	out := make([]span, len(found))
	seen := tokens{text: text}
	for i, h := range found {
		out[i] = span{h.start, seen.end(h.end + reachOn)}
	}
	return out
}

// windows are the parts of a text around words that are in order, apart from
// each other. They end where tokens do, so that no expression sees half of one.
func windows(text string, found []hit) []span {
	var out []span
	seen := tokens{text: text}
	for _, h := range found {
		before := -1
		if n := len(out); n > 0 {
			before = out[n-1].end
		}
		w := span{begin(text, h.start-reachBack, before), seen.end(h.end + reachOn)}
		if w.start <= before {
			out[len(out)-1].end = max(before, w.end)
		} else {
			out = append(out, w)
		}
	}
	return out
}

// begin is where the token at a place begins, at most longest bytes before, and
// never within a character. It looks back no further than before.
func begin(text string, at, before int) int {
	at = max(0, at)
	for floor := max(0, before, at-longest); at > floor && !separator(text[at-1]); {
		at--
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// tokens finds the ends of a text's tokens. It knows the last stretch that it
// walked over, so that many places in one long token cost no more than one.
type tokens struct {
	text string
	// from and to bound a stretch without separators.
	from, to int
}

// end is where the token at a place ends, at most longest bytes on, and never
// within a character.
func (t *tokens) end(at int) int {
	at = min(at, len(t.text))
	if free := t.walk(at, t.from); at > t.to || free < t.from {
		t.from, t.to = at, free
	}
	t.from = min(t.from, at)
	ceiling := min(len(t.text), at+longest)
	t.to = t.walk(t.to, ceiling)
	end := min(t.to, ceiling)
	for end < len(t.text) && !utf8.RuneStart(t.text[end]) {
		end++
	}
	return end
}

// walk goes on from a place to the next separator, or to the other place.
func (t *tokens) walk(at, to int) int {
	for at < to && !separator(t.text[at]) {
		at++
	}
	return at
}

func separator(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '"' || c == '\'' }

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
// between them: one digit in so many shows each of them.
func (h *hits) longNumbers(text string) {
	end := 0
	for i := shortestCard - 1; i < len(text); i += shortestCard {
		if i < end || !digit(text[i]) {
			continue
		}
		start := i
		for end = i; end < len(text) && digit(text[end]); end++ {
		}
		for start > 0 && digit(text[start-1]) {
			start--
		}
		if end-start >= shortestCard {
			h.numbers = append(h.numbers, span{start, end})
		}
	}
}

// cards and networks are the numbers that may be a card's or an address, with a
// byte on either side.
func cards(text string, numbers []span) []span {
	return filled(text, numbers, func(digits, _ int) bool { return digits >= shortestCard })
}

func networks(text string, numbers []span) []span {
	return filled(text, numbers, func(_, dots int) bool { return dots >= 3 })
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

// groups are the parts of a text that may be a global IPv6 address, with a
// byte on either side: before its first colon stand four digits, of which the
// first is 2 or 3.
func groups(text string, _ []span) []span {
	var out []span
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], ':')
		if next < 0 {
			return out
		}
		at += next
		if at < 4 || text[at-4] != '2' && text[at-4] != '3' || !hexadecimal.fill(text, at-3, 3) {
			continue
		}
		end := at + 1
		for end < len(text) && (text[end] == ':' || hexadecimal.has(text[end])) {
			end++
		}
		out = append(out, span{max(0, at-5), min(len(text), end+1)})
	}
}

// accounts are the parts of a text that are as long as a chain account and of
// its letters: one letter in so many shows each of them.
func accounts(text string, _ []span) []span {
	var out []span
	last := 0
	for i := accountLen - 1; i < len(text); i += accountLen {
		if i < last || !base58(text[i]) {
			continue
		}
		start := i
		for last = i; last < len(text) && base58(text[last]); last++ {
		}
		for start > 0 && base58(text[start-1]) {
			start--
		}
		if last-start >= accountLen {
			out = append(out, span{max(0, start-1), min(len(text), last+1)})
		}
	}
	return out
}

const (
	shortestCard = 15
	accountLen   = 48
)

func digit(c byte) bool { return c >= '0' && c <= '9' }

func numeric(c byte) bool { return digit(c) || c == '.' || c == ' ' || c == '-' }

func base58(c byte) bool {
	return c >= '1' && c <= '9' || c >= 'A' && c <= 'Z' && c != 'I' && c != 'O' || c >= 'a' && c <= 'z' && c != 'l'
}
