package guard

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// gramWords is the number of words in a run. Texts are compared by the runs that they have in
// common. Runs of eight words are the usual measure of contamination of training data by tests.
const gramWords = 8

// maxGramEntries is the maximum number of protected requests that may contain the same run of
// gramWords words. A run in more requests is a common phrase of customers, such as "find me a
// that sells all of", and is not used to find requests. Whether a text repeats a complete request
// is decided by all runs: two requests may differ in a common phrase only.
const maxGramEntries = 3

// ngramIndex finds protected requests that a text repeats by their runs of words, in texts of any
// length and over several messages.
type ngramIndex struct {
	// entries maps the hash of a run to the requests that have it.
	entries map[uint64][]int32
	// bits has a bit for each hash in entries: most runs of a text are in no request.
	bits [1 << 10]uint64
	// grams is the number of runs of each request that count.
	grams []int
}

func newNgramIndex(bank []Entry) *ngramIndex {
	x := &ngramIndex{
		entries: map[uint64][]int32{},
		grams:   make([]int, len(bank)),
	}
	for i, e := range bank {
		seen := map[uint64]bool{}
		for gram := range grams(e.Text) {
			if !seen[gram] {
				seen[gram] = true
				x.entries[gram] = append(x.entries[gram], int32(i)) //nolint:gosec // a bank has fewer
			}
		}
	}
	for gram, entries := range x.entries {
		if len(entries) > maxGramEntries {
			delete(x.entries, gram)
			continue
		}
		*x.word(gram) |= 1 << (gram % 64)
		for _, i := range entries {
			x.grams[i]++
		}
	}
	return x
}

// word returns the word of x.bits that has the bit of a hash.
func (x *ngramIndex) word(gram uint64) *uint64 { return &x.bits[gram/64%uint64(len(x.bits))] }

// grams returns the hashes of all runs of gramWords words in text, and of all words together if
// they are fewer. The words are those of normalised(text).
func grams(text string) iter.Seq[uint64] {
	if strings.IndexFunc(text, isNotASCII) >= 0 {
		text = normalised(text)
	}
	return func(yield func(uint64) bool) {
		var run [gramWords]uint64 // hashes of the last words
		hash := uint64(0)
		n := 0
		for word := range wordHashes(text, isGramSign) {
			first := &run[n%gramWords]
			hash = (hash-*first*firstFactor)*fnvPrime + word
			*first = word
			n++
			if n >= gramWords && !yield(hash) {
				return
			}
		}
		if n > 0 && n < gramWords {
			yield(hash)
		}
	}
}

// firstFactor is the factor of the first of gramWords words in the hash of a run, modulo 2^64.
const firstFactor = fnvPrime * fnvPrime * fnvPrime * fnvPrime * fnvPrime * fnvPrime * fnvPrime % (1 << 64)

// isGramSign reports whether the byte text[i], which is neither an ASCII letter nor a digit,
// belongs to a word: it is part of a character that is not ASCII, or a sign of a number (see
// isNumberSign). text is ASCII or a result of normalised.
func isGramSign(text string, i int) bool {
	return text[i] >= utf8.RuneSelf || isNumberSign(text, i, rune(text[i]))
}

// minGramShare is the minimum share, 0 to 1, of the runs of a request that a text must have to be
// dropped, if parts were changed or left out.
const minGramShare = 0.6

// minGrams is the minimum number of runs of words that a request must have for a text to be dropped
// that repeats only a part of them. A shorter request must be repeated completely, since a part of
// it may be a common phrase.
const minGrams = 4

// count returns which protected requests a text repeats in part, and how many of their runs of
// words it has. The keys are indices in the list of protected problems; requests of which the text
// has no run are left out.
func (x *ngramIndex) count(text string) map[int32]int {
	found := map[int32]int{}
	seen := map[uint64]bool{}
	for gram := range grams(text) {
		isKnown := *x.word(gram)>>(gram%64)&1 != 0
		if !isKnown || len(x.entries[gram]) == 0 || seen[gram] {
			continue
		}
		seen[gram] = true
		for _, i := range x.entries[gram] {
			found[i]++
		}
	}
	return found
}

// whole returns the protected requests that a text repeats completely: it has all their runs of
// words, common ones too. found is count(text). The result is a sorted list of indices in bank.
func (x *ngramIndex) whole(text string, found map[int32]int, bank []Entry) []int {
	var entries []int
	for i, n := range found {
		if n == x.grams[i] {
			entries = append(entries, int(i))
		}
	}
	if len(entries) == 0 {
		return nil
	}
	slices.Sort(entries)
	runs := map[uint64]bool{}
	for gram := range grams(text) {
		runs[gram] = true
	}
	return slices.DeleteFunc(entries, func(i int) bool { return !hasRuns(runs, bank[i].Text) })
}

// hasRuns reports whether a set has all runs of words of a request.
func hasRuns(runs map[uint64]bool, request string) bool {
	for gram := range grams(request) {
		if !runs[gram] {
			return false
		}
	}
	return true
}

// check returns a finding to drop the row if a text repeats enough of a protected request: at least
// the share minGramShare of its runs of gramWords words, or all of them if there are fewer than
// minGrams. The finding names a request that the text repeats completely (see whole), for which its
// field Same is set, or else the request with the largest share. Of several it names the first.
// Otherwise check returns the zero Finding.
func (x *ngramIndex) check(text string, bank []Entry) Finding {
	found := x.count(text)
	best := int32(-1)
	bestShare := 0.0
	for i, n := range found {
		share := float64(n) / float64(x.grams[i])
		if !x.isEnough(i, n) || share < bestShare {
			continue
		}
		if share > bestShare || best < 0 || i < best {
			best = i
			bestShare = share
		}
	}
	if best < 0 {
		return Finding{}
	}
	whole := x.whole(text, found, bank)
	if len(whole) > 0 {
		best = int32(whole[0]) //nolint:gosec // a bank has fewer
	}
	f := textFinding(bank[best], TierNgram, fmt.Sprintf("%d of the %d runs of %d words of the request", found[best], x.grams[best], gramWords))
	f.Same = len(whole) > 0
	return f
}

// isEnough reports whether a text with n runs of the request at this index is dropped for it.
func (x *ngramIndex) isEnough(request int32, n int) bool {
	all := x.grams[request]
	return n > 0 && (n == all || all >= minGrams && float64(n)/float64(all) >= minGramShare)
}
