package gates

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/scripts"
)

// scanNext reads the word, number, white space or sign at byte i and returns the byte offset after
// it. Words and numbers are added to the passage's tokens; listed words and phrases that begin
// there are added to p.marks.
func (p *passage) scanNext(x *factIndex, i int) int {
	c := p.folded[i]
	switch {
	case isDigit(c):
		return p.scanFigure(x, i)
	case isWordByte(c):
		return p.scanWord(x, i)
	case c == ' ' || c == '\t' || c == '\r':
		return i + 1
	case c < utf8.RuneSelf:
		p.addMarks(i)
		if p.endsSentence(i) {
			p.closeSentence(i + 1)
			p.openSentence(i + 1)
		}
		return i + 1
	default:
		return p.scanRune(x, i)
	}
}

// addMarks appends to p.marks the words and phrases of the word lists that begin at byte i of the
// passage. It returns the end of the longest piece of the text that any listed entry begins with.
func (p *passage) addMarks(i int) int {
	marks, end := p.lexicon.appendMatches(p.marks, p.folded, i)
	p.marks = marks
	return end
}

// addWordMarks appends to p.marks the listed words and phrases that begin with the word from byte i
// to end. If no listed entry can begin with that word, it sets fact.unlisted, so that the word is
// looked up only once for an attempt.
func (p *passage) addWordMarks(fact *wordFact, i, end int) {
	if fact.unlisted {
		return
	}
	count := len(p.marks)
	longest := p.addMarks(i)
	fact.unlisted = longest < end && len(p.marks) == count && end-i >= keyLength
}

func (p *passage) scanRune(x *factIndex, i int) int {
	r, width := utf8.DecodeRuneInString(p.folded[i:])
	isLetter := unicode.IsLetter(r)
	if unspaced(r) || !isLetter {
		p.addMarks(i)
	}
	switch {
	case r == '；' || r == '؛' || scripts.EndsSentence(r):
		p.closeSentence(i + width)
		p.openSentence(i + width)
	case isLetter && !unspaced(r):
		return p.scanWord(x, i)
	}
	return i + width
}

// scanWord adds the run of letters and digits at byte i as a token, with its entries in the word
// lists. It returns the byte offset after the run. If the run ends in a figure of two or more
// digits or with decimals, as php88 and rp1.299 do, it returns the offset of the first digit, so
// that the figure becomes a second token.
func (p *passage) scanWord(x *factIndex, i int) int {
	end := wordEnd(p.folded, i)
	word := p.folded[i:end]
	slot := x.addWord(word)
	p.addWordMarks(&x.words[slot], i, end)
	p.tokens = append(p.tokens, token{
		span:    span{int32(i), int32(end)},
		word:    slot,
		measure: -1,
	})
	if len(word) >= minBig && !p.hasBigPart {
		p.hasBigPart = slices.ContainsFunc(bigParts[:], func(part string) bool {
			return strings.Contains(word, part)
		})
	}

	digits := end
	for digits > i && isDigit(p.folded[digits-1]) {
		digits--
	}
	if digits == i || digits == end {
		return end
	}
	if _, decimals := digitsAfterMark(p.folded, end); end-digits >= 2 || decimals > 0 {
		return digits
	}
	return end
}

// minBig is the minimum number of bytes of a word in which a part that means a hundred or a
// thousand is searched, as in "vierhundert".
const minBig = 10

// wordEnd returns the end of the run of letters and digits at text[i], or i if there is none.
// Characters of scripts without blanks are not part of a run.
func wordEnd(text string, i int) int {
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

func (p *passage) scanFigure(x *factIndex, i int) int {
	n := readNumber(p.folded, i)
	t := token{
		span:    span{int32(i), int32(n.end)},
		number:  n,
		word:    -1,
		measure: -1,
	}
	if end := measureEnd(p.folded, n.end); n.plain && end > n.end {
		t.measure = x.addWord(p.folded[i:end])
	}
	letterFollows := n.end < len(p.folded) && isWordByte(p.folded[n.end])
	if n.plain || letterFollows {
		t.word = x.addWord(p.folded[i:wordEnd(p.folded, i)])
	}
	x.addNumber(&n)
	p.tokens = append(p.tokens, t)
	if letterFollows && !isDigit(p.folded[n.end]) {
		return wordEnd(p.folded, n.end)
	}
	return n.end
}

// measureEnd returns the byte offset after the word that follows a figure, as "hours" in "28
// hours"; i is the offset after the figure. It returns i if the figure is not followed by one blank
// and a word that begins with a letter.
func measureEnd(text string, i int) int {
	if i+1 >= len(text) || text[i] != ' ' || isDigit(text[i+1]) {
		return i
	}
	if end := wordEnd(text, i+1); end > i+1 {
		return end
	}
	return i
}

// endsSentence reports whether the ASCII character at byte i ends a sentence. A point between
// digits or in a row of points does not. Brackets such as those of "[system]" do, so that the text
// after an instruction to a grader is a separate sentence.
func (p *passage) endsSentence(i int) bool {
	text := p.folded
	isLast := i+1 >= len(text)
	switch text[i] {
	case '\n', '!', '?', ']', '{', '}':
		return true
	case '<':
		return !isLast && text[i+1] > ' ' && !isDigit(text[i+1]) && text[i+1] != '='
	case '>':
		return i > 0 && text[i-1] == '|'
	case '.':
		if i > 0 && text[i-1] == '.' {
			return false
		}
		return isLast || strings.IndexByte(" \n\t\"')*", text[i+1]) >= 0
	default:
		return false
	}
}
