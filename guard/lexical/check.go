package lexical

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/stats"
)

// DefaultDrop is the default of the minimum score, 0 to 1, at which Check drops a text.
var DefaultDrop = stats.Logistic(dropLogOdds)

// sameScore is the score, 0 to 1, from which a text counts as asking for the same as a protected
// request, provided that the two differ in no constraint.
var sameScore = stats.Logistic(sameLogOdds)

// Finding is the result of checking one text.
type Finding struct {
	// Request is the index in the bank of the most similar request, -1 if no request shares enough
	// words and numbers with the text. Score, Drop, Same and Evidence are zero values then.
	Request int
	// Score is the estimated probability, 0 to 1, that the text asks for the same as the request.
	Score float64
	// Cover is the share, 0 to 1 by weight, of the words of the request that the text has.
	Cover float64
	// Drop reports that the text must be removed, Same that it asks for the same as the request:
	// its score is high enough, no constraint differs, and no wish was replaced.
	Drop, Same bool
	// Evidence describes what the text and the request have in common and in what they differ. It
	// is empty if the text is not dropped.
	Evidence string
	// Unreadable reports that too few words of the text are known to compare it by words.
	Unreadable bool
}

// Check compares text with every request of the bank. It drops a text that asks for the same as a
// request, and every text with a score of at least drop. A text whose words are mostly unknown is
// also dropped if its numbers agree with those of a request. Requests for which skip reports true
// are left out; a nil skip leaves none out.
func (x *Index) Check(text string, drop float64, skip func(request int) bool) Finding {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	near, full := x.search(text, skip, s)
	if len(near) == 0 {
		return Finding{Request: -1, Unreadable: full.isUnreadable()}
	}
	first := x.judge(near[0], full, drop, s)
	if first.Same {
		return first
	}
	for _, c := range near[1:] {
		if c.score < max(sameLogOdds, near[0].score-maxLessLikely) {
			break
		}
		if f := x.judge(c, full, drop, s); f.Same {
			return f
		}
	}
	return first
}

// maxLessLikely is by how much, in log-odds, the score of a request may be below the highest one
// for the text to be asked whether it asks for the same as that request: two requests that differ
// in one word have odds of at most 1 to 20. A text for two things has the words of a shorter
// request for one of them too.
const maxLessLikely = 3

// judge returns the finding of a comparison of a text, whose profile is full, with one request.
func (x *Index) judge(c comparison, full *profile, drop float64, s *scratch) Finding {
	f := Finding{Request: x.entry[c.base], Unreadable: full.isUnreadable(), Score: stats.Logistic(c.score), Cover: c.features[coverBase]}
	base := x.bases[c.base].profile
	isDrop := f.Score >= drop && x.covers(c, minDropCover)
	f.Drop = isDrop || f.Unreadable && x.numbersProveMatch(base, c.part, len(x.bases))
	if !f.Drop && f.Score < sameScore {
		return f
	}

	difference := contradiction(base, c.part, c.features)
	if difference != "" {
		// The text may contain the request among other things: compare only the part that is most
		// similar to the request.
		if window, ok := x.compareEmbedded(c, s); ok && x.asksSame(window) {
			c = window
			difference = ""
			f.Score = stats.Logistic(c.score)
		}
	}
	isNear := difference == "" && f.Score >= sameScore && x.covers(c, c.sameCover()) && !x.isScattered(c, s)
	if isNear {
		difference = unread(base, c.part, c.features[template])
	}
	f.Drop = f.Drop || isNear
	f.Same = isNear && difference == ""
	if f.Drop {
		f.Evidence = evidence(base, c, difference)
	}
	return f
}

// isScattered reports whether a long text likely has the words of a request by chance: it has fewer
// than minSameWords of them, and the part of the text that is most similar to the request does not
// ask for the same. It returns false if c compares only a part of a text already, or if the text
// has no such part.
func (x *Index) isScattered(c comparison, s *scratch) bool {
	if c.features[hits] >= math.Log1p(minSameWords) || c.features[windowed] == 1 {
		return false
	}
	part, ok := x.compareEmbedded(c, s)
	return ok && !x.asksSame(part)
}

