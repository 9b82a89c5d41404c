package lexical

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
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

// letterDifference describes a letter that the text p replaced after the same word, or added after
// a word such as "model": "type c" became "type d". It returns "" if there is none.
func letterDifference(b, p *profile) string {
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

// quantityDifference describes how many the text p asks for if the request b does not have this
// number: "a bottle" became "two bottles". It returns "" if there is no such number.
func quantityDifference(b, p *profile, _ float64) string {
	for i := range p.tokens {
		if p.isPairAt(i) && !b.hasPair() {
			return "quantity 2 was added"
		}
		value, ok := p.amountAt(i)
		isPair := value == 2 && b.namesPair()
		if !ok || value < 2 || isPair || p.countAmount(value) <= b.countAmount(value) {
			continue
		}
		isOfNamed := p.isCountOfNamed(i) && b.countAsked() < 2
		isNew := !b.hasAmount(value) && (isOfNamed || p.isCountOfPacks(i))
		if isNew || p.isCountOfOne(b, i) {
			return fmt.Sprintf("quantity %v was added", value)
		}
	}
	return ""
}

// isCountOfPacks reports whether the number at i counts packs: "two more bottles", "packs of twelve".
func (p *profile) isCountOfPacks(i int) bool {
	roles := loadLexicon().roles
	next := i + 1
	if p.textAt(next) == "more" {
		next++
	}
	isBefore := roles["container"][p.textAt(next)] && p.tokens[next].isNextWord() && !p.isSum(next+1)
	return isBefore || p.textAt(i-1) == "of" && roles["container"][p.textAt(i-2)]
}

// isCountOfNamed reports whether the number at i counts things that were named before: "four of them".
func (p *profile) isCountOfNamed(i int) bool {
	isLast := i+3 >= len(p.tokens) || !p.tokens[i+3].isNextWord()
	return p.textAt(i+1) == "of" && loadLexicon().roles["known"][p.textAt(i+2)] && isLast
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

// codeDifference describes the code of a model, letters with digits, of which the request b has
// neither: "DS18". It returns "" if there is none.
func codeDifference(b, p *profile, _ float64) string {
	for i := range p.tokens {
		t := &p.tokens[i]
		next := p.textAt(i + 1)
		if t.isNumber() && loadLexicon().roles["variant"][next] && p.tokens[i+1].isNextWord() && !slices.ContainsFunc(b.tokens, func(o token) bool { return o.text == next }) {
			return fmt.Sprintf("model %v %s was added", t.written, next)
		}
		isCode := i > 0 && t.isNumber() && t.unit == 0 && t.before == 0 && p.words[i-1] != nil && isASCII(p.tokens[i-1].text)
		if !isCode || loadLexicon().roles["slot"][p.tokens[i-1].text] || b.hasAmount(t.value) || b.hasWord(p.words[i-1]) {
			continue
		}
		return fmt.Sprintf("model %s%v was added", p.tokens[i-1].text, t.written)
	}
	return ""
}

// isCountOfOne reports whether the number at i counts a thing that the request b names once, and
// not as one of several: "two desk fans" for "a desk fan".
func (p *profile) isCountOfOne(b *profile, i int) bool {
	thing := p.nounAfter(i)
	if slices.ContainsFunc(b.tokens, func(t token) bool { return loadLexicon().roles["next"][t.text] }) {
		return false
	}
	return thing != nil && isPlural(thing.text) && b.countOf(thing) == 1 && slices.ContainsFunc(b.items(), func(o item) bool {
		return o.isAsked && areSimilar(o.noun(), thing)
	})
}

// nounAfter returns the last word of the noun phrase that begins after the word at i, nil if none does.
func (p *profile) nounAfter(i int) (noun *word) {
	for i++; i < len(p.tokens) && p.tokens[i].isNextWord() && p.words[i] != nil && p.words[i].content; i++ {
		noun = p.words[i]
	}
	return noun
}

// isPairAt reports whether the text has "pair of" at i for two things, and not for one such as gloves.
func (p *profile) isPairAt(i int) bool {
	if i+2 >= len(p.tokens) || p.tokens[i].text != "pair" || p.tokens[i+1].text != "of" {
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
	return p.hasAmount(2) || p.namesPair() || slices.ContainsFunc(p.tokens, func(t token) bool { return t.text == "both" })
}

// namesPair reports whether the text has a word for two things of one kind.
func (p *profile) namesPair() bool {
	return slices.ContainsFunc(p.tokens, func(t token) bool { return t.text == "pair" || t.text == "pairs" || t.text == "couple" })
}

// countAmount returns how often the text has the number v, in digits or in a word.
func (p *profile) countAmount(v float64) int {
	n := 0
	for i := range p.tokens {
		if value, ok := p.amountAt(i); ok && isClose(value, v) {
			n++
		}
	}
	return n
}

// isSum reports whether the words from i on say that a number counts everything: "four pieces in all".
func (p *profile) isSum(i int) bool {
	return i < len(p.tokens) && (p.tokens[i].text == "altogether" || p.tokens[i].text == "total" || p.tokens[i].text == "in")
}

// hasAmount reports whether the text has the number v in digits, whatever its unit, or in words.
func (p *profile) hasAmount(v float64) bool {
	return p.hasCount(v) || slices.ContainsFunc(p.numbers, func(n number) bool { return isClose(n.written, v) || isClose(n.value, v) })
}
