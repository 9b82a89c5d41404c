package lexical

import (
	"math"
	"slices"
)

// Contradicts reports whether text and the request at this index of the bank each have a number
// that the other lacks.
func (x *Index) Contradicts(request int, text string) bool {
	return x.matchProfiles(request, text, func(base, p *profile) bool {
		_, missing := x.numberShare(base, p)
		_, extra := x.numberShare(p, base)
		return missing > 0 && extra > 0
	})
}

// SharesNumbers reports whether text has so many or so rare numbers of the request at this index of
// the bank that chance is an unlikely explanation.
func (x *Index) SharesNumbers(request int, text string) bool {
	return x.matchProfiles(request, text, func(base, p *profile) bool {
		return x.numbersProveMatch(base, p, 1)
	})
}

// SharesWords reports whether text has enough words of the request at this index of the bank to be
// about the same thing. A text that cannot be read by words has.
func (x *Index) SharesWords(request int, text string) bool {
	return x.matchProfiles(request, text, func(base, p *profile) bool {
		if p.isUnreadable() {
			return true
		}
		shared := 0.0
		total := 0.0
		for _, w := range base.distinct {
			total += float64(w.weight)
			shared += float64(float64(w.weight) * p.similarity(w.id))
		}
		return shared >= minDropCover*total
	})
}

// Reads reports whether so many words of text are known that its words decide what it asks for.
func (x *Index) Reads(text string) bool {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	return x.read(text, s).knownShare() >= minReadShare
}

// similarity returns the similarity, 0 to 1, of the stem with this vocabulary id and the most
// similar word of the text. It returns 0 if no word is similar.
func (p *profile) similarity(id int32) float64 {
	best := 0.0
	for _, w := range p.distinct {
		for _, m := range w.matches {
			if m.id == id {
				best = max(best, float64(m.sim))
			}
		}
	}
	return best
}

// matchProfiles parses text, calls match with the parsed forms (profiles) of one protected request
// and of the text, and returns its result. request is an index in the list of protected problems.
// It returns false if the index is out of range or the request has no text.
func (x *Index) matchProfiles(
	request int,
	text string,
	match func(base, p *profile) bool,
) bool {
	number, ok := slices.BinarySearch(x.entry, request)
	if !ok {
		return false
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	p := x.read(text, s)
	p.collect()
	return match(x.bases[number].profile, p)
}

// maxChanceMatches is the highest probability, 0 to 1, that a text shares by chance the numbers
// that it shares with some protected request, for the guard to call them proof. It therefore drops
// at most 2 % of the unrelated texts for their numbers.
const maxChanceMatches = 0.02

// numbersProveMatch reports whether the numbers that a text shares with a protected request, the
// nearest of n requests, are too many or too rare to agree by chance. It is meant for texts whose
// words are unknown, since a translation keeps the numbers.
func (x *Index) numbersProveMatch(base, p *profile, n int) bool {
	// A number's weight is the logarithm of its rarity.
	odds := math.Log(maxChanceMatches / float64(n))
	shared := 0
	for i, number := range base.numbers {
		if hasNumber(p.numbers, number) {
			// With more numbers in the text, one of them agrees by chance more often.
			choices := float64(max(len(p.numbers)-shared, 1)) / float64(shared+1)
			odds += x.numberWeights(base)[i] - math.Log(choices)
			shared++
		}
	}
	return odds > 0
}
