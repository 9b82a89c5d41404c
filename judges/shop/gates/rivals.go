package gates

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// candidate is what a passage may prefer or reject: a product that it names by id, title, price or
// place in a list, or a brand that it names, which may have several products.
type candidate struct {
	// product is an index of factIndex.products, or -1 if the candidate is a brand.
	product int32
	// brand is the brand in lower case; empty if the candidate is a product.
	brand string
	// sentences are the indexes of the sentences that name the candidate, in order.
	sentences []int
	// products are the indexes of the products that the candidate may refer to.
	products []int32
	// sole caches whether only this product has its brand; it is nil before isSole.
	sole *bool
}

const (
	// maxCandidates is the maximum number of products and brands of one passage between which a
	// choice is searched.
	maxCandidates = 16
	// maxOfBrand is the maximum number of products that are looked at for a candidate that is a
	// brand.
	maxOfBrand = 16
)

// candidates returns the products that the passage names by id, abbreviated id, title, place in a
// list or a price that no other product has, and the brands that it names. A place names a product
// only if the passage also mentions returned data: "the first is better" is about anything. The
// brand of a product that the passage also names is no second candidate.
func (r *reading) candidates() []candidate {
	var candidates []candidate
	hasDatum := slices.ContainsFunc(r.cites, func(c cite) bool {
		return !c.inRequest && c.kind < citeUnknown
	})
	for i := range r.cites {
		c := &r.cites[i]
		isVague := c.kind == citeOrdinal && !hasDatum
		if c.product >= 0 && !isVague {
			candidates = addCandidate(candidates, candidate{product: c.product}, c.sentence)
		}
	}
	for i := range r.cites {
		c := &r.cites[i]
		if c.kind != citeBrand || c.product >= 0 {
			continue
		}
		if c.inRequest && !r.namesOffer(c) {
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

// isOf reports whether a cite (a mention of returned data) names a candidate, also by a brand that
// only its product has.
func (r *reading) isOf(c *cite, candidate *candidate) bool {
	if r.mentions(c, candidate) {
		return true
	}
	if c.kind != citeBrand || c.product >= 0 || candidate.product < 0 {
		return false
	}
	brand := r.folded[c.start:c.end]
	return r.index.products[candidate.product].isBrand(brand) && r.isSole(candidate, brand)
}

// isSole reports whether no other product has the brand of a candidate. The result is cached in its sole.
func (r *reading) isSole(candidate *candidate, brand string) bool {
	if candidate.sole == nil {
		count := slicesx.CountFunc(r.index.products, func(p *product) bool { return p.step < r.step && p.isBrand(brand) })
		candidate.sole = new(count == 1)
	}
	return *candidate.sole
}

// addCandidate adds a sentence to the candidate with the product and brand of c. If there is none,
// it appends c with that sentence, unless there are maxCandidates already.
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

// addToProducts adds a sentence that names a brand to each candidate that is a product of the
// brand, and reports whether there is such a candidate.
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

// isBrand reports whether brand, in lower case, is the first word of the product's brand. For a
// product without one, the first word of its title counts.
func (p *product) isBrand(brand string) bool {
	text := cmp.Or(p.brand, p.title)
	return strings.EqualFold(text[:leadingWordEnd(text)], brand)
}

// namesOffer reports whether the brand c, which the request also has, is used as the name of an
// offered product, and not as a property as in "is by Kota" or "isn't Kota".
func (r *reading) namesOffer(c *cite) bool { return c.token >= 0 && !r.isProperty(c) }

// propertyWords are the words after which a brand is a property of a product, in several languages,
// with a blank before and after each.
const propertyWords = " by from is not isn t are brand said wants wanted marke von ist nicht marque de est pas marca es no sobre merek bukan tatak "

// isProperty reports whether the brand c follows one of propertyWords, the character 是 or "not a",
// and so is a property of a product and not the name of one.
func (r *reading) isProperty(c *cite) bool {
	if strings.HasSuffix(r.folded[:c.start], "是") {
		return true
	}
	isDenied := r.classesIn(c.sentence, span{c.start - int32(len("not a ")), c.start})&negationWord != 0
	return strings.Contains(propertyWords, " "+r.wordBefore(c)+" ") || isDenied && r.followsArticle(c)
}

// followsArticle reports whether the word before a cite is "a" or "an".
func (r *reading) followsArticle(c *cite) bool {
	word := r.wordBefore(c)
	return word == "a" || word == "an"
}

// wordBefore returns the token before a cite in its sentence, in lower case. It is empty if there
// is none or the cite is not exactly one token.
func (r *reading) wordBefore(c *cite) string {
	k := int32(c.token - 1)
	if k < r.sentences[c.sentence].tokens.start {
		return ""
	}
	return r.folded[r.tokens[k].start:r.tokens[k].end]
}

// productsOf returns the products that a candidate stands for: its own one, or the first maxOfBrand
// products of its brand that earlier steps returned. Products are indexes of r.index.products.
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

// isRival reports whether two products compete: they are of one kind and were not recommended
// together. The kind of a product is the words from kindWords. Two products are of one kind if they
// share a word and at least half of the words of the longer kind. For two products of one result,
// half of the words of the shorter kind are enough, which may be none: most products of one search
// are of one kind.
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

// kindWords returns those words of a product's title, of more than two bytes, that are in the
// request and neither its brand nor a value such as a colour. Each word is an index of
// r.index.words. The result is cached in p.kind.
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

// isValue reports whether the word lists have a word, in lower case, as an attribute value such as
// a colour.
func isValue(word string) bool {
	var buf [8]mark
	marks, _ := words().appendMatches(buf[:0], word, 0)
	return slices.ContainsFunc(marks, func(m mark) bool {
		return m.concept != 0 && int(m.end) == len(word)
	})
}
