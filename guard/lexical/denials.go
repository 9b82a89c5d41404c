package lexical

import (
	"fmt"
	"slices"
	"strings"
)

// addedDenial describes what the text p denies or excludes and the request b does not. It returns "" if
// there is nothing.
func addedDenial(b, p *profile) string {
	inBase := b.denials()
	states := b.negations()
	for _, d := range p.denials() {
		isDenied := slices.ContainsFunc(inBase, func(o denial) bool { return o.word == nil && d.word == nil && isClose(o.value, d.value) })
		switch {
		case d.word == nil:
		case d.word.services != 0:
			isDenied = b.denied&d.word.services != 0
		default:
			isSame := func(s wordState) bool { return s.isNegated() && isSameWord(s.word, d.word) }
			isDenied = !b.answers(p, d.word) || slices.ContainsFunc(states, isSame) // firstUnread reports unread ones
		}
		if !isDenied {
			return fmt.Sprintf("%q was added", d.cue)
		}
	}
	return ""
}

// denial is a word such as "without" and what it denies: a content word, a delivery term or a number. It has neither
// if it denies something in function words only.
type denial struct {
	cue   string
	word  *word
	value float64
}

// denials returns what the text denies or excludes, except for bounds, fees, and denied denials.
func (p *profile) denials() (out []denial) {
	roles := loadLexicon().roles
	for i := range p.tokens {
		isExclusion := p.isExclusion(i)
		isNegation := roles["negation"][p.textAt(i)] && !roles["exception"][p.textAt(i+1)] && !roles["negation"][p.textAt(i-1)]
		if isNegation || isExclusion && !p.isRefused(i) {
			if d, ok := p.denialFrom(i); ok {
				out = append(out, d)
			}
		}
	}
	return out
}

// denialFrom returns what the word at i denies: what follows it first in its phrase. ok is false if
// that is a fee or another denial.
func (p *profile) denialFrom(i int) (d denial, ok bool) {
	l := loadLexicon()
	d.cue = p.textAt(i)
	for i++; i < len(p.tokens) && !p.tokens[i].startsSentence() && p.tokens[i].before != ','; i++ {
		w := p.words[i]
		switch {
		case w == nil:
			d.value = p.tokens[i].value
			return d, true
		case exclusions[w.text] != 0, l.roles["negation"][w.text], l.roles["sending"][w.text], p.isExclusion(i):
			return d, false
		case w.content && !l.isTalk(w.text), w.services != 0:
			d.word = w
			return d, true
		}
	}
	return d, true
}

// negationDifference describes a word that the request b has and the text p negates, or the reverse:
// "without gemstones" became "with gemstones". Of a word that the request has both ways, a copy
// (template of at least copyTemplate) must negate as many as the request. It returns "" if there is none.
func negationDifference(b, p *profile, template float64) string {
	textStates := p.negations()
	for _, s := range b.negations() {
		for _, o := range textStates {
			isOther := s.isNegated() != o.isNegated() && !s.isMixed()
			isLost := template >= copyTemplate && s.isMixed() && s.negated != o.negated
			if (isOther || isLost) && isSameWord(s.word, o.word) {
				return fmt.Sprintf("%q is negated in one of the two", s.word.text)
			}
		}
	}
	return ""
}

// wordState is a word of a text, and how often the text has it in any of its forms, and negates it.
type wordState struct {
	word           *word
	total, negated int
}

func (s wordState) isNegated() bool { return s.negated > 0 }

// isMixed reports whether the text negates the word only in some places.
func (s wordState) isMixed() bool { return s.negated > 0 && s.negated < s.total }

// negations returns for each stem of the text that says what is asked for how often it is negated, in
// the order of the text. "Unscented" negates "scented".
func (p *profile) negations() (states []wordState) {
	indices := map[uint64]int{}
	add := func(w *word, isNegated bool) {
		at, ok := indices[w.hash]
		if !ok {
			at = len(states)
			indices[w.hash] = at
			states = append(states, wordState{word: w})
		}
		states[at].total++
		if isNegated {
			states[at].negated++
		}
	}
	for i, w := range p.words {
		if w == nil || !w.content && w.services == 0 {
			continue
		}
		isNegated := p.isNegated(i)
		add(w, isNegated)
		if o := w.deniedPart(); o != nil {
			add(o, !isNegated)
		}
	}
	return states
}

// deniedPart returns the word that a prefix or an ending of w denies: "scented" of "unscented", "strap" of
// "strapless". It returns nil if there is none.
func (w *word) deniedPart() *word {
	start := w.text
	for _, ending := range []string{"less", "free"} {
		start = strings.TrimSuffix(start, ending)
	}
	for _, prefix := range []string{"un", "non"} {
		start = strings.TrimPrefix(start, prefix)
	}
	if start == w.text || len(start) < minStem || len(w.classes) > 0 { // "cordless" is a value itself
		return nil
	}
	part := &word{text: start, stem: stem(start)}
	part.hash = hashStem(part.stem)
	part.synonyms = loadLexicon().synonyms[part.stem]
	return part
}

// denies reports whether a prefix or an ending of a denies b, as "unscented" does "scented".
func denies(a, b *word) bool {
	part := a.deniedPart()
	return part != nil && part.hash == b.hash
}
