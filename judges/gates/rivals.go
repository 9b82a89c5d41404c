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
	// sentences are those that name it, in order.
	sentences []int
	// products are the products that it may refer to.
	products []int32
}

// maxCandidates is the maximum number of candidates of one step that are
// compared, maxOfBrand that of the products that a brand may refer to.
const (
	maxCandidates = 16
	maxOfBrand    = 16
)

// candidates returns the products that the passage names by id, abbreviated id or
// brand. The brand of a product that is already named by id is no second
// candidate.
func (r *reading) candidates() []candidate {
	var candidates []candidate
	for i := range r.cites {
		if c := &r.cites[i]; c.kind == citeID && c.product >= 0 {
			candidates = addCandidate(candidates, candidate{product: c.product}, c.sentence)
		}
	}
	for i := range r.cites {
		c := &r.cites[i]
		if c.kind != citeBrand || c.inRequest && !r.namesOffer(c) {
			continue
		}
		brand := r.folded[c.start:c.end]
		if !r.addToProducts(candidates, brand, c.sentence) {
			candidates = addCandidate(candidates, candidate{
				product: -1,
				brand:   brand,
			}, c.sentence)
		}
	}
	for i := range candidates {
		slices.Sort(candidates[i].sentences)
		candidates[i].products = r.productsOf(&candidates[i])
	}
	return candidates
}

// addCandidate adds a sentence to a candidate, which it appends if it is new and
// there are fewer than maxCandidates.
func addCandidate(candidates []candidate, c candidate, sentence int) []candidate {
	i := slices.IndexFunc(candidates, func(o candidate) bool {
		return o.product == c.product && o.brand == c.brand
	})
	if i >= 0 {
		candidates[i].sentences = append(candidates[i].sentences, sentence)
		return candidates
	}
	if len(candidates) == maxCandidates {
		return candidates
	}
	c.sentences = []int{sentence}
	return append(candidates, c)
}

// addToProducts adds a sentence with a brand to the candidates of that brand that
// are named by id, and reports whether there are any.
func (r *reading) addToProducts(candidates []candidate, brand string, sentence int) bool {
	found := false
	for i := range candidates {
		c := &candidates[i]
		if c.product >= 0 && r.index.products[c.product].isBrand(brand) {
			c.sentences = append(c.sentences, sentence)
			found = true
		}
	}
	return found
}

// isBrand reports whether brand, folded, is the product's.
func (p *product) isBrand(brand string) bool {
	text := cmp.Or(p.brand, p.title)
	return strings.EqualFold(text[:leadingWordEnd(text)], brand)
}

// namesOffer reports whether the brand that the customer requested refers to an
// offer, and is not a property of one ("is by Kota", "isn't Kota").
func (r *reading) namesOffer(c *cite) bool { return c.token >= 0 && !r.isProperty(c) }

// propertyWords are the words after which a brand is a property of a product.
const propertyWords = " by from is not isn t are brand said wants wanted marke von ist nicht marque de est pas marca es no sobre merek bukan tatak "

// isProperty reports whether a brand is a property of a product and does not name
// one.
func (r *reading) isProperty(c *cite) bool {
	if strings.HasSuffix(r.folded[:c.start], "是") {
		return true
	}
	k := int32(c.token - 1)
	if k < r.sentences[c.sentence].tokens.start {
		return false
	}
	previous := r.folded[r.tokens[k].start:r.tokens[k].end]
	return strings.Contains(propertyWords, " "+previous+" ")
}

// productsOf returns the indexes of the earlier products that a candidate may
// refer to.
func (r *reading) productsOf(c *candidate) []int32 {
	if c.product >= 0 {
		return []int32{c.product}
	}
	var products []int32
	for i := range r.index.products {
		if p := &r.index.products[i]; p.step < r.step && p.isBrand(c.brand) && len(products) < maxOfBrand {
			products = append(products, int32(i))
		}
	}
	return products
}

// isRival reports whether two products could fill the same slot: they are not
// recommended together and of one kind. The kind is the words of the title that
// are in the request, without values and brands. For two products of one result,
// half of the words of the shorter kind are enough, which may be none: the
// products of one search are mostly of one kind.
func (r *reading) isRival(p, q *product) bool {
	if slices.Contains(r.chosen, p.id) && slices.Contains(r.chosen, q.id) {
		return false
	}
	a := r.kindWords(p)
	b := r.kindWords(q)
	shared := slicesx.CountFunc(a, func(word *int32) bool {
		return slices.Contains(b, *word)
	})
	if p.results&q.results != 0 {
		return 2*shared >= min(len(a), len(b))
	}
	return shared > 0 && 2*shared >= max(len(a), len(b))
}

// kindWords returns the slots of the words of a title that are in the request and
// neither its brand nor a value such as a colour.
func (r *reading) kindWords(p *product) []int32 {
	if p.kind != nil {
		return p.kind
	}
	p.kind = []int32{}
	title := fold(p.title)
	for i := 0; i < len(title); {
		end := wordEnd(title, i)
		if end == i {
			i++
			continue
		}
		word := title[i:end]
		slot, ok := r.index.slots[word]
		if ok && len(word) > 2 && r.index.words[slot].inRequest && !isValue(word) && !p.isBrand(word) {
			p.kind = append(p.kind, slot)
		}
		i = end
	}
	return p.kind
}

// isValue reports whether a folded word is a value of the lexicon.
func isValue(word string) bool {
	var buf [8]mark
	marks, _ := words().appendMatches(buf[:0], word, 0)
	return slices.ContainsFunc(marks, func(m mark) bool {
		return m.concept != 0 && int(m.end) == len(word)
	})
}
