package lexical

import (
	"math"
	"slices"
)

// profile is a parsed text: its words, its numbers, and what it asks for.
type profile struct {
	// lexicon is set for protected requests only.
	lexicon *lexicon
	tokens  []token
	words   []*word // of each token, nil for numbers
	// content holds the content words in order, numbers the distinct amounts, services the bit set
	// of the delivery terms, and values the values of closed classes, such as colours.
	content  []*word
	numbers  []number
	weights  []float64 // of numbers, cached by Index.numberWeights
	services uint8
	// denied is the bit set of the delivery terms that the text excludes, as "paid shipping"
	// excludes free shipping.
	denied  uint8
	values  []classValue
	bigrams []uint64 // hashes of adjacent words, cached by wordPairs
	// distinct holds each content word once, by stem.
	distinct []*word
	// names holds the content words that are names. It is set for protected requests only.
	names []*word
	// counts is a bit set of the numbers 0 to 31 that the text has in words.
	counts uint32
}

// number is an amount in a text, with every bound (at least, at most) that the text uses it as.
type number struct {
	value float64
	unit  unitName
	// written is the value as written, before its unit was applied.
	written float64
	// directions is a bit set of 1<<direction.
	directions uint8
}

// isSameAmount reports whether two numbers may be the same amount. If their units are equal, it
// compares their values. If only one has a unit, it compares the numbers as written, and both or
// neither must be a bound, since a bound without a unit ("above 12") is a price. Amounts that were
// converted from another currency are compared by isSameMoney.
func (n number) isSameAmount(o number) bool {
	if n.unit == money || o.unit == money {
		return n.isSameMoney(o)
	}
	if n.unit == o.unit {
		return isClose(n.value, o.value)
	}
	if n.unit != 0 && o.unit != 0 {
		return false
	}
	return isClose(n.written, o.written) && n.isBound() == o.isBound()
}

func isClose(a, b float64) bool {
	diff := a - b
	return diff == 0 || diff < 1e-9*a && diff > -1e-9*a
}

// services maps the words that stand for delivery terms in a parsed text to the bit of each term.
var services = map[string]uint8{"svccod": 1, "svcfree": 2, "svcmall": 4, "svcflash": 8}

// exclusions maps the words that exclude a delivery term, such as paid shipping, to the bit of the term.
var exclusions = map[string]uint8{"svcprepaid": 1, "svcpaid": 2}

var serviceNames = []string{"cash on delivery", "free shipping", "LazMall", "LazFlash"}

func newProfile(tokens []token, read func(string) *word) *profile {
	p := newTokenProfile(tokens, read)
	p.collect()
	return p
}

// newTokenProfile returns a profile (parsed text) that has only the tokens and the words. The
// method collect computes the other fields. A long text is split into parts first, and then the
// fields are computed for each part alone.
func newTokenProfile(tokens []token, read func(string) *word) *profile {
	p := &profile{
		tokens: tokens,
		words:  make([]*word, len(tokens)),
	}
	for i := range tokens {
		if !tokens[i].isNumber() {
			p.words[i] = read(tokens[i].text)
		}
	}
	p.keepEnglish()
	return p
}

// languageReach is how many tokens before and after a word show the language that it is of, and
// minForeign is by how much the words of other languages, the word itself included, must outnumber
// those of English grammar.
const (
	languageReach = 6
	minForeign    = 2
)

// keepEnglish takes back the translation of a word that stands in English: "red roses in a vase"
// are not pink, as "rosas" may be. A word that English has too shows no language.
func (p *profile) keepEnglish() {
	roles := loadLexicon().roles
	// foreign[i] is the number of foreign words before token i minus that of English ones.
	foreign := make([]int, len(p.tokens)+1)
	for i, w := range p.words {
		foreign[i+1] = foreign[i]
		switch {
		case w == nil:
		case w.isForeign, roles["foreign"][w.text]:
			foreign[i+1]++
		case roles["english"][w.text]:
			foreign[i+1]--
		}
	}
	for i, w := range p.words {
		start := max(0, i-languageReach)
		end := min(len(p.words), i+1+languageReach)
		if w != nil && w.untranslated != nil && foreign[end]-foreign[start] < minForeign {
			p.words[i] = w.untranslated
		}
	}
}

