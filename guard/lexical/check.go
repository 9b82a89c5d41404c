package lexical

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/stats"
)

// DefaultDrop is the score, 0 to 1, from which a text is dropped by default.
var DefaultDrop = stats.Logistic(dropLogOdds)

// sameScore is the score from which a text asks for the same as a request if no
// constraint contradicts.
var sameScore = stats.Logistic(sameLogOdds)

// Finding is the result of checking one text.
type Finding struct {
	// Request is the bank position of the nearest request, -1 if no request shares
	// enough with the text. Score, Drop, Same and Evidence are zero then.
	Request    int
	Score      float64
	Drop, Same bool
	// Evidence describes what agreed and what differed, for a dropped text.
	Evidence string
	// Unreadable reports that too few words of the text are known to judge it.
	Unreadable bool
}

// Check compares text with every request. It drops a text that asks for the same
// as a request, and every text with a score of at least drop.
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
	base := x.bases[best.base].profile
	f.Drop = f.Score >= drop || f.Unreadable && x.numbersProveMatch(base, best.part, len(x.bases))
	if !f.Drop && f.Score < sameScore {
		return f
	}

	difference := contradiction(base, best.part, best.features)
	if difference != "" {
		// The text may hold the request among other things: judge its window alone.
		if window, ok := x.compareEmbedded(best, s); ok && x.asksSame(window) {
			best = window
			difference = ""
			f.Score = stats.Logistic(best.score)
		}
	}
	f.Same = difference == "" && f.Score >= sameScore
	f.Drop = f.Drop || f.Same
	if f.Drop {
		f.Evidence = evidence(base, best, difference)
	}
	return f
}

// asksSame reports whether the compared text asks for the same as the base.
func (x *Index) asksSame(c comparison) bool {
	base := x.bases[c.base].profile
	return stats.Logistic(c.score) >= sameScore && contradiction(base, c.part, c.features) == ""
}

// Contradicts reports whether text replaces a number of the request at this bank
// position by another one.
func (x *Index) Contradicts(request int, text string) bool {
	return x.matchProfiles(request, text, func(base, p *profile) bool {
		_, missing := x.numberShare(base, p)
		_, extra := x.numberShare(p, base)
		return missing > 0 && extra > 0
	})
}

// SharesNumbers reports whether text has more numbers of the request at this bank
// position than it would have by chance.
func (x *Index) SharesNumbers(request int, text string) bool {
	return x.matchProfiles(request, text, func(base, p *profile) bool {
		return x.numbersProveMatch(base, p, 1)
	})
}

// matchProfiles reports whether match is true for the profiles of a request and of
// text. It reports false for a bank position without a request.
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
	return match(x.bases[number].profile, newProfile(parse(text, nil), s.reader(x.vocabulary)))
}

// maxChanceMatches is the number of requests that may, by chance, have as many and
// as rare numbers in common with a text as the nearest one. It equals the share of
// honest rows that may be dropped.
const maxChanceMatches = 0.02

// numbersProveMatch reports whether the numbers alone show that a text asks for the
// base, the nearest of n requests. It serves texts whose words are unknown: a
// translation keeps the numbers.
func (x *Index) numbersProveMatch(base, p *profile, n int) bool {
	// A number's weight is the logarithm of its rarity.
	odds := math.Log(maxChanceMatches / float64(n))
	shared := 0
	for i, number := range base.numbers {
		if hasNumber(p.numbers, number) {
			// As many other choices of the text's numbers could have agreed.
			choices := float64(max(len(p.numbers)-shared, 1)) / float64(shared+1)
			odds += x.numberWeights(base)[i] - math.Log(choices)
			shared++
		}
	}
	return odds > 0
}

// evidence describes what a base and a text agree on, and their difference if it
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

// shorten joins items, up to a maximum, with spaces.
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

// minKnownShare is the share of a text's words that must be known for the lexical
// tier to judge it.
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

// Join calls join with the bank positions of two requests of which one would be
// dropped for the other. It skips pairs for which separate reports false: those are
// in one group already. The only error is that of ctx.
func Join(
	ctx context.Context,
	bank []Request,
	separate func(i, j int) bool,
	join func(i, j int),
) error {
	x := New(bank)
	s := x.newScratch()
	seen := map[string]bool{}
	for i, b := range x.bases {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry := x.entry[i]
		if seen[bank[entry].Text] {
			continue
		}
		seen[bank[entry].Text] = true
		for _, j := range x.candidates(b.profile, s) {
			if !separate(entry, x.entry[j]) {
				continue
			}
			if x.compare(j, b.profile, dropLogOdds, s).score >= dropLogOdds {
				join(entry, x.entry[j])
			}
		}
	}
	return nil
}

// CheckLeaveOneOut compares the request at this bank position with the requests at
// all positions for which related reports false, as if the bank did not hold it:
// words that only this request has are unknown. Drop and Evidence are not set.
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

// profileWithoutSelf returns the profile that a base would have if the bank did
// not hold it.
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

// isOnlyIn reports whether the base with this number is the only one that has the
// stem.
func (x *Index) isOnlyIn(id, number int32) bool {
	bases := x.postings[id]
	return len(bases) == 1 && bases[0] == number
}

// withoutSelf returns w as it would be read if the bank did not hold the base.
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
