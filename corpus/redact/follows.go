package redact

import "strings"

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

// except are all other bytes, those beyond ASCII among them.
func except(bytes string) charset {
	s := setOf(bytes)
	for i := range s {
		s[i] = !s[i]
	}
	return s
}

// What must stand at a word that ordinary text is full of for its rule to match: a
// look that is cheaper than the rule's expression. A backslash may stand for
// anything: it opens an escape.

func by(set charset, n int) func(string, int, int) bool {
	return func(text string, _, end int) bool { return set.fill(text, end, n) }
}

// hasGroup: the first group of a global IPv6 address right before, four digits of
// which the first is 2 or 3.
func hasGroup(text string, start, _ int) bool {
	return start >= 4 && (text[start-4] == '2' || text[start-4] == '3') && hexadecimal.fill(text, start-3, 3)
}

// hasHash: a hexadecimal digit right before.
func hasHash(text string, start, _ int) bool {
	return start > 0 && (hexadecimal[text[start-1]] || text[start-1] == '\\')
}

// fill reports whether n bytes of the set stand at a place, or some and an escape.
func (s *charset) fill(text string, at, n int) bool {
	for i := at; i < at+n; i++ {
		if i >= len(text) {
			return false
		}
		if text[i] == '\\' {
			return true
		}
		if !s[text[i]] {
			return false
		}
	}
	return true
}

// isAssigned: a colon or a sign of equality behind a quote and three blanks.
func isAssigned(text string, _, end int) bool {
	rest := strings.TrimLeft(text[end:min(len(text), end+5)], "\"' \t\n\r\f")
	return rest != "" && strings.IndexByte(`:=\`, rest[0]) >= 0
}
