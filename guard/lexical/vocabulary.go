package lexical

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// vocabulary holds the stem of every word in the protected requests and in the titles and options
// of their items, with a weight. It finds the stems that a word of a text may correspond to.
type vocabulary struct {
	lexicon *lexicon

	ids    map[string]int32
	stems  []string
	weight []float32
	// sorted lists the ids by stem, to find words with a common prefix.
	sorted []int32
	// groups maps each group of synonyms to the ids of its stems.
	groups map[int32][]int32
	// deletions maps each stem, and each form of it without one letter, to the ids of the stems.
	deletions map[string][]int32
	// functionWords maps each stop word and word of a phrase in the requests, and each form of it
	// without one letter, to these words.
	functionWords map[string][]string
}

// Similarities of two words: with the same stem, of one group of synonyms, with a long common
// prefix, and of which one is a misspelling of the other.
const (
	simEqual   = 1.0
	simSynonym = 0.9
	simPrefix  = 0.8
	simTypo    = 0.8
)

// Weights of words in a comparison: weightDomain for words that occur only in titles and options
// of protected items, weightUnknown for words outside the vocabulary, minWordWeight as the
// minimum for words of requests.
const (
	weightDomain  = 5.5
	weightUnknown = 4.0
	minWordWeight = 0.3
)

// word is a word of a text with what the vocabulary and the lexicon know of it.
type word struct {
	text    string
	stem    string
	content bool
	id      int32 // id of the stem, -1 if the vocabulary does not have the stem
	matches []match
	weight  float32 // weight of the word in a comparison
	hash    uint64  // hash of the stem
	classes []classValue
	// synonyms lists the groups of synonyms that have the word.
	synonyms []int32
	known    bool // whether the vocabulary or the lexicon has the word
	// isSlip reports that the word may be a misspelling of words in matches. spelling is the word, or
	// the function word that it is likely a misspelling of.
	isSlip   bool
	spelling string
	// services is the bit of the delivery term that the word stands for, counts the bit of the
	// number that it is; both are 0 for most words.
	services uint8
	counts   uint32
	// untranslated is the word as read in an English text, nil if that is the same. isForeign reports that
	// the word is of another language, and not of English.
	untranslated *word
	isForeign    bool
}

// match is the id of a vocabulary stem that a word may correspond to, and the similarity of the
// two, 0 to 1.
type match struct {
	id  int32
	sim float32
}

func newVocabulary(l *lexicon) *vocabulary {
	return &vocabulary{
		lexicon: l,

		ids:       map[string]int32{},
		groups:    map[int32][]int32{},
		deletions: map[string][]int32{},

		functionWords: map[string][]string{},
	}
}

func (v *vocabulary) add(stem string) int32 {
	id, ok := v.ids[stem]
	if !ok {
		id = int32(len(v.stems))
		v.ids[stem] = id
		v.stems = append(v.stems, stem)
		v.weight = append(v.weight, weightDomain)
	}
	return id
}

// freeze computes the weights of the stems and builds the look-up tables. It must be called after
// the last add. df[id] is the number of requests, of n, that have the stem with this id.
func (v *vocabulary) freeze(df []int, n int) {
	for id, stem := range v.stems {
		if id < len(df) && df[id] > 0 {
			v.weight[id] = idf(df[id], n, minWordWeight)
		}
		for _, g := range v.lexicon.groupsOf(stem) {
			v.groups[g] = append(v.groups[g], int32(id))
		}
		v.sorted = append(v.sorted, int32(id))
		for _, d := range deletions(stem) {
			v.deletions[d] = append(v.deletions[d], int32(id))
		}
	}
	slicesx.SortFunc(v.sorted, func(a, b int32) int {
		return strings.Compare(v.stems[a], v.stems[b])
	})
}

// minBankSize is the minimum number of protected requests that the weights of words assume. Fewer
// requests are treated as if they were this many: the detector was fitted on hundreds, and a word
// is not common because one of three requests has it.
const minBankSize = 250

// idf returns the inverse document frequency, a logarithm, of a word or number that df of n
// requests have. The result is at least minimum; n counts as at least minBankSize.
func idf(df, n int, minimum float64) float32 {
	n = max(n, minBankSize)
	return float32(max(minimum, math.Log((float64(n)+1)/(float64(df)+0.5))))
}

