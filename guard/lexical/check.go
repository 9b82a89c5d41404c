package lexical

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// DefaultDrop is the default of the minimum score, 0 to 1, at which Check drops a text.
var DefaultDrop = stats.Logistic(dropLogOdds)

// sameScore is the minimum score, 0 to 1, at which a text counts as asking for the same as a
// request, provided that no constraint of the two differs.
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
	// its score is high enough and no constraint differs.
	Drop, Same bool
	// Evidence describes what the text and the request have in common and in what they differ. It
	// is empty if the text is not dropped.
	Evidence string
	// Unreadable reports that too few words of the text are known to compare it by words.
	Unreadable bool
}

// Check compares text with every request of the bank. It drops a text that asks for the same as a
// request, and every text with a score of at least drop. A text whose words are mostly unknown is
// also dropped if its numbers agree with those of a request.
func (x *Index) Check(text string, drop float64) Finding {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	best, full, ok := x.search(text, s)
	f := Finding{Request: -1, Unreadable: full.isUnreadable()}
	if !ok {
		return f
	}
	f.Request = x.entry[best.base]
	f.Score = stats.Logistic(best.score)
	f.Cover = best.features[coverBase]
	base := x.bases[best.base].profile
	isDrop := f.Score >= drop && x.covers(best, minDropCover)
	f.Drop = isDrop || f.Unreadable && x.numbersProveMatch(base, best.part, len(x.bases))
	if !f.Drop && f.Score < sameScore {
		return f
	}

	difference := contradiction(base, best.part, best.features)
	if difference != "" {
		// The text may contain the request among other things: compare only the part that is most similar to the request.
		if window, ok := x.compareEmbedded(best, s); ok && x.asksSame(window) {
			best = window
			difference = ""
			f.Score = stats.Logistic(best.score)
		}
	}
	f.Same = difference == "" && f.Score >= sameScore && x.covers(best, minSameCover)
	f.Drop = f.Drop || f.Same
	if f.Drop {
		f.Evidence = evidence(base, best, difference)
	}
	return f
}

// asksSame reports whether the text of c asks for the same as its protected request: the score is
// at least sameScore and no constraint differs.
func (x *Index) asksSame(c comparison) bool {
	base := x.bases[c.base].profile
	isNear := stats.Logistic(c.score) >= sameScore && x.covers(c, minSameCover)
	return isNear && contradiction(base, c.part, c.features) == ""
}

// The minimum shares, by weight, of the words of a request that a text has which is dropped by its
// score, which agrees in a price of another currency, and which asks for the same. A converted
// price agrees with many others, so that the words must tell more. The shares do not hold for a
// text that has minExactNumbers numbers of the request: who describes a product without its name
// keeps the numbers.
const (
	minDropCover    = 0.2
	minMoneyCover   = 0.35
	minSameCover    = 0.35
	minExactNumbers = 2
)

// covers reports whether the text of c has enough words, or enough numbers, of its protected
// request.
func (x *Index) covers(c comparison, minCover float64) bool {
	exact := 0
	for _, n := range x.bases[c.base].profile.numbers {
		for _, o := range c.part.numbers {
			if !n.isSameAmount(o) {
				continue
			}
			if n.unit == money || o.unit == money {
				minCover = max(minCover, minMoneyCover)
				continue
			}
			exact++
			break
		}
	}
	return exact >= minExactNumbers || c.features[coverBase] >= minCover
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

// matchProfiles calls match with the parsed forms (profiles) of the request at this index of the
// bank and of text, and returns its result. It returns false if the index is out of range or the
// request has no text.
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
	return match(x.bases[number].profile, newProfile(x.parse(text, nil), s.reader(x.vocabulary)))
}

// maxChanceMatches is the maximum expected number of requests that share, by chance, as many and as
// rare numbers with a text as the nearest request does. It is equal to the share of harmless rows
// that may be dropped by mistake, 2 %.
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
			numbers = append(numbers, n.String())
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

// minKnownShare is the minimum share of a text's words that must be known. Below it the text counts
// as unreadable, since a comparison by words proves nothing.
const minKnownShare = 0.4

func (p *profile) isUnreadable() bool {
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
	return total > 0 && float64(known) < minKnownShare*float64(total)
}

