package lexical

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// vocabulary holds every stem of the bank's requests, titles and options with its
// weight, and finds the stems that a word of a text may stand for.
type vocabulary struct {
	ids    map[string]int32
	stems  []string
	weight []float32
	// sorted lists the ids by stem, to find words with a common prefix.
	sorted []int32
	// groups lists the ids of each synonym group.
	groups map[int32][]int32
	// deletions maps a stem without one of its letters to the stems it may be.
	deletions map[string][]int32
}

// Similarities of two words, by the relation between them.
const (
	simEqual   = 1.0
	simSynonym = 0.9
	simPrefix  = 0.8
	simTypo    = 0.8
)

// Weights of words that no protected request has: those of its products' titles
// and options, and all others.
const (
	weightDomain  = 5.5
	weightUnknown = 4.0
	minWordWeight = 0.3
)

// word is one word as written with what the index knows of it.
type word struct {
	text    string
	stem    string
	content bool
	id      int32 // of its stem, -1 if the vocabulary does not have it
	matches []match
	weight  float32 // as a word of a text
	hash    uint64  // of the stem
	classes []classValue
	// synonyms are the groups of synonyms of the word.
	synonyms []int32
	known    bool // whether the vocabulary or the lexicon has the word
	// services and counts are added to those of a profile.
	services uint8
	counts   uint32
}

// match is a vocabulary id that a word may stand for and their similarity.
type match struct {
	id  int32
	sim float32
}

func newVocabulary() *vocabulary {
	return &vocabulary{
		ids:       map[string]int32{},
		groups:    map[int32][]int32{},
		deletions: map[string][]int32{},
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

// freeze builds the look-up tables. It must be called after the last add. df is
// the number of requests, of n, that have each stem.
func (v *vocabulary) freeze(df []int, n int) {
	l := loadLexicon()
	for id, stem := range v.stems {
		if id < len(df) && df[id] > 0 {
			v.weight[id] = idf(df[id], n, minWordWeight)
		}
		for _, g := range l.synonyms[stem] {
			v.groups[g] = append(v.groups[g], int32(id))
		}
		v.sorted = append(v.sorted, int32(id))
		for _, d := range deletions(stem) {
			v.deletions[d] = append(v.deletions[d], int32(id))
		}
	}
	slices.SortFunc(v.sorted, func(a, b int32) int {
		return strings.Compare(v.stems[a], v.stems[b])
	})
}

// minBankSize is the minimum number of requests that word weights assume: the
// detector was fitted on a bank of hundreds, and a word is not common because one
// of three requests has it.
const minBankSize = 250

// idf returns the inverse document frequency of a key that df of n requests have,
// at least minimum.
func idf(df, n int, minimum float64) float32 {
	n = max(n, minBankSize)
	return float32(max(minimum, math.Log((float64(n)+1)/(float64(df)+0.5))))
}

// minTypoStem is the length of the shortest stem that may have a typing error,
// minSwapStem that of the shortest with two swapped letters: with one letter of
// four changed a word is often another word, with two swapped hardly ever.
const (
	minTypoStem = 5
	minSwapStem = 4
)

// deletions returns a stem and all its forms without one letter: two words that
// are one edit or one swap apart share a form.
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

// read returns the word w with its matches in the vocabulary.
func (v *vocabulary) read(w string) *word {
	l := loadLexicon()
	foreign := l.foreign[w]
	r := &word{
		text:     w,
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
	r.known = r.id >= 0 || !r.content && isASCII(w) || r.synonyms != nil || foreign != nil
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
	if r.id < 0 && len(r.matches) > 0 {
		r.weight = v.bestWeight(r.matches)
	}
	return r
}

// matches returns the matches of a content word, sorted by id. foreign are the
// English words that it translates to, if any.
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
	slices.SortFunc(out, func(a, b match) int {
		return int(a.id - b.id)
	})
	return out
}

func hashStem(stem string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(stem)) // never fails
	return h.Sum64()
}

// isContent reports whether an English word is a content word.
func (l *lexicon) isContent(w, stem string) bool {
	if l.stop[w] || l.stop[stem] || strings.HasPrefix(w, "svc") {
		return false
	}
	return utf8.RuneCountInString(w) > 1
}

// Knows reports whether a word in lower case is a word of the bank, or a stop word.
func (x *Index) Knows(w string) bool {
	l := loadLexicon()
	s := stem(w)
	_, ok := x.vocabulary.ids[s]
	return ok || l.stop[w] || l.stop[s]
}

// bestWeight returns the weight of the best match: a word that stands for a word
// of the vocabulary has its weight.
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

// addSimilar adds the stem itself, its synonyms and the stems with a common
// prefix, with their similarities times scale.
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
	for _, g := range loadLexicon().synonyms[stem] {
		for _, id := range v.groups[g] {
			add(id, simSynonym)
		}
	}
	v.eachSharedPrefix(stem, func(id int32) { add(id, simPrefix) })
}

// minPrefix is the minimum length of a common prefix of similar words.
const minPrefix = 4

// eachSharedPrefix calls yield for the stems that share a prefix with stem.
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

// sharePrefix reports whether two stems have a common prefix: minPrefix letters
// and 60 % of the longer stem, or all of the shorter one.
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

// addTypos adds the stems of which r may be a misspelling.
func (v *vocabulary) addTypos(similarities map[int32]float32, r *word) {
	if len(similarities) > 0 && r.known {
		return
	}
	for _, d := range deletions(r.stem) {
		for _, id := range v.deletions[d] {
			stem := v.stems[id]
			isLong := min(len(r.stem), len(stem)) >= minTypoStem
			if isSwap(r.stem, stem) || isLong && isOneEdit(r.stem, stem) {
				similarities[id] = max(similarities[id], simTypo)
			}
		}
	}
}

// isSwap reports whether a becomes b if two neighbouring letters are swapped.
func isSwap(a, b string) bool {
	n := commonPrefix(a, b)
	if len(a) != len(b) || n+1 >= len(a) {
		return false
	}
	return a[n] == b[n+1] && a[n+1] == b[n] && a[n+2:] == b[n+2:]
}

// isOneEdit reports whether a becomes b if one letter is added, removed or
// replaced, or two neighbouring letters are swapped.
func isOneEdit(a, b string) bool {
	return text.Distance(a, b) == 1 || isSwap(a, b)
}
