package lexical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// How much of a text's word pairs the base has says who wrote it: from
// copiedTemplate on it is the base with changes, where an exchanged word is
// suspect; from verbatimTemplate on, one where even the count of each word
// tells. Another person's words share fewer, and are mostly exchanged.
const (
	copiedTemplate   = 0.45
	verbatimTemplate = 0.75
)

// contradiction returns the first constraint on which base and text differ, in
// words; empty where they agree on all.
func contradiction(b, p *profile, f features) string {
	for _, check := range []func(b, p *profile, template float64) string{
		numbersDiffer, servicesDiffer, classesDiffer, wordsDiffer, nounsDiffer,
	} {
		if why := check(b, p, f[template]); why != "" {
			return why
		}
	}
	return ""
}

// numbersDiffer finds a number that was exchanged, turned from a lower into an
// upper bound, or, in a copy, left out or added.
func numbersDiffer(b, p *profile, template float64) string {
	missing, extra := numbersOnly(b, p), numbersOnly(p, b)
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("number %s became %s", missing[0], extra[0])
	case template >= copiedTemplate && len(missing) > 0:
		return fmt.Sprintf("number %s is missing", missing[0])
	case template >= copiedTemplate && len(extra) > 0:
		return fmt.Sprintf("number %s was added", extra[0])
	}
	for _, n := range b.numbers {
		for _, o := range p.numbers {
			if n.sameAmount(o) && n.opposes(o) {
				return fmt.Sprintf("number %s is another kind of bound", n)
			}
		}
	}
	return ""
}

// numbersOnly lists the numbers of a that b gives neither in digits nor, where
// they are small, in words.
func numbersOnly(a, b *profile) []number {
	return slicesx.FilterMap(a.numbers, func(n number) (number, bool) { return n, !hasNumber(b.numbers, n) && !b.counted(n.value) })
}

// opposes reports whether one text gives a number only as a lower bound and
// the other only as an upper one.
func (n number) opposes(o number) bool {
	const up, down = 1 << above, 1 << below
	a, b := n.directions&(up|down), o.directions&(up|down)
	return a == up && b == down || a == down && b == up
}

func (n number) isBound() bool { return n.directions&(1<<above|1<<below) != 0 }

func (n number) String() string {
	// Nine digits, so that 6 inches are 152.4 mm and not 152.39999999999998.
	return strings.TrimSpace(fmt.Sprintf("%.9g %s", n.value, n.unit))
}

// servicesDiffer finds a delivery term that was added or, in a copy, left out.
// Another person may ask for it in words that nobody has listed.
func servicesDiffer(b, p *profile, template float64) string {
	for i, name := range serviceNames {
		bit := uint8(1) << i
		switch {
		case p.services&bit != 0 && b.services&bit == 0:
			return name + " was added"
		case b.services&bit != 0 && p.services&bit == 0 && template >= copiedTemplate:
			return name + " is not asked for"
		}
	}
	return ""
}

// classesDiffer finds a value of a closed class that was exchanged. All but
// verbatim copies are held to the hard classes only.
func classesDiffer(b, p *profile, template float64) string {
	l := words()
	for i, name := range l.names {
		class := uint8(i)
		if (template >= verbatimTemplate || l.hard[i]) && lacks(b.values, p.values, class) && lacks(p.values, b.values, class) {
			return "another " + name
		}
	}
	return ""
}

// wordsDiffer finds, in a copy, words of content that were exchanged. A word
// that is only left out or added says little by itself ("grey condition").
func wordsDiffer(b, p *profile, template float64) string {
	if template < copiedTemplate {
		return ""
	}
	missing, extra := wordsOnly(b, p, template), wordsOnly(p, b, template)
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("%q became %q", spelled(missing), spelled(extra))
	case len(missing) > tolerated:
		return fmt.Sprintf("%q is missing", spelled(missing))
	case len(extra) > tolerated:
		return fmt.Sprintf("%q was added", spelled(extra))
	}
	return ""
}

// nounsDiffer finds a thing that became another one of the same make: "stainless
// steel kitchen tools", "stainless steel soap dishes". Where a phrase of the text
// has a word of one of the base's, ends on another noun that the base does not
// know, and the text says nothing else that is new, the noun was exchanged. Who
// describes the thing in words of his own says more.
func nounsDiffer(b, p *profile, _ float64) string {
	news := wordsOnly(p, b, 0)
	if len(news) == 0 {
		return ""
	}
	for _, mine := range b.phrases() {
		last := len(mine) - 1
		if last == 0 || p.means(mine[last], nil) {
			continue
		}
		for _, theirs := range p.phrases() {
			end := theirs[len(theirs)-1]
			shares := slices.ContainsFunc(theirs, func(w *word) bool {
				return slices.ContainsFunc(mine[:last], func(o *word) bool { return alike(w, o) })
			})
			if shares && slices.Contains(news, end) && len(news) <= len(theirs) && !slices.ContainsFunc(news, func(w *word) bool { return !slices.Contains(theirs, w) }) {
				return fmt.Sprintf("%q became %q", mine[last].text, end.text)
			}
		}
	}
	return ""
}

// phrases are the runs of content words with nothing but blanks between.
func (p *profile) phrases() (out [][]*word) {
	open := false
	for i, w := range p.words {
		switch {
		case w == nil || !w.content:
			open = false
			continue
		case open && follows(p.tokens[i]):
			out[len(out)-1] = append(out[len(out)-1], w)
		default:
			out = append(out, []*word{w})
		}
		open = true
	}
	return out
}

func spelled(words []*word) string {
	return strings.Join(slicesx.Map(words, func(w *word) string { return w.text }), " ")
}

// tolerated is how many words a copy may leave out, or add, and still ask for
// the same.
const tolerated = 1

// wordsOnly lists the content words of a that nothing in b stands for. In a
// verbatim copy each word of b stands for one of a.
func wordsOnly(a, b *profile, template float64) []*word {
	var used []bool
	if template >= verbatimTemplate {
		used = make([]bool, len(b.content))
	}
	return slicesx.FilterMap(a.content, func(w *word) (*word, bool) { return w, !b.means(w, used) })
}

// means reports whether a word of p is w in other letters or a synonym of it. used, if not nil, marks words
// that have stood for another one already.
func (p *profile) means(w *word, used []bool) bool {
	for i, o := range p.content {
		if (used == nil || !used[i]) && alike(w, o) {
			if used != nil {
				used[i] = true
			}
			return true
		}
	}
	return false
}

// alike reports whether two words mean the same: spelling, a slip of the
// finger, a synonym, a value of one class, a common beginning.
func alike(a, b *word) bool {
	switch {
	case a.stem == b.stem, isSlip(a, b):
		return true
	case slices.ContainsFunc(a.near, func(g int32) bool { return slices.Contains(b.near, g) }):
		return true
	case slices.ContainsFunc(a.classes, func(v classValue) bool { return slices.Contains(b.classes, v) }):
		return true
	}
	n := commonPrefix(a.stem, b.stem)
	short, long := min(len(a.stem), len(b.stem)), max(len(a.stem), len(b.stem))
	return n >= leastPrefix && (n == short || 10*n >= 6*long)
}

// leastSlip is the shortest word that a slip is looked for in when two texts
// are held side by side.
const leastSlip = 4

// isSlip reports whether one word is a misspelling of the other: one edit
// apart, and only one of the two is a word that is known.
func isSlip(a, b *word) bool {
	return a.known != b.known && min(len(a.text), len(b.text)) >= leastSlip && isOneSlip(a.text, b.text)
}
