package redact

import (
	"regexp/syntax"
	"strings"
)

// head is what matches of an expression begin with: the bytes that each place
// allows.
type head []charset

// charset is a set of bytes.
type charset [4]uint64

func (s *charset) add(lo, hi rune) {
	for c := lo; c <= min(hi, 0xFF); c++ {
		s[c/64] |= 1 << (c % 64)
	}
}

func (s *charset) join(o charset) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s *charset) has(c byte) bool { return s[c/64]>>(c%64)&1 != 0 }

// maxHead and maxHeads bound what is learned of one expression: more places or
// ways to begin rule out hardly more.
const (
	maxHead  = 24
	maxHeads = 128
)

// grown is a head that goes on with what follows while it is open.
type grown struct {
	head head
	open bool
}

// headsOf are the ways in which matches of an expression begin; nil where
// nothing can be said.
func headsOf(expr string) []head {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil // compiling the rule says so
	}
	var out []head
	for _, g := range grow(re.Simplify(), grown{open: true}) {
		if len(g.head) == 0 {
			return nil
		}
		out = append(out, g.head)
	}
	return out
}

// grow lengthens a head by what an expression begins with.
func grow(re *syntax.Regexp, g grown) []grown {
	if !g.open || len(g.head) >= maxHead {
		return []grown{{head: g.head}}
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []grown{g}
	case syntax.OpLiteral:
		return []grown{growLiteral(re, g)}
	case syntax.OpCharClass:
		return []grown{growClass(re, g)}
	case syntax.OpCapture:
		return grow(re.Sub[0], g)
	case syntax.OpPlus:
		return closed(grow(re.Sub[0], g))
	case syntax.OpConcat:
		return growAll(re.Sub, g)
	case syntax.OpAlternate:
		var out []grown
		for _, sub := range re.Sub {
			out = append(out, grow(sub, g)...)
		}
		return bounded(out, g)
	default:
		return []grown{{head: g.head}}
	}
}

func growAll(subs []*syntax.Regexp, g grown) []grown {
	all := []grown{g}
	for _, sub := range subs {
		var next []grown
		for _, x := range all {
			next = append(next, grow(sub, x)...)
		}
		all = bounded(next, g)
	}
	return all
}

// bounded falls back to what was known before where there are too many ways.
func bounded(all []grown, before grown) []grown {
	if len(all) > maxHeads {
		return []grown{{head: before.head}}
	}
	return all
}

func closed(all []grown) []grown {
	for i := range all {
		all[i].open = false
	}
	return all
}

// growLiteral takes ASCII alone: the words that bring a rule up are ASCII too.
func growLiteral(re *syntax.Regexp, g grown) grown {
	for _, r := range re.Rune {
		if r >= 0x80 {
			return grown{head: g.head}
		}
		var s charset
		s.add(r, r)
		if low := r | 0x20; re.Flags&syntax.FoldCase != 0 && low >= 'a' && low <= 'z' {
			s.add(r^0x20, r^0x20)
		}
		g.head = append(g.head[:len(g.head):len(g.head)], s)
	}
	return g
}

// growClass lets any byte of a rune of several bytes pass where the class has
// such runes.
func growClass(re *syntax.Regexp, g grown) grown {
	var s charset
	for i := 0; i < len(re.Rune); i += 2 {
		s.add(re.Rune[i], min(re.Rune[i+1], 0x7F))
		if re.Rune[i+1] >= 0x80 {
			s.add(0x80, 0xFF)
		}
	}
	g.head = append(g.head[:len(g.head):len(g.head)], s)
	return g
}

// begins reports whether a text may begin with the head. A backslash may stand
// for any byte, because it opens an escape; where a rune of several bytes is
// allowed, the head says no more.
func (h head) begins(text string) bool {
	for i := range h {
		if i >= len(text) {
			return false
		}
		if text[i] == '\\' {
			return true
		}
		if !h[i].has(text[i]) {
			return false
		}
		if text[i] >= 0x80 {
			return true
		}
	}
	return true
}

// opensWith reports whether nothing but a word, in any case, can be at the head's
// start.
func (h head) opensWith(word string) bool {
	if len(h) < len(word) {
		return false
	}
	for i := range len(word) {
		for c := range 256 {
			if h[i].has(byte(c)) && strings.ToLower(string(rune(c))) != word[i:i+1] {
				return false
			}
		}
	}
	return true
}
