package gates

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A name in a script without blanks is found in the thinking by its letters.
// minName and maxName bound, in runes, what is taken for one. maxNames bounds
// the names that are held against all titles, and looked for in all thinking.
const (
	minName  = 2
	maxName  = 6
	maxNames = 512
)

// leadEnd is where the first word of a title or brand ends: at a blank or sign,
// or where the script changes.
func leadEnd(text string) int {
	if end := wordRun(text, 0); end > 0 {
		return end
	}
	for i, c := range text {
		if !unspaced(c) {
			return i
		}
	}
	return len(text)
}

// unspacedBrands are the brands of products in scripts without blanks: what a
// result calls so, or how titles begin. Products that share a brand give it once,
// with the step of the first.
func (s *shelf) unspacedBrands() (all []unspacedBrand) {
	for i := range s.products {
		p := &s.products[i]
		text := cmp.Or(p.brand, p.title)
		name := text[:leadEnd(text)]
		first, _ := utf8.DecodeRuneInString(name)
		if n := utf8.RuneCountInString(name); !unspaced(first) || n < minName || n > maxName || len(all) == maxNames {
			continue
		}
		if !slices.ContainsFunc(all, func(b unspacedBrand) bool { return b.name == name }) {
			all = append(all, unspacedBrand{name, p.step})
		}
	}
	return all
}

// unspacedBrand is a brand and the step of the first result that holds it.
type unspacedBrand struct {
	name string
	step int32
}

// citeUnspacedBrands notes the brands that a passage names in a script without
// blanks.
func (r *reading) citeUnspacedBrands() {
	for _, b := range r.brands {
		if b.step >= r.step {
			continue
		}
		for at := 0; ; {
			found := strings.Index(r.text[at:], b.name)
			if found < 0 {
				break
			}
			start := int32(at + found)
			at = int(start) + len(b.name)
			if sentence, ok := r.sentenceAt(start); ok {
				r.cites = append(r.cites, cite{span: span{start, int32(at)}, kind: citeBrand, sentence: sentence, token: -1, product: -1, asked: strings.Contains(r.request, b.name)})
			}
		}
	}
}

// sentenceAt is the sentence that holds byte at.
func (r *reading) sentenceAt(at int32) (index int, found bool) {
	return slices.BinarySearchFunc(r.sentences, at, func(s sentence, at int32) int {
		switch {
		case s.end <= at:
			return -1
		case s.start > at:
			return 1
		default:
			return 0
		}
	})
}