// slice returns a complete profile of the tokens p.tokens[start:end].
func (p *profile) slice(start, end int) *profile {
	q := &profile{
		tokens: p.tokens[start:end],
		words:  p.words[start:end],
	}
	q.collect()
	return q
}

// collect computes the numbers, content words, delivery terms and values of classes (such as
// colours) of a profile from its tokens and words.
func (p *profile) collect() {
	for i := range p.tokens {
		if t := &p.tokens[i]; t.isNumber() {
			p.addNumber(t)
			continue
		}
		w := p.words[i]
		p.addService(i)
		p.counts |= w.counts
		for _, v := range w.classes {
			if !slices.Contains(p.values, v) && p.isProperty(i, v) && !p.isNegated(i) {
				p.values = append(p.values, v)
			}
		}
		if w.content {
			p.content = append(p.content, w)
			if !hasHash(p.distinct, w.hash) {
				p.distinct = append(p.distinct, w)
			}
		}
	}
}

// addService adds the delivery term for which the word at i stands to those that the text asks for or
// excludes.
func (p *profile) addService(i int) {
	w := p.words[i]
	asked := w.services
	excluded := exclusions[w.text]
	if asked|excluded != 0 && p.isNegated(i) {
		asked, excluded = excluded, asked
	}
	p.services |= asked
	p.denied |= excluded
}

// isProperty reports whether the word at i, which may stand for the value v of a class, says so of
// a thing: a stop word such as "right" or "back" does only in front of a content word, as in "right
// mirror". Words of a class that is named like a role always do.
func (p *profile) isProperty(i int, v classValue) bool {
	l := loadLexicon()
	switch {
	case p.words[i].text == "fewproducts":
		return p.isOfRebate(i)
	case !l.stop[p.words[i].text] || l.roles[l.names[v.class]] != nil:
		return true
	case l.roles["owner"][p.textAt(i-1)]:
		return p.textAt(i-2) == "for" // "for my son", not "my son asks"
	}
	next := i + 1
	return next < len(p.words) && p.words[next] != nil && p.words[next].content && p.tokens[next].isInPhrase()
}

// isOfRebate reports whether a word such as "discount" is in the sentence of the word at i:
// elsewhere "some items" are those that are asked for.
func (p *profile) isOfRebate(i int) bool {
	words := loadLexicon().roles["rebate"]
	start := i
	for start > 0 && !p.tokens[start].startsSentence() {
		start--
	}
	for j := start; j < len(p.tokens) && (j == start || !p.tokens[j].startsSentence()); j++ {
		if words[p.tokens[j].text] {
			return true
		}
	}
	return false
}

func hasHash(words []*word, hash uint64) bool {
	for _, w := range words {
		if w.hash == hash {
			return true
		}
	}
	return false
}

// isNegated reports whether the word at i is negated or excluded: by a word such as "not", "without" or
// "except" before it, or by "free" after it. Between the two may be stop words, but none after which the
// negation means something else, as in "not to" and "not only".
func (p *profile) isNegated(i int) bool {
	roles := loadLexicon().roles
	if next := i + 1; next < len(p.tokens) && p.tokens[next].text == "free" && p.tokens[next].isNextWord() {
		return true
	}
	if p.isDenied(i) {
		return true
	}
	if p.isAlternative(i) {
		return p.isNegated(i - 2) // "not red or blue"
	}
	isNegated := false
	for j := i - 1; j >= 0; j-- {
		w := p.tokens[j].text
		next := &p.tokens[j+1]
		isFree := w == "free" && (next.before == boundSign || next.text == "of")
		switch {
		case isNegated && (w == "and" || w == "or"): // "needn't and shouldn't be" is negated once
			return true
		case !isNegated && next.isInPhrase() && p.isExclusion(j):
			return !p.isRefused(j) // "nothing but black" asks for black
		case isFree, roles["negation"][w] && next.isInPhrase():
			isNegated = !isNegated // "not without"
		case !next.isInPhrase(), !loadLexicon().stop[w], roles["exception"][w]:
			return isNegated
		}
	}
	return isNegated
}

