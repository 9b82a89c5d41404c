package lexical

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// vocabulary holds every stem of the bank's requests, titles and options, with
// its weight, and finds what a word of a text may stand for.
type vocabulary struct {
	ids    map[string]int32
	stems  []string
	weight []float32
	// sorted lists ids by stem, for words that share a beginning.
	sorted []int32
	// groups list the ids of each synonym group.
	groups map[int32][]int32
	// deletions maps a stem with one letter left out to the stems it came from.
	deletions map[string][]int32
}

// How alike two words are, by what links them.
const (
	simEqual   = 1.0
	simSynonym = 0.9
	simPrefix  = 0.8
	simTypo    = 0.8
)

// Weights of words that no protected request holds: those that its products'
// titles and options hold, and all others.
const (
	weightDomain  = 5.5
	weightUnknown = 4.0
	weightLeast   = 0.3
)

// word is what the index knows of one word as written.
type word struct {
	text    string
	stem    string
	content bool
	id      int32 // of its stem, -1 where the vocabulary has none
	matches []match
	weight  float32 // of the word itself, as a word of a text
	hash    uint64  // of the stem
	classes []classValue
	near    []int32
	known   bool // the vocabulary or the lexicon has it
	// services and counts are what the word adds to those of a profile.
	services uint8
	counts   uint32
}

type match struct {
	id  int32
	sim float32
}

func newVocabulary() *vocabulary {
	return &vocabulary{ids: map[string]int32{}, groups: map[int32][]int32{}, deletions: map[string][]int32{}}
}

func (v *vocabulary) add(stem string) int32 {
	id, known := v.ids[stem]
	if !known {
		id = int32(len(v.stems))
		v.ids[stem] = id
		v.stems = append(v.stems, stem)
		v.weight = append(v.weight, weightDomain)
	}
	return id
}

// freeze prepares the look-ups once all stems are in. df counts the requests
// that hold each stem, of n in all.
func (v *vocabulary) freeze(df []int, n int) {
	l := words()
	for id, stem := range v.stems {
		if id < len(df) && df[id] > 0 {
			v.weight[id] = idf(df[id], n, weightLeast)
		}
		for _, g := range l.near[stem] {
			v.groups[g] = append(v.groups[g], int32(id))
		}
		v.sorted = append(v.sorted, int32(id))
		for _, d := range deletions(stem) {
			v.deletions[d] = append(v.deletions[d], int32(id))
		}
	}
	slices.SortFunc(v.sorted, func(a, b int32) int { return strings.Compare(v.stems[a], v.stems[b]) })
}

// leastBank is the number of requests that word weights assume at least: the
// detector was fitted on a bank of hundreds, and a word is not common because
// one of three requests has it.
const leastBank = 250

func idf(df, n int, least float64) float32 {
	n = max(n, leastBank)
	return float32(max(least, math.Log((float64(n)+1)/(float64(df)+0.5))))
}

// leastTypo is the shortest stem in which a slip of the finger is looked for, and
// leastSwap that in which two neighbours swapped are: of four letters one changed
// is often another word, and two swapped hardly ever.
const (
	leastTypo = 5
	leastSwap = 4
)

