package gates

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readAt reads what begins at byte i and returns where the next thing begins.
func (p *passage) readAt(s *shelf, i int) int {
	c := p.folded[i]
	switch {
	case isDigit(c):
		return p.readFigure(s, i)
	case isWordByte(c):
		return p.readWord(s, i)
	case c == ' ' || c == '\t' || c == '\r':
		return i + 1
	case c < utf8.RuneSelf:
		p.find(i)
		if p.endsSentence(i) {
			p.close(i + 1)
			p.open(i + 1)
		}
		return i + 1
	default:
		return p.readRune(s, i)
	}
}

// find marks the entries of the lexicon that begin at byte i, and tells how far
// any agrees with the text.
func (p *passage) find(i int) (end int) {
	p.marks, end = p.lexicon.find(p.marks, p.folded, i)
	return end
}

// findWord is find for a word that ends at end. Most words begin no entry,
// whatever follows them, and need one look an attempt.
func (p *passage) findWord(fact *wordFact, i, end int) {
	if fact.unlisted {
		return
	}
	found := len(p.marks)
	fact.unlisted = p.find(i) < end && len(p.marks) == found && end-i >= entryKey
}

func (p *passage) readRune(s *shelf, i int) int {
	r, width := utf8.DecodeRuneInString(p.folded[i:])
	if unspaced(r) || !unicode.IsLetter(r) {
		p.find(i)
	}
	switch {
	case r == '。' || r == '！' || r == '？' || r == '；':
		p.close(i + width)
		p.open(i + width)
	case unspaced(r):
	case unicode.IsLetter(r):
		return p.readWord(s, i)
	}
	return i + width
}

// readWord reads one run of letters and digits. A run that ends in digits,
// such as php88 or rp1.299, is a figure too.
func (p *passage) readWord(s *shelf, i int) int {
	end := wordRun(p.folded, i)
	slot := s.word(p.folded[i:end])
	p.findWord(&s.words[slot], i, end)
	p.tokens = append(p.tokens, token{span: span{int32(i), int32(end)}, word: slot, measure: -1})
	p.big = p.big || end-i >= minBig && slices.ContainsFunc(bigParts[:], func(part string) bool { return strings.Contains(p.folded[i:end], part) })
	tail := end
	for tail > i && isDigit(p.folded[tail-1]) {
		tail--
	}
	if _, decimals := pieceAfter(p.folded, end); tail > i && (end-tail >= 2 || tail < end && decimals > 0) {
		return tail
	}
	return end
}

// minBig is the least length of a number word that hides its hundred, such as
// "vierhundert".
const minBig = 10

func wordRun(text string, i int) int {
	for i < len(text) && isWordByte(text[i]) {
		i++
	}
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if !isWordByte(c) {
				break
			}
			i++
			continue
		}
		r, width := utf8.DecodeRuneInString(text[i:])
		if unspaced(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		i += width
	}
	return i
}

func (p *passage) readFigure(s *shelf, i int) int {
	n := readNumber(p.folded, i)
	t := token{span: span{int32(i), int32(n.end)}, number: n, word: -1, measure: -1}
	if end := measureEnd(p.folded, n.end); n.plain && end > n.end {
		t.measure = s.word(p.folded[i:end])
	}
	if n.plain || n.end < len(p.folded) && isWordByte(p.folded[n.end]) {
		t.word = s.word(p.folded[i:wordRun(p.folded, i)])
	}
	s.figure(&n)
	p.tokens = append(p.tokens, t)
	if n.end < len(p.folded) && isWordByte(p.folded[n.end]) && !isDigit(p.folded[n.end]) {
		return wordRun(p.folded, n.end)
	}
	return n.end
}

// measureEnd is where the word after a figure that ends at text[i] ends; i
// where a blank and a letter do not follow.
func measureEnd(text string, i int) int {
	if i+1 >= len(text) || text[i] != ' ' || isDigit(text[i+1]) {
		return i
	}
	if end := wordRun(text, i+1); end > i+1 {
		return end
	}
	return i
}

// endsSentence reports whether the ASCII sign at i closes a sentence. A point
// between digits or within dots does not; brackets around orders to a grader
// do, so that what follows them is read by itself.
func (p *passage) endsSentence(i int) bool {
	text := p.folded
	switch text[i] {
	case '\n', '!', '?', ']', '{', '}':
		return true
	case '<':
		return i+1 < len(text) && text[i+1] > ' ' && !isDigit(text[i+1]) && text[i+1] != '='
	case '>':
		return i > 0 && text[i-1] == '|'
	case '.':
		after := i+1 >= len(text) || strings.IndexByte(" \n\t\"')*", text[i+1]) >= 0
		dots := i > 0 && text[i-1] == '.'
		return after && !dots
	default:
		return false
	}
}
