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
	// isPart reports that a stop word that names a thing follows, as in "phone case".
	isPart bool
	// end is the index of the word after the item.
	end int
}

// noun returns the last word of the item that says what it is: "tie" of "a hair tie accessory".
func (i item) noun() *word { return i.words[i.nounAt()] }

func (i item) nounAt() int {
	last := len(i.words) - 1
	for last > 0 && loadLexicon().roles["general"][i.words[last].text] {
		last--
	}
	return last
}

// items returns the noun phrases of the text. Function words such as "brand" do not end a phrase,
// but signs, articles and links such as "with" do.
func (p *profile) items() (out []item) {
	roles := loadLexicon().roles
	var isOpen, isAsked, isLinked, isListed bool
	for i, w := range p.words {
		t := &p.tokens[i]
		if i == 0 || !t.isInPhrase() {
			isOpen = false
			isLinked = false
			isListed = t.before == ','
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
			isListed = false
			isLinked = true
		case w.content && isOpen:
			last := &out[len(out)-1]
			last.words = append(last.words, w)
			last.end = i + 1
			last.isAsked = last.isAsked || isListed && isPlural(w.text)
		case w.content:
			out = append(out, item{words: []*word{w}, end: i + 1, isAsked: isAsked || isListed && isPlural(w.text)})
			isOpen = true
			isAsked = false
		case isOpen && roles["good"][w.text]:
			out[len(out)-1].isPart = true
		case roles["offer"][w.text]:
			isOpen = false
			isAsked = true
			isLinked = false
		case isArticle(w.text) || w.text == "some":
			isOpen = false
			isAsked = !isLinked
		case w.text == "and" || w.text == "or":
			isOpen = false
			isListed = isListed || !isLinked
		}
	}
	return out
}

func isArticle(w string) bool { return w == "a" || w == "an" }

// isPlural reports whether a noun is likely a plural: one in a list without an article is a thing, where a
// property such as "regular fit" has the singular.
func isPlural(noun string) bool {
	return len(noun) > minStem && strings.HasSuffix(noun, "s") && !isSingular(noun)
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
	placeholders := p.countPlaceholders(b)
	textItems := p.items()
	textNouns := slicesx.Map(textItems, item.noun)
	for _, i := range b.items() {
		noun := i.noun()
		// A "polo" is a "polo shirt", and a noun a "silver chain" for a "silver necklace".
		allowed := slices.Concat(i.words, textNouns)
		isMissing := func(w *word) bool { return isDistinctive(w) && !p.standsFor(b, w, allowed) }
		isExact := !i.isPart && noun == i.words[len(i.words)-1]
		isLost := !p.standsFor(b, noun, allowed) && (isExact || slices.ContainsFunc(i.words, isMissing))
		if i.isAsked && isLost {
			placeholders--
			if placeholders >= 0 { // "something" stands for the noun
				continue
			}
			return fmt.Sprintf("%q is missing", joinWords(i.words))
		}
		for at, w := range i.words {
			if loadLexicon().roles["general"][w.text] || p.standsFor(b, w, allowed) {
				continue
			}
			if o := replacement(i, at, textItems, extra); o != nil {
				return fmt.Sprintf("%q became %q", w.text, o.text)
			}
		}
	}
	return ""
}

// replacement returns the word that stands in the items of a text for the word of an item of the
// request with the index missing: one of extra, directly before the noun or before the word that
// follows the missing one. It returns nil if there is none.
func replacement(i item, missing int, items []item, extra []*word) *word {
	for _, o := range items {
		for position, w := range o.words {
			isBefore := position > 0 && (areSimilar(w, i.noun()) || missing+1 < len(i.words) && areSimilar(w, i.words[missing+1]))
			if isBefore && slices.Contains(extra, o.words[position-1]) && replaces(o.words[position-1], i.words[missing]) {
				return o.words[position-1]
			}
		}
	}
	return nil
}

// itemValueDifference describes a value of a class, such as a colour or an audience, in the name of an item
// of the request b that the text p replaced by another value in front of the same noun, also if the
// request has the first value for another item too: "men's shorts" became "women's shorts" beside "a
// men's suit". It returns "" if there is none.
func itemValueDifference(b, p *profile, _ float64) string {
	textItems := p.items()
	baseItems := b.items()
	for _, i := range baseItems {
		isNamesake := func(o item) bool { return o.noun().stem == i.noun().stem }
		if !slices.ContainsFunc(textItems, isNamesake) {
			isNamesake = func(o item) bool { return areSimilar(o.noun(), i.noun()) }
		}
		named := func(o item) ([]classValue, bool) { return p.valuesOf(o), isNamesake(o) }
		others := slices.Concat(slicesx.FilterMap(textItems, named)...)
		isOnlyOne := slicesx.CountFunc(baseItems, func(o *item) bool { return isNamesake(*o) }) == 1
		values := b.valuesOf(i)
		for _, v := range values {
			if !slices.Contains(b.values, v) || slices.Contains(others, v) {
				continue
			}
			// Of two items with the noun, the other one may have the value elsewhere: "a case in red".
			isNew := func(o classValue) bool {
				return !slices.Contains(b.values, o) || isOnlyOne && loadLexicon().hard[o.class]
			}
			isOther := func(o classValue) bool {
				return o.class == v.class && !slices.Contains(values, o) && slices.Contains(p.values, o) && isNew(o)
			}
			if slices.ContainsFunc(others, isOther) {
				return fmt.Sprintf("another %s of %q", loadLexicon().names[v.class], i.noun().text)
			}
		}
	}
	return ""
}

// valuesOf returns the values of closed classes, such as colours, in the name of the item, and those of hard
// classes in its use: "a shirt for women".
func (p *profile) valuesOf(i item) (out []classValue) {
	for _, w := range i.words[:i.nounAt()] {
		out = append(out, w.classes...)
	}
	use := i.end + 1
	if use >= len(p.words) || p.tokens[i.end].text != "for" || p.words[use] == nil {
		return out
	}
	for _, v := range p.words[use].classes {
		if loadLexicon().hard[v.class] {
			out = append(out, v)
		}
	}
	return out
}

// replaces reports whether a new word may stand for another property than the missing one: it is not
// the start or end of it, as "deo" of "deodorant", nor a measure such as "small".
func replaces(added, missing *word) bool {
	roles := loadLexicon().roles
	start, isEnd := strings.CutSuffix(missing.text, added.text)
	isSame := strings.HasPrefix(missing.text, added.text) || isEnd && !roles["denying"][start]
	return !isSame && !roles["measure"][added.text]
}

// knownShare returns the share of the text's words, 0 to 1, that the lexicon or the protected
// requests have. Names of data fields are left out.
func (p *profile) knownShare() float64 {
	known := 0
	total := 0
	for i, w := range p.words {
		if w == nil || p.tokens[i].isField {
			continue
		}
		total++
		if w.known || w.isForeign {
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