// deletions returns a stem and all its forms without one letter. Two stems that differ by one edit
// or two swapped letters have one of these forms in common. It returns nil for stems that are not
// ASCII or shorter than minSwapStem.
func deletions(stem string) []string {
	if len(stem) < minSwapStem || !isASCII(stem) {
		return nil
	}
	out := make([]string, 0, len(stem)+1)
	out = append(out, stem)
	for i := range stem {
		out = append(out, stem[:i]+stem[i+1:])
	}
	return out
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// read looks w up in the vocabulary and the lexicon. It returns the word with its stem, its weight,
// its meanings, and the stems of protected requests that it may correspond to.
func (v *vocabulary) read(w string) *word {
	l := v.lexicon
	if !isASCII(w) {
		return v.readAs(w, l.translations(w))
	}
	untranslated := v.readAs(w, nil)
	foreign := l.foreign[w]
	if !untranslated.known {
		foreign = l.translations(w)
	}
	if foreign == nil {
		return untranslated
	}
	r := v.readAs(w, foreign)
	r.isForeign = !untranslated.known
	untranslated.isForeign = r.isForeign
	r.untranslated = untranslated
	return r
}

// readAs reads a word as the method read does. foreign are its English translations.
func (v *vocabulary) readAs(w string, foreign []string) *word {
	l := v.lexicon
	r := &word{
		text:     w,
		spelling: w,
		stem:     stem(w),
		id:       -1,
		weight:   weightUnknown,
		classes:  l.classesOf(w),
		services: services[w],
	}
	r.hash = hashStem(r.stem)
	r.synonyms = l.synonyms[r.stem]
	r.content = foreign != nil || l.isContent(w, r.stem)
	if id, ok := v.ids[r.stem]; ok {
		r.id = id
		r.weight = v.weight[id]
	}
	r.known = r.id >= 0 || !r.content && isASCII(w) && !l.roles["foreign"][w] || r.synonyms != nil || l.related[r.stem] != nil || foreign != nil
	if !r.content {
		if count, ok := l.numerals[w]; ok && count < 32 {
			r.counts = 1 << count
		}
		return r
	}

	for _, english := range foreign {
		r.synonyms = append(slices.Clone(r.synonyms), l.synonyms[stem(english)]...)
		r.classes = append(slices.Clone(r.classes), l.classesOf(english)...)
	}
	r.matches = v.matches(r, foreign)
	if !r.known && (len(r.matches) == 0 || r.isSlip) {
		r.spelling = v.correction(w)
	}
	if r.id < 0 && len(r.matches) > 0 {
		r.weight = v.bestWeight(r.matches)
	}
	return r
}

// matches returns the stems of the vocabulary that a content word may correspond to, sorted by id.
// foreign are the English translations of the word, if there are any.
func (v *vocabulary) matches(r *word, foreign []string) []match {
	similarities := map[int32]float32{}
	v.addSimilar(similarities, r.stem, 1)
	for _, english := range foreign {
		v.addSimilar(similarities, stem(english), simSynonym)
	}
	if len(foreign) == 0 && r.id < 0 {
		v.addTypos(similarities, r)
	}
	var out []match
	for id, sim := range similarities {
		out = append(out, match{id, sim})
	}
	slicesx.SortByKey(out, func(m match) int32 {
		return m.id
	})
	return out
}

func hashStem(stem string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(stem)) // never fails
	return h.Sum64()
}

// isContent reports whether a word says something about what is asked for: it is no stop word and
// no form of one with an ending ("priced" of "price"), no word of the grammar of another language, it has
// more than one character, and it does not denote a delivery term.
func (l *lexicon) isContent(w, stem string) bool {
	if l.isStop(w, stem) || strings.HasPrefix(w, "svc") || l.roles["foreign"][w] {
		return false
	}
	return utf8.RuneCountInString(w) > 1
}

// isStop reports whether w is a stop word, or one with another ending than -er or -or: "ranger" and
// "shower" have the stems of "range" and "show", but mean something else.
func (l *lexicon) isStop(w, stem string) bool {
	if l.stop[w] {
		return true
	}
	return l.stop[stem] && !isAgent(w)
}

// isAgent reports whether w has the ending of who or what does something: "curler", "shower".
func isAgent(w string) bool {
	singular := strings.TrimSuffix(w, "s")
	return strings.HasSuffix(singular, "er") || strings.HasSuffix(singular, "or")
}

