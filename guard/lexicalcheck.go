package guard

import (
	"fmt"
	"slices"
	"strings"
)

// withDefaults fills in the thresholds that are not set.
func (c Config) withDefaults() Config {
	if c.Drop == 0 {
		c.Drop = logistic(dropLogOdds)
	}
	if c.Same == 0 {
		c.Same = logistic(sameLogOdds)
	}
	return c
}

// check holds text against every base.
func (x *lexicalIndex) check(text string, bank []Entry, cfg Config) Finding {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	best, whole, found := x.search(text, s)
	f := Finding{Beyond: whole.beyond()}
	if !found {
		return f
	}
	e := bank[x.entry[best.base]]
	f.Match, f.Bank, f.Score = e.ID, e.Bank, logistic(best.score)
	f.Drop = f.Score >= cfg.Drop
	if !f.Drop {
		return f
	}
	f.Tier = TierLexical
	base := x.bases[best.base].profile
	why := contradiction(base, best.part, best.f)
	if inside, is := x.embedded(best); why != "" && is && logistic(inside.score) >= cfg.Same && contradiction(base, inside.part, inside.f) == "" {
		best, why = inside, ""
		f.Score = logistic(best.score)
	}
	f.Same = why == "" && f.Score >= cfg.Same
	f.Evidence = evidence(base, best, why)
	return f
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
	const most = 24
	switch {
	case len(items) == 0:
		return "none"
	case len(items) > most:
		return strings.Join(items[:most], " ") + fmt.Sprintf(" and %d more", len(items)-most)
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