// asksSame reports whether the text of c asks for the same as the protected request of c: the score
// is at least sameScore, it has enough words of the request, and no constraint differs.
func (x *Index) asksSame(c comparison) bool {
	base := x.bases[c.base].profile
	isNear := stats.Logistic(c.score) >= sameScore && x.covers(c, c.sameCover())
	return isNear && contradiction(base, c.part, c.features) == ""
}

// The minimum shares, 0 to 1 by weight, of a request's words that a text must have: minDropCover to
// be dropped by its score, minSameCover to count as asking for the same, or if the two agree in an
// amount of another currency, which agrees with many others. A text with fewer than minSameWords
// words of the request, of which similar ones count less, needs minFewCover, since two words of a
// short request occur together by chance. A text with minExactNumbers numbers of the request needs
// no share: who describes an item without its name keeps the numbers.
const (
	minDropCover    = 0.2
	minSameCover    = 0.35
	minFewCover     = 0.5
	minSameWords    = 3
	minExactNumbers = 2
)

// sameCover returns the minimum share, 0 to 1 by weight, of the request's words that the text must
// contain to count as asking for the same. The minimum depends on how many words the two have in
// common: few common words must make up more of the request.
func (c comparison) sameCover() float64 {
	if c.features[hits] < math.Log1p(minSameWords) {
		return minFewCover
	}
	return minSameCover
}

// covers reports whether the text of c contains enough of its protected request: at least the share
// minCover, 0 to 1 by weight, of the words, or at least minExactNumbers of the numbers. An amount
// that agrees only after a conversion between currencies does not count as a number, since it
// proves less; it raises minCover to at least minSameCover.
func (x *Index) covers(c comparison, minCover float64) bool {
	exact := 0
	for _, n := range x.bases[c.base].profile.numbers {
		for _, o := range c.part.numbers {
			if !n.isSameAmount(o) {
				continue
			}
			if n.unit == money || o.unit == money {
				minCover = max(minCover, minSameCover)
				continue
			}
			exact++
			break
		}
	}
	return exact >= minExactNumbers || c.features[coverBase] >= minCover
}

// evidence describes in one line the words, numbers and delivery terms that a protected request and
// a text have in common. It appends difference, a description of a constraint that differs, if it
// is not empty.
func evidence(base *profile, c comparison, difference string) string {
	var words []string
	for _, w := range base.content {
		if c.part.hasMeaning(w, nil) && !slices.Contains(words, w.text) {
			words = append(words, w.text)
		}
	}
	var numbers []string
	for _, n := range base.numbers {
		if hasNumber(c.part.numbers, n) {
			numbers = append(numbers, base.lexicon.amount(n))
		}
	}
	var terms []string
	for i, name := range serviceNames {
		if base.services&c.part.services&(1<<i) != 0 {
			terms = append(terms, name)
		}
	}

	text := "words agree: " + shorten(words)
	if len(numbers) > 0 {
		text += "; numbers agree: " + shorten(numbers)
	}
	if len(terms) > 0 {
		text += "; delivery terms agree: " + shorten(terms)
	}
	if difference != "" {
		text += "; differs: " + difference
	}
	return text
}

// shorten joins the items with spaces. Of more than 24 items it joins the first 24 and appends the
// number of the remaining ones. For no items it returns "none".
func shorten(items []string) string {
	const maxItems = 24
	switch {
	case len(items) == 0:
		return "none"
	case len(items) > maxItems:
		return fmt.Sprintf(
			"%s and %d more",
			strings.Join(items[:maxItems], " "),
			len(items)-maxItems,
		)
	}
	return strings.Join(items, " ")
}

// minKnownShare is the minimum share of a text's words that the lexicon or the protected requests
// have. Below it the text counts as unreadable, such as one in a language that the lexicon lacks,
// since a comparison by words proves nothing.
const minKnownShare = 0.4

func (p *profile) isUnreadable() bool {
	return len(p.words) > len(p.numbers) && p.knownShare() < minKnownShare
}

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
