package redact

import (
	"strings"
	"unicode/utf8"
)

// The sets of bytes that follow a word.
var (
	blank        = setOf(" \t\n\r\f")
	alphanumeric = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	hexadecimal  = setOf("0123456789abcdefABCDEF")
	tokenBytes   = alphanumeric.with("_-./+=~")
	hostBytes    = except(" \t\n\r\f\"',;<>{}()[]@:/_=")
	between      = alphanumeric.with("_.- \t\n\r\f'\"")
	signs        = setOf(`=>:|?,\`)
	valueSigns   = setOf(`=:sS\`)
	leadIn       = setOf("=>:|? \t\n\r\f`'\"")
	secretBytes  = except(" \t\n\r\f\"',;<>{}()[]")
	leadBytes    = alphanumeric.with(" :=#.'\"(_-")
	numberBytes  = setOf("0123456789 .()-")
	userEnd      = setOf(" \t\n\r\f:/@\"'<>\\")
)

// charset is a set of bytes.
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

// What must follow a word for an own rule to match. A backslash may stand for
// anything: it opens an escape.

// by asks for n bytes of a set.
func by(set charset, n int) func(string, int, int) bool {
	return func(text string, _, end int) bool { return set.fill(text, end, n) }
}

// hasUser: after :// a name of at most 200 bytes and a colon.
func hasUser(text string, _, end int) bool {
	for i := end; i < len(text) && i <= end+200; i++ {
		if userEnd[text[i]] {
			return text[i] == ':' || text[i] == '\\'
		}
	}
	return false
}

// hasToken: blanks, then sixteen bytes of a token.
func hasToken(text string, _, end int) bool {
	for end < len(text) && blank[text[end]] {
		end++
	}
	return tokenBytes.fill(text, end, 16)
}

// isGiven: a sign of assignment, or the end of is, within the 26 bytes that may
// stand between a name and its value, and a digit in what it leads to.
func isGiven(text string, _, end int) bool {
	without := 0 // no value that begins before it has a digit
	for i := end; i < len(text) && i <= end+26; i++ {
		if !valueSigns[text[i]] {
			continue
		}
		at := led(text, i+1)
		if at < without || !secretBytes.fill(text, at, 8) {
			continue
		}
		var has bool
		if without, has = digitFrom(text, at); has {
			return true
		}
	}
	return false
}

// digitFrom looks for a digit, or an escape, which may be one, among the bytes
// that a value at a place may have: 200 characters, and as much as later signs
// may lie behind the first. It gives where it ended.
func digitFrom(text string, at int) (end int, has bool) {
	for end = min(len(text), at+26+200*utf8.UTFMax); at < end && secretBytes[text[at]]; at++ {
		if digit(text[at]) || text[at] == '\\' {
			return at, true
		}
	}
	return at, false
}

// hasPhone: at most a few words that lead to a number, and seven digits in what
// numbers are written with.
func hasPhone(text string, _, end int) bool {
	if end < len(text) && letter(text[end]) {
		return false // a longer word
	}
	for lead := min(len(text), end+16); end < lead && !digit(text[end]); end++ {
		if text[end] == '\\' {
			return true
		}
		if !leadBytes[text[end]] {
			return false
		}
	}
	n := 0
	for ; end < len(text) && numberBytes[text[end]]; end++ {
		if digit(text[end]) {
			n++
		}
	}
	return n >= 7 || end < len(text) && text[end] == '\\'
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

// hasKey: the digits of a key where the 50 bytes end that may stand before it.
func hasKey(text string, _, end int) bool {
	for i := end; i < len(text) && i <= end+50; i++ {
		if hexadecimal.fill(text, i, 64) {
			return true
		}
	}
	return false
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
