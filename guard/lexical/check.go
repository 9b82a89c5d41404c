package lexical

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// The scores, 0 to 1, from which a text is dropped unless something else is given,
// and is the same, and dropped, if no constraint contradicts.
var (
	DefaultDrop = stats.Logistic(dropLogOdds)
	leastSame   = stats.Logistic(sameLogOdds)
)

// Finding is what the index says of one text.
type Finding struct {
	// Request is the position of the nearest request in the bank, -1 where none
	// shares enough with the text; the next four are zero then.
	Request    int
	Score      float64
	Drop, Same bool
	// Evidence says in words what agreed and what differed, of a dropped text.
	Evidence string
	// Beyond is true where too few words of the text are known to judge it.
	Beyond bool
}

// Check holds text against every request and drops what is the same, and all from a
// score on.
func (x *Index) Check(text string, drop float64) Finding {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	best, whole, found := x.search(text, s)
	f := Finding{Request: -1, Beyond: whole.beyond()}
	if !found {
		return f
	}
	f.Request, f.Score = x.entry[best.base], stats.Logistic(best.score)
	base := x.bases[best.base].profile
	f.Drop = f.Score >= drop || f.Beyond && x.numbersProve(base, best.part, len(x.bases))
	if !f.Drop && f.Score < leastSame {
		return f
	}
	why := contradiction(base, best.part, best.f)
	if inside, is := x.embedded(best, s); why != "" && is && stats.Logistic(inside.score) >= leastSame && contradiction(base, inside.part, inside.f) == "" {
		best, why = inside, ""
		f.Score = stats.Logistic(best.score)
	}
	f.Same = why == "" && f.Score >= leastSame
	if f.Drop = f.Drop || f.Same; f.Drop {
		f.Evidence = evidence(base, best, why)
	}
	return f
}

// Contradicts reports whether text replaces a number of the request at a position
// of the bank.
func (x *Index) Contradicts(request int, text string) bool {
	return x.ask(request, text, func(base, p *profile) bool {
		_, missing := x.numbersIn(base, p)
		_, extra := x.numbersIn(p, base)
		return missing > 0 && extra > 0
	})
}

// Numbered reports whether text has numbers of the request at a position of the bank
// that it would hardly have by chance.
func (x *Index) Numbered(request int, text string) bool {
	return x.ask(request, text, func(base, p *profile) bool { return x.numbersProve(base, p, 1) })
}

