package lexical

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// item is a noun phrase of a text: its content words, of which the last one is the noun. isAsked
// reports that it likely names a thing that is asked for, and not a property as in "with free
// shipping": it begins a sentence, follows an article, or follows a word such as "sells".
type item struct {
	words   []*word
	isAsked bool
}

// items returns the noun phrases of the text. Function words such as "brand" do not end a phrase,
// but signs, articles and links such as "with" do.
func (p *profile) items() (out []item) {
	roles := loadLexicon().roles
	var isOpen, isAsked, isLinked bool
	for i, w := range p.words {
		t := &p.tokens[i]
		if i == 0 || !t.isInPhrase() {
			isOpen = false
			isLinked = false
			isAsked = i == 0 || t.followsBound()
		}
		switch {
		case w == nil:
		case w.text == "of" && isOpen && out[len(out)-1].isAsked:
			out[len(out)-1].isAsked = false // "a pack of candles"
			isOpen = false
			isAsked = true
		case roles["link"][w.text] && !p.isSought(i), w.services != 0:
			isOpen = false
			isAsked = false
			isLinked = true
		case w.content && isOpen:
			last := &out[len(out)-1]
			last.words = append(last.words, w)
		case w.content:
			out = append(out, item{[]*word{w}, isAsked})
			isOpen = true
			isAsked = false
		case roles["offer"][w.text]:
			isOpen = false
			isAsked = true
			isLinked = false
		case w.text == "a" || w.text == "an" || w.text == "some":
			isOpen = false
			isAsked = !isLinked
		case w.text == "and" || w.text == "or":
			isOpen = false
		}
	}
	return out
}

// isInPhrase reports whether the token may continue the noun phrase of the token before it: no sign
// such as a comma, and no removed bound ("from"), is between them.
func (t *token) isInPhrase() bool { return strings.IndexByte(" -'\"`\x00", t.before) >= 0 }

// isSought reports whether the token at i belongs to a verb that asks for a thing: "looking for",
// "interested in".
func (p *profile) isSought(i int) bool {
	if i == 0 {
		return false
	}
	switch p.tokens[i].text {
	case "for":
		return stem(p.tokens[i-1].text) == "look" || strings.HasPrefix(p.tokens[i-1].text, "search")
	case "in":
		return p.tokens[i-1].text == "interested"
	}
	return false
}

// minReadShare is the minimum share of known words of a text in which a missing word counts as one
// that the text lacks: words of other languages are not read.
const minReadShare = 0.7

// itemDifference describes a thing that the request b names and the text p replaced: the text has
// other words, but lacks a name or the noun of an item, or has another word in front of the noun,
// as "oil-based crayons" became "water-soluble crayons". It returns "" if there is none, or if too
// much of the text cannot be read.
func itemDifference(b, p *profile, _ float64) string {
	extra := p.wishesBeyond(b)
	if len(extra) == 0 || p.knownShare() < minReadShare {
		return ""
	}
	isMissing := func(w *word) bool { return isDistinctive(w) && !p.hasMeaning(w, nil) }
	if i := slices.IndexFunc(b.names, isMissing); i >= 0 {
		return fmt.Sprintf("%q is missing", b.names[i].text)
	}
	placeholders := p.countPlaceholders()
	textItems := p.items()
	for _, i := range b.items() {
		noun := i.words[len(i.words)-1]
		if i.isAsked && isMissing(noun) {
			placeholders--
			if placeholders >= 0 { // "something" stands for the noun
				continue
			}
			return fmt.Sprintf("%q is missing", joinWords(i.words))
		}
		missing := slices.IndexFunc(i.words, isMissing)
		if missing < 0 {
			continue
		}
		for _, o := range textItems {
			position := slices.IndexFunc(o.words, func(w *word) bool { return areSimilar(w, noun) })
			if position > 0 && slices.Contains(extra, o.words[position-1]) && replaces(o.words[position-1], i.words[missing]) {
				return fmt.Sprintf("%q became %q", i.words[missing].text, o.words[position-1].text)
			}
		}
	}
	return ""
}

// countPlaceholders returns the number of words such as "something" that are used in place of the
// noun of an item.
func (p *profile) countPlaceholders() int {
	return slicesx.CountFunc(p.tokens, func(t *token) bool { return loadLexicon().roles["placeholder"][t.text] })
}

// replaces reports whether a new word may stand for another property than the missing one: it is not
// the start of it, as "deo" of "deodorant", nor a measure such as "small".
func replaces(added, missing *word) bool {
	return !strings.HasPrefix(missing.text, added.text) && !loadLexicon().roles["measure"][added.text]
}

// negationDifference describes a word that the request b has and the text p negates, or the reverse:
// "without gemstones" became "with gemstones". It returns "" if there is none.
func negationDifference(b, p *profile, _ float64) string {
	negated := p.negations()
	for w, isNegated := range b.negations() {
		for o, isOtherNegated := range negated {
			if isNegated != isOtherNegated && isSameWord(w, o) {
				return fmt.Sprintf("%q is negated in one of the two", w.text)
			}
		}
	}
	return ""
}

// negations returns for each word of the text that says what is asked for whether it is negated. A
// word that occurs both ways is left out.
func (p *profile) negations() map[*word]bool {
	states := map[*word]bool{}
	var mixed []*word
	for i, w := range p.words {
		if w == nil || !w.content && w.services == 0 {
			continue
		}
		isNegated := p.isNegated(i)
		if before, ok := states[w]; ok && before != isNegated {
			mixed = append(mixed, w)
		}
		states[w] = isNegated
	}
	for _, w := range mixed {
		delete(states, w)
	}
	return states
}

// isSameWord reports whether two words have the same stem or are synonyms.
func isSameWord(a, b *word) bool { return a.stem == b.stem || shareElement(a.synonyms, b.synonyms) }

// knownShare returns the share of the text's words, 0 to 1, that the lexicon or the protected
// requests have.
func (p *profile) knownShare() float64 {
	known := 0
	total := 0
	for _, w := range p.words {
		if w == nil {
			continue
		}
		total++
		if w.known {
			known++
		}
	}
	return ratio(float64(known), float64(total))
}

// namePattern matches a word in upper or title case that does not begin a sentence, a line or a quotation.
var namePattern = regexp.MustCompile(`[\pL\pN,)'’] +['"(]?(\p{Lu}[\pL\pN]*)`)

// namesIn returns the content words of the request p that are names, such as brands: the text has
// them in upper or title case within a sentence, or next to the word "brand".
func (p *profile) namesIn(text string) (out []*word) {
	isName := map[string]bool{}
	for _, m := range namePattern.FindAllStringSubmatch(text, -1) {
		isName[foldText(m[1])] = true
	}
	for i, w := range p.words {
		if w == nil || !w.content {
			continue
		}
		isBrand := i+1 < len(p.words) && p.tokens[i+1].text == "brand" || i > 0 && p.tokens[i-1].text == "brand"
		if isBrand || isName[w.text] {
			out = append(out, w)
		}
	}
	return out
}
