package guard

import (
	"fmt"
	"slices"
	"strings"
)

// gramWords is the number of consecutive words of a run, by which texts are compared. Runs of eight
// words are the usual measure of contamination.
const gramWords = 8

// maxGramEntries is the maximum number of protected requests that may contain the same run of
// gramWords words. A run in more requests is a common phrase of customers, such as "find a shop
// that sells all of", and is not used to find requests.
const maxGramEntries = 3

// ngramIndex finds protected requests by their runs of words, in texts of any length and over
// several messages.
type ngramIndex struct {
	// entries maps the hash of a run to the requests that have it.
	entries map[uint64][]int32
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
		for _, gram := range grams(e.Text) {
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
		for _, i := range entries {
			x.grams[i]++
		}
	}
	return x
}

// grams returns the hashes of all runs of gramWords words in text, and of all words together if
// they are fewer.
func grams(text string) []uint64 {
	words := strings.Fields(normalised(text))
	if len(words) == 0 {
		return nil
	}
	size := min(gramWords, len(words))
	out := make([]uint64, 0, len(words)-size+1)
	for i := 0; i+size <= len(words); i++ {
		hash := uint64(fnvOffset)
		for _, word := range words[i : i+size] {
			for j := range len(word) {
				hash = (hash ^ uint64(word[j])) * fnvPrime
			}
			hash = (hash ^ ' ') * fnvPrime
		}
		out = append(out, hash)
	}
	return out
}

// The minimum shares, 0 to 1, of the runs of a request that a text must have to be dropped
// (minGramShare, if parts were changed or left out) and to repeat the complete request
// (minSameGramShare).
const (
	minGramShare     = 0.6
	minSameGramShare = 1
)

// minGrams is the minimum number of runs that a request must have so that a part of them is enough.
// A request with fewer runs has to be repeated completely.
const minGrams = 4

// count returns, by index in the bank, how many of the runs of each protected request a text has.
// Requests of which it has none are left out.
func (x *ngramIndex) count(text string) map[int32]int {
	found := map[int32]int{}
	seen := map[uint64]bool{}
	for _, gram := range grams(text) {
		entries := x.entries[gram]
		if len(entries) == 0 || seen[gram] {
			continue
		}
		seen[gram] = true
		for _, i := range entries {
			found[i]++
		}
	}
	return found
}

// whole returns the sorted indices in the bank of the protected requests all of whose runs a text
// has.
func (x *ngramIndex) whole(text string) (entries []int) {
	for i, n := range x.count(text) {
		if n == x.grams[i] {
			entries = append(entries, int(i))
		}
	}
	slices.Sort(entries)
	return entries
}

// check returns a finding to drop the row if a text repeats at least the share minGramShare of a
// protected request's runs (gramWords adjacent words each). Otherwise it returns the zero Finding.
// Same is set if the text has at least the share minSameGramShare.
func (x *ngramIndex) check(text string, bank []Entry) Finding {
	found := x.count(text)
	best := int32(-1)
	bestShare := 0.0
	for i, n := range found {
		share := float64(n) / float64(x.grams[i])
		isEnough := share >= minGramShare && (x.grams[i] >= minGrams || share == 1)
		if !isEnough || share < bestShare {
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
	f := textFinding(bank[best], TierNgram, fmt.Sprintf("%d of the %d runs of %d words of the request", found[best], x.grams[best], gramWords))
	f.Same = bestShare >= minSameGramShare
	return f
}
