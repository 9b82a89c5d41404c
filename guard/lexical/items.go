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

func (i item) noun() *word { return i.words[len(i.words)-1] }

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
	isNameMissing := func(w *word) bool { return isDistinctive(w) && !p.standsFor(b, w, nil) }
	if i := slices.IndexFunc(b.names, isNameMissing); i >= 0 {
		return fmt.Sprintf("%q is missing", b.names[i].text)
	}
	placeholders := p.countPlaceholders()
	textItems := p.items()
	textNouns := slicesx.Map(textItems, item.noun)
	for _, i := range b.items() {
		noun := i.noun()
		// A "polo" is a "polo shirt", and a noun a "silver chain" for a "silver necklace".
		allowed := slices.Concat(i.words, textNouns)
		isMissing := func(w *word) bool { return isDistinctive(w) && !p.standsFor(b, w, allowed) }
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

// standsFor reports whether the text p has a content word for the word w of another text: one that is
// similar to w, but not another word of that text, as "bolt" is no word for the "screw" of a request
// for both. The words of allowed may stand for w nonetheless.
func (p *profile) standsFor(other *profile, w *word, allowed []*word) bool {
	return slices.ContainsFunc(p.content, func(o *word) bool {
		return areSimilar(w, o) && (o.stem == w.stem || !hasHash(other.distinct, o.hash) || hasHash(allowed, o.hash))
	})
}

// countPlaceholders returns the number of words such as "something" that are used in place of the
// noun of an item. In "two things" the word is used for all items.
func (p *profile) countPlaceholders() int {
	n := 0
	for i := range p.tokens {
		isOfAll := i > 0 && (p.words[i-1] == nil || p.words[i-1].counts != 0)
		if loadLexicon().roles["placeholder"][p.tokens[i].text] && !isOfAll {
			n++
		}
	}
	return n
}

// replaces reports whether a new word may stand for another property than the missing one: it is not
// the start of it, as "deo" of "deodorant", nor a measure such as "small".
func replaces(added, missing *word) bool {
	return !strings.HasPrefix(missing.text, added.text) && !loadLexicon().roles["measure"][added.text]
}

// materialDifference describes a material that the request b names and the text p replaced, also one
// that the lexicon does not know: "made of triacetate" became "made of straw", or "cotton". It
// returns "" if there is none.
func materialDifference(b, p *profile, _ float64) string {
	class := uint8(slices.Index(loadLexicon().names, "material"))
	isLost := func(w *word) bool { return !p.standsFor(b, w, nil) }
	isNew := func(w *word) bool { return !b.standsFor(p, w, nil) }
	lost := slices.IndexFunc(b.materials(), isLost)
	if lost >= 0 && (lacks(p.values, b.values, class) || slices.ContainsFunc(p.materials(), isNew)) {
		return fmt.Sprintf("another material than %q", b.materials()[lost].text)
	}
	return ""
}

// materials returns the content words that follow words such as "made of", each a material. The
// "from" of a bound may have been removed before them.
func (p *profile) materials() (out []*word) {
	roles := loadLexicon().roles
	for i := 1; i < len(p.words); i++ {
		t := &p.tokens[i]
		if !roles["making"][p.tokens[i-1].text] || !roles["outof"][t.text] && t.before != boundSign {
			continue
		}
		j := i
		for j+1 < len(p.words) && (p.words[j] == nil || roles["outof"][p.tokens[j].text]) {
			j++ // "of 100 % cotton"
		}
		if w := p.words[j]; w != nil && w.content {
			out = append(out, w)
		}
	}
	return out
}

// negationDifference describes a word that the request b has and the text p negates, or the reverse:
// "without gemstones" became "with gemstones". It returns "" if there is none.
func negationDifference(b, p *profile, _ float64) string {
	textStates := p.negations()
	for _, s := range b.negations() {
		for _, o := range textStates {
			if s.negation != bothWays && s.negation != o.negation && isSameWord(s.word, o.word) {
				return fmt.Sprintf("%q is negated in one of the two", s.word.text)
			}
		}
	}
	return ""
}

// negation says whether a text negates a word: never, each time, or only in some places.
type negation int

const (
	affirmed negation = iota
	negated
	bothWays
)

// wordState is a word of a text, and whether the text negates it.
type wordState struct {
	word     *word
	negation negation
}

// negations returns for each word of the text that says what is asked for whether it is negated, in
// the order of the text.
func (p *profile) negations() (states []wordState) {
	indices := map[*word]int{}
	for i, w := range p.words {
		if w == nil || !w.content && w.services == 0 {
			continue
		}
		state := affirmed
		if p.isNegated(i) {
			state = negated
		}
		at, ok := indices[w]
		switch {
		case !ok:
			indices[w] = len(states)
			states = append(states, wordState{w, state})
		case states[at].negation != state:
			states[at].negation = bothWays
		}
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
