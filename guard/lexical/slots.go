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
	if difference := letterDifference(b, p); difference != "" {
		return difference
	}
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

// letterDifference describes a letter that the text p replaced after the same word: "model c" became "model d".
// It returns "" if there is none.
func letterDifference(b, p *profile) string {
	letters := func(o *profile) (out []int) {
		for i := 1; i < len(o.words); i++ {
			if o.words[i] != nil && isLetter(o.words[i]) && o.words[i-1] != nil && o.tokens[i].isBeside() {
				out = append(out, i)
			}
		}
		return out
	}
	for _, i := range letters(b) {
		for _, j := range letters(p) {
			isSameWord := b.words[i-1].hash == p.words[j-1].hash
			if isSameWord && !p.hasWord(b.words[i]) && !b.hasWord(p.words[j]) {
				return fmt.Sprintf("%s %s became %s", b.words[i-1].text, b.words[i].text, p.words[j].text)
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
		if p.isPairAt(i) && !b.hasPair() {
			return "quantity 2 was added"
		}
		value, ok := p.amountAt(i)
		if !ok || value < 2 || b.hasAmount(value) {
			continue
		}
		if p.words[i] != nil && p.isCountOfOne(b, i) {
			return fmt.Sprintf("quantity %v was added", value)
		}
		isBefore := i+1 < len(p.tokens) && measures[p.tokens[i+1].text] && p.tokens[i+1].isNextWord() && !p.isSum(i+2)
		isAfter := i > 1 && p.tokens[i-1].text == "of" && measures[p.tokens[i-2].text]
		if isBefore || isAfter {
			return fmt.Sprintf("quantity %v was added", value)
		}
	}
	return ""
}

// codeDifference describes the code of a model, letters with digits, of which the request b has neither: "DS18".
// It returns "" if there is none.
func codeDifference(b, p *profile, _ float64) string {
	for i := range p.tokens {
		t := &p.tokens[i]
		isCode := i > 0 && t.isNumber() && t.unit == 0 && t.before == 0 && p.words[i-1] != nil && isASCII(p.tokens[i-1].text)
		if !isCode || loadLexicon().roles["slot"][p.tokens[i-1].text] || b.hasAmount(t.value) || b.hasWord(p.words[i-1]) {
			continue
		}
		return fmt.Sprintf("model %s%v was added", p.tokens[i-1].text, t.written)
	}
	return ""
}

// isCountOfOne reports whether the word at i counts a thing of which the request b asks for one: "two desk
// fans" for "a desk fan".
func (p *profile) isCountOfOne(b *profile, i int) bool {
	thing := p.nounAfter(i)
	return thing != nil && isPlural(thing.text) && b.countOf(thing) == 1 && slices.ContainsFunc(b.items(), func(o item) bool {
		return o.isAsked && o.isOne && areSimilar(o.noun(), thing) && !isPlural(o.noun().text)
	})
}

// nounAfter returns the last word of the noun phrase that begins after the word at i, nil if none does.
func (p *profile) nounAfter(i int) (noun *word) {
	for i++; i < len(p.tokens) && p.tokens[i].isNextWord() && p.words[i] != nil && p.words[i].content; i++ {
		noun = p.words[i]
	}
	return noun
}

// isPairAt reports whether the text has "a pair of" at i for two things, and not for one such as gloves.
func (p *profile) isPairAt(i int) bool {
	if i == 0 || i+2 >= len(p.tokens) || p.tokens[i].text != "pair" || p.tokens[i-1].text != "a" || p.tokens[i+1].text != "of" {
		return false
	}
	paired := loadLexicon().roles["paired"]
	for j := i + 2; j < len(p.tokens) && (j == i+2 || p.tokens[j].isInPhrase()); j++ {
		if paired[p.tokens[j].text] {
			return false
		}
	}
	return true
}

// hasPair reports whether the text asks for two of something.
func (p *profile) hasPair() bool {
	return p.hasAmount(2) || slices.ContainsFunc(p.tokens, func(t token) bool {
		return t.text == "pair" || t.text == "pairs" || t.text == "both" || t.text == "couple"
	})
}

// isSum reports whether the words from i on say that a number counts everything: "four pieces in all".
func (p *profile) isSum(i int) bool {
	return i < len(p.tokens) && (p.tokens[i].text == "altogether" || p.tokens[i].text == "total" || p.tokens[i].text == "in")
}

// hasAmount reports whether the text has the number v in digits, whatever its unit, or in words.
func (p *profile) hasAmount(v float64) bool {
	return p.hasCount(v) || slices.ContainsFunc(p.numbers, func(n number) bool { return isClose(n.written, v) || isClose(n.value, v) })
}