// Knows reports whether a word in lower case is a stop word, or its stem a stem of the bank.
func (x *Index) Knows(w string) bool {
	l := loadLexicon()
	s := stem(w)
	_, ok := x.vocabulary.ids[s]
	return ok || l.isStop(w, s)
}

// bestWeight returns the weight of the most similar of these stems, and of equally similar ones the
// highest weight. It becomes the weight of a word that is not in the vocabulary itself.
func (v *vocabulary) bestWeight(matches []match) float32 {
	best := matches[0]
	for _, m := range matches {
		isHeavier := v.weight[m.id] > v.weight[best.id]
		if m.sim > best.sim || m.sim == best.sim && isHeavier {
			best = m
		}
	}
	return v.weight[best.id]
}

// addSimilar adds the stems of the vocabulary that are equal or similar to stem to similarities:
// the stem itself, its synonyms and stems with a long common prefix. A key of similarities is the
// id of a stem, its value the similarity, 0 to 1, times scale. A value that is already higher is
// kept.
func (v *vocabulary) addSimilar(
	similarities map[int32]float32,
	stem string,
	scale float32,
) {
	add := func(id int32, sim float32) {
		similarities[id] = max(similarities[id], sim*scale)
	}
	if id, ok := v.ids[stem]; ok {
		add(id, simEqual)
	}
	for _, g := range v.lexicon.groupsOf(stem) {
		for _, id := range v.groups[g] {
			add(id, simSynonym)
		}
	}
	v.eachSharedPrefix(stem, func(id int32) { add(id, simPrefix) })
}

// minPrefix is the minimum length in bytes of the common prefix of two words that count as similar.
const minPrefix = 4

// eachSharedPrefix calls yield with the id of every stem of the vocabulary that has a long prefix
// in common with stem (see sharePrefix).
func (v *vocabulary) eachSharedPrefix(stem string, yield func(id int32)) {
	if len(stem) < minPrefix {
		return
	}
	lead := stem[:minPrefix]
	start, _ := slices.BinarySearchFunc(v.sorted, lead, func(id int32, s string) int {
		return strings.Compare(v.stems[id], s)
	})
	for _, id := range v.sorted[start:] {
		if !strings.HasPrefix(v.stems[id], lead) {
			return
		}
		if sharePrefix(stem, v.stems[id]) {
			yield(id)
		}
	}
}

// sharePrefix reports whether the common prefix of two stems is long enough for them to be similar:
// at least minPrefix bytes, and either 60 % of the longer stem or all of the shorter one.
func sharePrefix(a, b string) bool {
	n := commonPrefix(a, b)
	if n < minPrefix {
		return false
	}
	return n == min(len(a), len(b)) || 10*n >= 6*max(len(a), len(b))
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// addTypos adds to similarities the ids of the stems that r may be a misspelling of: they differ by
// two swapped letters or, in stems of minTypoStem bytes or more, by one edit. It adds nothing for a
// known word that has similar stems already.
func (v *vocabulary) addTypos(similarities map[int32]float32, r *word) {
	if len(similarities) > 0 && r.known {
		return
	}
	for _, d := range deletions(r.stem) {
		for _, id := range v.deletions[d] {
			stem := v.stems[id]
			if isMisspelling(r.stem, stem) {
				similarities[id] = max(similarities[id], simTypo)
				r.isSlip = true
			}
		}
	}
}

// isSwap reports whether b is a with two neighbouring letters swapped.
func isSwap(a, b string) bool {
	n := commonPrefix(a, b)
	if len(a) != len(b) || n+1 >= len(a) {
		return false
	}
	return a[n] == b[n+1] && a[n+1] == b[n] && a[n+2:] == b[n+2:]
}

// isOneEdit reports whether one edit turns a into b: adding, removing or replacing a letter, or
// swapping two neighbouring letters.
func isOneEdit(a, b string) bool {
	n := commonPrefix(a, b)
	switch len(a) - len(b) {
	case 0:
		return n < len(a) && a[n+1:] == b[n+1:] || isSwap(a, b)
	case 1:
		return a[n+1:] == b[n:]
	}
	return len(a)+1 == len(b) && a[n:] == b[n+1:]
}
