package lexical

import (
	"fmt"
	"slices"
	"strings"
)

// Limits are thresholds on the score, 0 to 1: from Drop on a text is dropped,
// from Same on it is the same if no constraint contradicts.
type Limits struct{ Drop, Same float64 }

// DefaultLimits are those that docs/leak.md measures.
func DefaultLimits() Limits { return Limits{Drop: Logistic(dropLogOdds), Same: Logistic(sameLogOdds)} }

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

// Check holds text against every request.
func (x *Index) Check(text string, limits Limits) Finding {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	best, whole, found := x.search(text, s)
	f := Finding{Request: -1, Beyond: whole.beyond()}
	if !found {
		return f
	}
	f.Request, f.Score = x.entry[best.base], Logistic(best.score)
	if f.Drop = f.Score >= limits.Drop; !f.Drop {
		return f
	}
	base := x.bases[best.base].profile
	why := contradiction(base, best.part, best.f)
	if inside, is := x.embedded(best); why != "" && is && Logistic(inside.score) >= limits.Same && contradiction(base, inside.part, inside.f) == "" {
		best, why = inside, ""
		f.Score = Logistic(best.score)
	}
	f.Same = why == "" && f.Score >= limits.Same
	f.Evidence = evidence(base, best, why)
	return f
}

// Contradicts reports whether text replaces a number of the request at a position
// of the bank.
func (x *Index) Contradicts(request int, text string) bool {
	number, is := slices.BinarySearch(x.entry, request)
	if !is {
		return false
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	p := newProfile(parse(text, nil), s.reader(x.vocabulary))
	return x.judge(int32(number), p).f.numberClash > 0 //nolint:gosec // a bank has fewer
}

// evidence says which words and numbers agree, and what differs.
func evidence(base *profile, j judged, why string) string {
	var agree, numbers []string
	for _, w := range base.content {
		if j.part.means(w, nil) && !slices.Contains(agree, w.text) {
			agree = append(agree, w.text)
		}
	}
	for _, n := range base.numbers {
		if hasNumber(j.part.numbers, n) {
			numbers = append(numbers, n.String())
		}
	}
	text := fmt.Sprintf("words agree: %s", list(agree))
	if len(numbers) > 0 {
		text += fmt.Sprintf("; numbers agree: %s", list(numbers))
	}
	if both := base.services & j.part.services; both != 0 {
		text += "; delivery terms agree: " + list(serviceList(both))
	}
	if why != "" {
		text += "; differs: " + why
	}
	return text
}

// list bounds evidence: the first words tell enough.
func list(items []string) string {
	const maxItems = 24
	switch {
	case len(items) == 0:
		return "none"
	case len(items) > maxItems:
		return strings.Join(items[:maxItems], " ") + fmt.Sprintf(" and %d more", len(items)-maxItems)
	}
	return strings.Join(items, " ")
}

func serviceList(set uint8) []string {
	var out []string
	for i, name := range serviceNames {
		if set&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// readableShare is the share of a text's words that must be known for the
// lexical tier to judge it.
const readableShare = 0.4

// beyond reports whether too few words of the text are known.
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