// deletions returns a stem with each of its letters left out in turn, and the
// stem itself: two words one edit apart, or with two neighbours swapped, share
// one of them.
func deletions(stem string) []string {
	if len(stem) < leastSwap || !isASCII(stem) {
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

func (v *vocabulary) read(w string) *word {
	l := words()
	r := &word{text: w, stem: stem(w), id: -1, weight: weightUnknown, classes: l.classesOf(w), services: services[w]}
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.stem)) // never fails
	r.near, r.hash = l.near[r.stem], h.Sum64()
	foreign := l.foreign[w]
	r.content = foreign != nil || utf8.RuneCountInString(w) > 1 && !l.stop[w] && !l.stop[r.stem] && !strings.HasPrefix(w, "svc")
	if id, is := v.ids[r.stem]; is {
		r.id, r.weight = id, v.weight[id]
	}
	r.known = r.id >= 0 || !r.content && isASCII(w) || r.near != nil || foreign != nil
	if !r.content {
		if v, is := l.numerals[w]; is && v < 32 {
			r.counts = 1 << v
		}
		return r
	}
	found := map[int32]float32{}
	v.collect(found, r.stem, 1)
	for _, english := range foreign {
		v.collect(found, stem(english), simSynonym)
		r.near = append(slices.Clone(r.near), l.near[stem(english)]...)
		r.classes = append(slices.Clone(r.classes), l.classesOf(english)...)
	}
	if len(foreign) == 0 && r.id < 0 {
		v.collectTypos(found, r)
	}
	for id, sim := range found {
		r.matches = append(r.matches, match{id, sim})
	}
	slices.SortFunc(r.matches, func(a, b match) int { return int(a.id - b.id) })
	if r.id < 0 && len(r.matches) > 0 {
		r.weight = v.strongest(r.matches)
	}
	return r
}

// Knows reports whether a word in lower case is one of the bank's, or one that
// every request may hold.
func (x *Index) Knows(w string) bool {
	l, s := words(), stem(w)
	_, is := x.vocabulary.ids[s]
	return is || l.stop[w] || l.stop[s]
}

// strongest is the weight of the best match: a word that only stands for words
// of the vocabulary weighs as they do.
func (v *vocabulary) strongest(matches []match) float32 {
	best := matches[0]
	for _, m := range matches {
		if m.sim > best.sim || m.sim == best.sim && v.weight[m.id] > v.weight[best.id] {
			best = m
		}
	}
	return v.weight[best.id]
}

// collect adds the stem itself, its synonyms and words with the
// same beginning.
func (v *vocabulary) collect(found map[int32]float32, stem string, scale float32) {
	put := func(id int32, sim float32) { found[id] = max(found[id], sim*scale) }
	if id, is := v.ids[stem]; is {
		put(id, simEqual)
	}
	l := words()
	for _, g := range l.near[stem] {
		for _, id := range v.groups[g] {
			put(id, simSynonym)
		}
	}
	v.eachSharedPrefix(stem, func(id int32) { put(id, simPrefix) })
}

// leastPrefix is the least common beginning that makes two words alike.
const leastPrefix = 4

// eachSharedPrefix yields stems that begin alike: four letters and 60 % of the
// longer one, or all of the shorter one.
func (v *vocabulary) eachSharedPrefix(stem string, yield func(int32)) {
	if len(stem) < leastPrefix {
		return
	}
	lead := stem[:leastPrefix]
	start, _ := slices.BinarySearchFunc(v.sorted, lead, func(id int32, s string) int { return strings.Compare(v.stems[id], s) })
	for _, id := range v.sorted[start:] {
		other := v.stems[id]
		if !strings.HasPrefix(other, lead) {
			return
		}
		n := commonPrefix(stem, other)
		if n == min(len(stem), len(other)) || 10*n >= 6*max(len(stem), len(other)) {
			yield(id)
		}
	}
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (v *vocabulary) collectTypos(found map[int32]float32, r *word) {
	if len(found) > 0 && r.known {
		return
	}
	for _, d := range deletions(r.stem) {
		for _, id := range v.deletions[d] {
			if isSwap(r.stem, v.stems[id]) || min(len(r.stem), len(v.stems[id])) >= leastTypo && isOneSlip(r.stem, v.stems[id]) {
				found[id] = max(found[id], simTypo)
			}
		}
	}
}

func isSwap(a, b string) bool {
	n := commonPrefix(a, b)
	return len(a) == len(b) && n+1 < len(a) && a[n] == b[n+1] && a[n+1] == b[n] && a[n+2:] == b[n+2:]
}

// isOneSlip reports whether a becomes b by one letter added, left out or
// changed, or by two neighbours swapped.
func isOneSlip(a, b string) bool { return text.Distance(a, b) == 1 || isSwap(a, b) }