func (x *Index) ask(request int, text string, is func(base, p *profile) bool) bool {
	number, found := slices.BinarySearch(x.entry, request)
	if !found {
		return false
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	return is(x.bases[number].profile, newProfile(parse(text, nil), s.reader(x.vocabulary)))
}

// byChance is how many of the requests that a text is held against may have as many
// and as rare numbers in common with it by chance: as many as may be lost.
const byChance = 0.02

// numbersProve reports whether numbers alone show that a text asks for the base, the
// nearest of so many requests. They do where its words say nothing: a translation
// keeps the numbers.
func (x *Index) numbersProve(base, p *profile, among int) bool {
	odds, found := math.Log(byChance/float64(among)), 0 // a number's weight is the logarithm of how rare it is
	for i, n := range base.numbers {
		if hasNumber(p.numbers, n) {
			// So many more choices of numbers could have agreed.
			odds += x.numberWeights(base)[i] - math.Log(float64(max(len(p.numbers)-found, 1))/float64(found+1))
			found++
		}
	}
	return odds > 0
}

func evidence(base *profile, j judged, why string) string {
	var agree []string
	for _, w := range base.content {
		if j.part.means(w, nil) && !slices.Contains(agree, w.text) {
			agree = append(agree, w.text)
		}
	}
	numbers := slicesx.FilterMap(base.numbers, func(n number) (string, bool) { return n.String(), hasNumber(j.part.numbers, n) })
	text := fmt.Sprintf("words agree: %s", named(agree))
	if len(numbers) > 0 {
		text += fmt.Sprintf("; numbers agree: %s", named(numbers))
	}
	var terms []string
	for i, name := range serviceNames {
		if base.services&j.part.services&(1<<i) != 0 {
			terms = append(terms, name)
		}
	}
	if len(terms) > 0 {
		text += "; delivery terms agree: " + named(terms)
	}
	if why != "" {
		text += "; differs: " + why
	}
	return text
}

func named(items []string) string {
	const maxItems = 24
	shown := cmp.Or(strings.Join(items[:min(len(items), maxItems)], " "), "none")
	if len(items) > maxItems {
		shown += fmt.Sprintf(" and %d more", len(items)-maxItems)
	}
	return shown
}

// readableShare is the share of a text's words that must be known for the
// lexical tier to judge it.
const readableShare = 0.4

func (p *profile) beyond() bool {
	known, all := 0, 0
	for _, w := range p.words {
		if w != nil {
			all++
			if w.known {
				known++
			}
		}
	}
	return all > 0 && float64(known) < readableShare*float64(all)
}

// Join calls join with the positions of two requests of which one would be dropped
// for the other, unless apart says that they are in one group already. The only
// error is that of ctx.
func Join(ctx context.Context, bank []Request, apart func(i, j int) bool, join func(i, j int)) error {
	x := New(bank)
	s, seen := x.newScratch(), map[string]bool{}
	for i, b := range x.bases {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := x.entry[i]
		if seen[bank[at].Text] {
			continue
		}
		seen[bank[at].Text] = true
		for _, other := range x.candidates(b.profile, s) {
			if apart(at, x.entry[other]) && x.judge(other, b.profile, dropLogOdds, s).score >= dropLogOdds {
				join(at, x.entry[other])
			}
		}
	}
	return nil
}

// CheckAlone holds the request at a position of the bank against the others but
// those that kindred names, as a text of a stranger would be: words that it alone
// has are no words of the bank.
func (x *Index) CheckAlone(request int, kindred func(other int) bool) Finding {
	f := Finding{Request: -1}
	number, is := slices.BinarySearch(x.entry, request)
	if !is {
		return f
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	best := judged{score: math.Inf(-1)}
	p := x.strange(int32(number)) //nolint:gosec // a bank has fewer
	for _, b := range x.candidates(p, s) {
		if kindred(x.entry[b]) {
			continue
		}
		if j := x.judge(b, p, best.score, s); j.beats(best) {
			best, f.Request = j, x.entry[b]
		}
	}
	if f.Request < 0 {
		return f
	}
	f.Score = stats.Logistic(best.score)
	f.Same = f.Score >= leastSame && contradiction(x.bases[best.base].profile, best.part, best.f) == ""
	return f
}

// strange is the profile of a base read as if the bank did not hold it.
func (x *Index) strange(number int32) *profile {
	own := x.bases[number].profile
	p := &profile{tokens: own.tokens, words: make([]*word, len(own.words))}
	for i, w := range own.words {
		if w != nil {
			p.words[i] = x.withoutOwn(w, number)
		}
	}
	p.gather()
	return p
}

func (x *Index) isOwn(id, number int32) bool {
	holders := x.postings[id]
	return len(holders) == 1 && holders[0] == number
}

func (x *Index) withoutOwn(w *word, number int32) *word {
	if !slices.ContainsFunc(w.matches, func(m match) bool { return x.isOwn(m.id, number) }) {
		return w
	}
	out := *w
	out.matches = slices.DeleteFunc(slices.Clone(w.matches), func(m match) bool { return x.isOwn(m.id, number) })
	if w.id >= 0 && x.isOwn(w.id, number) {
		out.id, out.weight, out.known = -1, weightUnknown, w.near != nil
	}
	if out.id < 0 && len(out.matches) > 0 {
		out.weight = x.vocabulary.strongest(out.matches)
	}
	return &out
}
