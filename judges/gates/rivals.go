package gates

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// candidate is one product, or one brand of several, that a step names.
type candidate struct {
	product int32
	brand   string
	// sentences name it, in order.
	sentences []int
	// products are what it stands for.
	products []int32
}

// maxCandidates bounds the candidates of one step that are held against each
// other, maxOfBrand the products that a brand may stand for.
const (
	maxCandidates = 16
	maxOfBrand    = 16
)

// candidates lists what the passage names by id, abbreviated id or brand. A
// brand that belongs to a product already named by id is no second candidate.
func (r *reading) candidates() []candidate {
	var all []candidate
	for i := range r.cites {
		if c := &r.cites[i]; c.kind == citeID && c.product >= 0 {
			all = addCandidate(all, candidate{product: c.product}, c.sentence)
		}
	}
	for i := range r.cites {
		c := &r.cites[i]
		if c.kind != citeBrand || c.asked && !r.namesOffer(c) {
			continue
		}
		brand := r.folded[c.start:c.end]
		if !r.brandNamed(all, brand, c.sentence) {
			all = addCandidate(all, candidate{product: -1, brand: brand}, c.sentence)
		}
	}
	for i := range all {
		slices.Sort(all[i].sentences)
		all[i].products = r.standsFor(&all[i])
	}
	return all
}

func addCandidate(all []candidate, c candidate, sentence int) []candidate {
	i := slices.IndexFunc(all, func(o candidate) bool { return o.product == c.product && o.brand == c.brand })
	switch {
	case i >= 0:
		all[i].sentences = append(all[i].sentences, sentence)
	case len(all) < maxCandidates:
		c.sentences = []int{sentence}
		all = append(all, c)
	}
	return all
}

// brandNamed reports whether a brand is that of products named by id, which it
// then names once more.
func (r *reading) brandNamed(all []candidate, brand string, sentence int) (named bool) {
	for i := range all {
		if all[i].product >= 0 && r.shelf.products[all[i].product].isBrand(brand) {
			all[i].sentences = append(all[i].sentences, sentence)
			named = true
		}
	}
	return named
}

// isBrand reports whether brand, folded, is the product's.
func (p *product) isBrand(brand string) bool {
	text := cmp.Or(p.brand, p.title)
	return strings.EqualFold(text[:leadEnd(text)], brand)
}

// namesOffer reports whether the brand that the customer asked for stands for an
// offer and is not said of one ("is by Kota", "isn't Kota").
func (r *reading) namesOffer(c *cite) bool { return c.token >= 0 && !r.isProperty(c) }

// notBefore are the words behind which a brand is said of a product.
const notBefore = " by from is not isn t are brand said wants wanted marke von ist nicht marque de est pas marca es no sobre merek bukan tatak "

// isProperty reports whether a brand is said of a product instead of naming one.
func (r *reading) isProperty(c *cite) bool {
	k := int32(c.token - 1)
	if k < r.sentences[c.sentence].tokens.start {
		return strings.HasSuffix(r.folded[:c.start], "是")
	}
	previous := r.folded[r.tokens[k].start:r.tokens[k].end]
	return strings.Contains(notBefore, " "+previous+" ") || strings.HasSuffix(r.folded[:c.start], "是")
}

func (r *reading) standsFor(c *candidate) []int32 {
	if c.product >= 0 {
		return []int32{c.product}
	}
	var all []int32
	for i := range r.shelf.products {
		if p := &r.shelf.products[i]; p.step < r.step && p.isBrand(c.brand) && len(all) < maxOfBrand {
			all = append(all, int32(i))
		}
	}
	return all
}

// rival reports whether two products could fill the same slot: not recommended
// together, and of one kind. The kind is the words of the title that the
// customer used, values and brands apart; where titles share no such word at
// all, standing in one result must do, and so it must where one title has few
// of them: what one search returned is mostly of one kind.
func (r *reading) rival(p, q *product) bool {
	if slices.Contains(r.chosen, p.id) && slices.Contains(r.chosen, q.id) {
		return false
	}
	pk, qk := r.kindOf(p), r.kindOf(q)
	shared := slicesx.CountFunc(pk, func(word *int32) bool { return slices.Contains(qk, *word) })
	if p.lists&q.lists != 0 {
		return 2*shared >= min(len(pk), len(qk))
	}
	return shared > 0 && 2*shared >= max(len(pk), len(qk))
}

// kindOf are the words of a title that the request holds and that are neither
// its brand nor a value such as a colour.
func (r *reading) kindOf(p *product) []int32 {
	if p.kind != nil {
		return p.kind
	}
	p.kind = []int32{}
	title := fold(p.title)
	for i := 0; i < len(title); {
		end := wordRun(title, i)
		if end == i {
			i++
			continue
		}
		word := title[i:end]
		if slot, found := r.shelf.slots[word]; found && r.shelf.words[slot].query && len(word) > 2 && !isValue(word) && !p.isBrand(word) {
			p.kind = append(p.kind, slot)
		}
		i = end
	}
	return p.kind
}

func isValue(word string) bool {
	var room [8]mark
	marks, _ := words().find(room[:0], word, 0)
	return slices.ContainsFunc(marks, func(m mark) bool { return m.concept != 0 && int(m.end) == len(word) })
}