// isExclusion reports whether the word at i excludes what follows it from all that is said before: "except",
// "other than", and "but" after a word such as "any".
func (p *profile) isExclusion(i int) bool {
	roles := loadLexicon().roles
	switch w := p.tokens[i].text; {
	case roles["excluding"][w]:
		return true
	case w == "than":
		return i > 0 && p.tokens[i-1].text == "other"
	case w == "but":
		for j := i - 1; j >= 0 && j >= i-cueReach && p.tokens[j+1].isInPhrase(); j-- {
			if roles["every"][p.tokens[j].text] || roles["negation"][p.tokens[j].text] {
				return true
			}
		}
	}
	return false
}

// isRefused reports whether a negation applies to the exclusion at i, so that it asks for what it
// names: "nothing but black", "it can't be anything except black".
func (p *profile) isRefused(i int) bool {
	roles := loadLexicon().roles
	isEvery := false
	for j := i - 1; j >= 0 && j >= i-cueReach && !p.tokens[j+1].startsSentence(); j-- {
		switch w := p.tokens[j].text; {
		case roles["negation"][w]:
			return true
		case isEvery && !loadLexicon().stop[w]:
			return false
		case roles["every"][w]:
			isEvery = true
		}
	}
	return false
}

// isAlternative reports whether "or" is between the word at i and a content word.
func (p *profile) isAlternative(i int) bool {
	isOther := i >= 2 && p.words[i-2] != nil && p.words[i-2].content && p.tokens[i].isInPhrase()
	return isOther && (p.tokens[i-1].text == "or" || p.tokens[i-1].text == "nor")
}

// isDenied reports whether the word at i is negated by the words after it: "installation not included".
func (p *profile) isDenied(i int) bool {
	roles := loadLexicon().roles
	hasNegation := false
	for j := i + 1; j < len(p.tokens) && p.tokens[j].isInPhrase(); j++ {
		w := p.tokens[j].text
		switch {
		case roles["negation"][w]:
			hasNegation = true
		case roles["granted"][w]:
			return hasNegation
		case roles["barred"][w]:
			return !hasNegation
		case !loadLexicon().stop[w]:
			return false
		}
	}
	return false
}

// hasCount reports whether the text has the number v, 0 to 31, as a word such as "two".
func (p *profile) hasCount(v float64) bool {
	if v < 0 || v >= 32 || v != math.Trunc(v) {
		return false
	}
	return p.counts&(1<<uint(v)) != 0
}

// number returns the number of the token.
func (t *token) number() number {
	return number{value: t.value, unit: t.unit, written: t.written, directions: 1 << t.direction}
}

// addNumber adds the number of a token to p.numbers. If p has an equal amount already, it only adds
// to it whether the token is a bound (at least, at most).
func (p *profile) addNumber(t *token) {
	n := t.number()
	for i := range p.numbers {
		if p.numbers[i].isSameAmount(n) {
			p.numbers[i].directions |= 1 << t.direction
			return
		}
	}
	p.numbers = append(p.numbers, n)
}

// wordPairs returns a hash of each pair of neighbouring words, sorted and without duplicates. It
// computes the hashes on the first call only, since most texts are compared with no request.
func (p *profile) wordPairs() []uint64 {
	if p.bigrams != nil {
		return p.bigrams
	}
	var last uint64
	p.bigrams = make([]uint64, 0, len(p.words))
	for _, w := range p.words {
		if w == nil {
			continue
		}
		if last != 0 {
			p.bigrams = append(p.bigrams, last*31+w.hash)
		}
		last = w.hash
	}
	slices.Sort(p.bigrams)
	p.bigrams = slices.Compact(p.bigrams)
	return p.bigrams
}

// countShared counts the values that two sorted lists without duplicates have in common.
func countShared(a, b []uint64) int {
	n := 0
	i := 0
	j := 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			n++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}