// Join finds pairs of requests in the bank that are so similar that one would be dropped for the
// other at the default threshold, and calls join with their indices in the bank. It skips pairs for
// which group, called with either index, returns the same, since they are in one group already. It
// compares on all cores and calls group and join from one goroutine. The only error is that of ctx.
func Join(
	ctx context.Context,
	bank []Request,
	group func(i int) int,
	join func(i, j int),
) error {
	x := New(bank)
	workers := make([]joiner, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = joiner{index: x, scratch: x.newScratch()}
	}
	distinct := x.distinctTexts(bank)
	for batch := range slices.Chunk(distinct, joinBatch*len(workers)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		groups := slicesx.Map(x.entry, group)
		var wait sync.WaitGroup
		for i := range workers {
			w := &workers[i]
			w.groups = groups
			wait.Go(func() { w.findPairs(batch, i, len(workers)) })
		}
		wait.Wait()
		for i := range workers {
			for _, pair := range workers[i].pairs {
				join(x.entry[pair[0]], x.entry[pair[1]])
			}
		}
	}
	return nil
}

// joinBatch is the number of requests that a worker compares with all others before the groups are
// joined: few enough that the members of a large group are soon compared no more.
const joinBatch = 64

// joiner is one worker of Join. groups holds the group of each request of the index, pairs the pairs
// that the worker found in the current batch.
type joiner struct {
	index   *Index
	scratch *scratch
	groups  []int
	pairs   [][2]int32
}

// findPairs compares every request of a batch whose position, divided by n, leaves the remainder
// first with the requests of other groups.
func (w *joiner) findPairs(batch []int32, first, n int) {
	w.pairs = w.pairs[:0]
	for k := first; k < len(batch); k += n {
		i := batch[k]
		p := w.index.bases[i].profile
		for _, j := range w.index.candidates(p, w.scratch) {
			if w.groups[i] == w.groups[j] {
				continue
			}
			if w.index.compare(j, p, dropLogOdds, w.scratch).score >= dropLogOdds {
				w.pairs = append(w.pairs, [2]int32{i, j})
			}
		}
	}
}

// distinctTexts returns the index in x.bases of the first request with each text.
func (x *Index) distinctTexts(bank []Request) []int32 {
	var first []int32
	seen := map[string]bool{}
	for i, entry := range x.entry {
		if !seen[bank[entry].Text] {
			seen[bank[entry].Text] = true
			first = append(first, int32(i)) //nolint:gosec // a bank has fewer
		}
	}
	return first
}

// CheckLeaveOneOut compares the request at this index of the bank with the other requests, as if
// the bank did not contain it: words that only this request has are unknown. It skips requests for
// which related reports true. Drop and Evidence of the result are not set.
func (x *Index) CheckLeaveOneOut(request int, related func(position int) bool) Finding {
	f := Finding{Request: -1}
	number, ok := slices.BinarySearch(x.entry, request)
	if !ok {
		return f
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	best := comparison{score: math.Inf(-1)}
	p := x.profileWithoutSelf(int32(number)) //nolint:gosec // a bank has fewer
	for _, b := range x.candidates(p, s) {
		if related(x.entry[b]) {
			continue
		}
		if c := x.compare(b, p, best.score, s); c.isBetterThan(best) {
			best = c
			f.Request = x.entry[b]
		}
	}
	if f.Request < 0 {
		return f
	}
	f.Score = stats.Logistic(best.score)
	f.Same = x.asksSame(best)
	return f
}

// profileWithoutSelf returns the parsed form that the request x.bases[number] would have if the
// bank did not contain it: words that only this request has are unknown.
func (x *Index) profileWithoutSelf(number int32) *profile {
	indexed := x.bases[number].profile
	p := &profile{
		tokens: indexed.tokens,
		words:  make([]*word, len(indexed.words)),
	}
	for i, w := range indexed.words {
		if w != nil {
			p.words[i] = x.withoutSelf(w, number)
		}
	}
	p.collect()
	return p
}

// isOnlyIn reports whether the word stem with this vocabulary id occurs in the request
// x.bases[number] and in no other request.
func (x *Index) isOnlyIn(id, number int32) bool {
	bases := x.postings[id]
	return len(bases) == 1 && bases[0] == number
}

// withoutSelf returns the word as it would be known if the bank did not contain the request
// x.bases[number], without matches to stems that only this request has. It returns w itself if w
// has no such match.
func (x *Index) withoutSelf(w *word, number int32) *word {
	isSelf := func(m match) bool { return x.isOnlyIn(m.id, number) }
	if !slices.ContainsFunc(w.matches, isSelf) {
		return w
	}
	out := *w
	out.matches = slices.DeleteFunc(slices.Clone(w.matches), isSelf)
	if w.id >= 0 && x.isOnlyIn(w.id, number) {
		out.id = -1
		out.weight = weightUnknown
		out.known = w.synonyms != nil
	}
	if out.id < 0 && len(out.matches) > 0 {
		out.weight = x.vocabulary.bestWeight(out.matches)
	}
	return &out
}
