package lexical

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// isBeside reports whether nothing but white space, a hyphen or a colon is between the token and the
// one before it.
func (t *token) isBeside() bool { return t.before == 0 || t.before == ':' || t.isNextWord() }

// letterDifference describes a letter that the text p replaced after the same word, or added after
// a word such as "model": "type c" became "type d". It returns "" if there is none.
func letterDifference(b, p *profile, _ float64) string {
	old := b.letters()
	for _, o := range p.letters() {
		if slices.ContainsFunc(old, func(s lettered) bool { return s.letter == o.letter }) {
			continue
		}
		for _, s := range old {
			isLost := !slices.ContainsFunc(p.letters(), func(o lettered) bool { return o.letter == s.letter })
			if s.label == o.label && isLost {
				return fmt.Sprintf("%s %s became %s", s.label, s.letter, o.letter)
			}
		}
		if loadLexicon().roles["label"][o.label] && !slices.ContainsFunc(b.tokens, func(t token) bool { return t.text == o.letter }) {
			return fmt.Sprintf("%s %s was added", o.label, o.letter)
		}
	}
	return ""
}

// lettered is a letter of a text and the word beside it: "c" of "type c", "l" of "l-shaped".
type lettered struct{ label, letter string }

// letters returns the letters of the text that stand after a word. A phrase such as "type c" is one
// word of it.
func (p *profile) letters() (out []lettered) {
	for i, w := range p.words {
		switch {
		case w == nil:
		case w.text == "typec":
			out = append(out, lettered{"type", "c"})
		case !isLetter(w):
		case i > 0 && p.words[i-1] != nil && p.tokens[i].isBeside():
			out = append(out, lettered{p.words[i-1].stem, w.text})
		case i+1 < len(p.words) && p.words[i+1] != nil && p.tokens[i+1].before == '-':
			out = append(out, lettered{p.words[i+1].stem, w.text})
		}
	}
	return out
}

// textAt returns the text of the token at i, "" if there is none.
func (p *profile) textAt(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].text
}

// countAsked returns how many things the text asks for.
func (p *profile) countAsked() int {
	return slicesx.CountFunc(p.items(), func(i *item) bool { return i.isAsked })
}

// nounAfter returns the last word of the noun phrase that begins after the word at i, nil if none does.
func (p *profile) nounAfter(i int) (noun *word) {
	for i++; i < len(p.tokens) && p.tokens[i].isNextWord() && p.words[i] != nil && p.words[i].content; i++ {
		noun = p.words[i]
	}
	return noun
}

// hasPair reports whether the text asks for two of something.
func (p *profile) hasPair() bool {
	return p.hasAmount(2) || p.namesPair() || slices.ContainsFunc(p.tokens, func(t token) bool { return t.text == "both" })
}

// namesPair reports whether the text has a word for two things of one kind.
func (p *profile) namesPair() bool {
	return slices.ContainsFunc(p.tokens, func(t token) bool { return t.text == "pair" || t.text == "pairs" || t.text == "couple" })
}

// hasAmount reports whether the text has the number v in digits, whatever its unit, or in words.
func (p *profile) hasAmount(v float64) bool {
	return p.hasCount(v) || slices.ContainsFunc(p.numbers, func(n number) bool { return isClose(n.written, v) || isClose(n.value, v) })
}

// countAt returns the number at token i, in digits without a unit or in words, that may count things. It
// is 0 if there is none.
func (p *profile) countAt(i int) float64 {
	t := &p.tokens[i]
	switch {
	case !t.isNumber():
		return float64(loadLexicon().numerals[t.text])
	case t.unit == 0 && t.direction == undirected && !t.isPrice:
		return t.value
	}
	return 0
}

// countNumbers returns how often the text has each number, in digits or in words, whatever it says.
func (p *profile) countNumbers() map[float64]int {
	counts := map[float64]int{}
	for i := range p.tokens {
		t := &p.tokens[i]
		switch v, isNumeral := loadLexicon().numerals[t.text]; {
		case isNumeral:
			counts[float64(v)]++
		case t.isNumber():
			counts[t.value]++
			if t.written != t.value {
				counts[t.written]++
			}
		}
	}
	return counts
}
