package lexical

import (
	"fmt"
	"slices"
)

// counted is a number with the word beside it, which says what the number counts or measures: "size 8",
// "w9", "12 packs".
type counted struct {
	hash    uint64 // of the word's stem
	isAfter bool   // the word is after the number
	value   float64
	unit    unitName
	word    *word
}

// slots returns the numbers of the text that have a word right before or after them.
func (p *profile) slots() (out []counted) {
	for i := range p.tokens {
		value, ok := p.amountAt(i)
		if !ok {
			continue
		}
		if i > 0 && p.words[i-1] != nil && isSlotWord(p.words[i-1]) && p.tokens[i].isBeside() {
			out = append(out, counted{p.words[i-1].hash, false, value, p.tokens[i].unit, p.words[i-1]})
		}
		if next := i + 1; next < len(p.tokens) && p.words[next] != nil && isSlotWord(p.words[next]) && p.tokens[next].isBeside() {
			out = append(out, counted{p.words[next].hash, true, value, p.tokens[i].unit, p.words[next]})
		}
	}
	return out
}

// isBeside reports whether nothing but white space, a hyphen or a colon is between the token and the
// one before it.
func (t *token) isBeside() bool { return t.before == 0 || t.before == ':' || t.isNextWord() }

// isSlotWord reports whether w may say what a number beside it means.
func isSlotWord(w *word) bool { return w.content || isLetter(w) || loadLexicon().roles["slot"][w.text] }

// amountAt returns the number at token i: digits, or a word such as "two". A bound such as "above 12"
// is a price, which says nothing of the word beside it.
func (p *profile) amountAt(i int) (float64, bool) {
	w := p.words[i]
	if w == nil {
		return p.tokens[i].value, p.tokens[i].direction == undirected && !p.tokens[i].isPrice
	}
	if v, ok := loadLexicon().numerals[w.text]; ok {
		return float64(v), true
	}
	class := slices.Index(loadLexicon().names, "count")
	for _, v := range w.classes {
		if int(v.class) == class {
			return float64(v.value) + 1, true // "double"
		}
	}
	return 0, false
}

// slotDifference describes a number that the text p replaced beside the same word: "size 8" became
// "size 9", where both numbers may occur elsewhere in both texts. It compares no measure with a count, as in
// "50 ml bottle" and "2 bottles". It returns "" if there is none.
func slotDifference(b, p *profile, _ float64) string {
	textSlots := p.slots()
	baseSlots := b.slots()
	has := func(list []counted, s counted) bool {
		return slices.ContainsFunc(list, func(o counted) bool { return o.hash == s.hash && o.value == s.value })
	}
	for _, s := range baseSlots {
		for _, o := range textSlots {
			isOther := o.hash == s.hash && o.isAfter == s.isAfter && o.unit == s.unit && !has(baseSlots, o)
			if isOther && (!has(textSlots, s) || !b.hasAmount(o.value)) {
				return fmt.Sprintf("%v became %v beside %q", s.value, o.value, s.word.text)
			}
		}
	}
	return ""
}

// quantityDifference describes how many the text p asks for if the request b does not have this
// number: "a bottle" became "two bottles". It returns "" if there is no such number.
func quantityDifference(b, p *profile, _ float64) string {
	measures := loadLexicon().roles["container"]
	for i := range p.tokens {
		value, ok := p.amountAt(i)
		if !ok || value < 2 || b.hasAmount(value) {
			continue
		}
		isBefore := i+1 < len(p.tokens) && measures[p.tokens[i+1].text] && p.tokens[i+1].isNextWord() && !p.isSum(i+2)
		isAfter := i > 1 && p.tokens[i-1].text == "of" && measures[p.tokens[i-2].text]
		if isBefore || isAfter {
			return fmt.Sprintf("quantity %v was added", value)
		}
	}
	return ""
}

// isSum reports whether the words from i on say that a number counts everything: "four pieces in all".
func (p *profile) isSum(i int) bool {
	return i < len(p.tokens) && (p.tokens[i].text == "altogether" || p.tokens[i].text == "total" || p.tokens[i].text == "in")
}

// hasAmount reports whether the text has the number v in digits, whatever its unit, or in words.
func (p *profile) hasAmount(v float64) bool {
	return p.hasCount(v) || slices.ContainsFunc(p.numbers, func(n number) bool { return isClose(n.written, v) || isClose(n.value, v) })
}
