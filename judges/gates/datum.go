package gates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// minID is the least number of digits of an id that is read as one.
const minID = 5

type citeKind uint8

const (
	citeID citeKind = iota
	citeShop
	citePrice
	citeBrand
	// citeCode is a model or a measure: "LP40", "IP55", "28 hours".
	citeCode
	citeValue
	// citeUnknown is an id or price that neither a result nor the request
	// holds.
	citeUnknown
)

// String names the kind in a finding's detail.
func (k citeKind) String() string {
	return [...]string{"a product id", "a shop id", "a price or figure", "a brand", "a model or measure", "an attribute value", "something"}[k]
}

type cite struct {
	span
	kind     citeKind
	sentence int
	token    int
	// product indexes the shelf's products; -1 where the cite names none.
	product int32
	// asked is set for the customer's own words.
	asked bool
}

type reading struct {
	*weigher
	*passage
	// cites lie in the order of their sentences; starts is where those of each
	// sentence begin.
	cites  []cite
	starts []int32
	// lettered is set where the passage gives candidates letters.
	lettered bool
}

func (r *reading) cite() {
	for i := range r.sentences {
		s := &r.sentences[i]
		for k := s.tokens.start; k < s.tokens.end; k++ {
			t := &r.tokens[k]
			c := cite{span: t.span, sentence: i, token: int(k), product: -1}
			if r.citesData(t, &c) {
				r.cites = append(r.cites, c)
			}
		}
		r.citeValues(i)
	}
	for _, n := range r.spelled {
		r.citeSpelled(n)
	}
	r.citeUnspacedBrands()
	slices.SortStableFunc(r.cites, func(a, b cite) int { return a.sentence - b.sentence })
	for i, k := 0, 0; i <= len(r.sentences); i++ {
		for k < len(r.cites) && r.cites[k].sentence < i {
			k++
		}
		r.starts = append(r.starts, int32(k))
	}
}

func (r *reading) citesOf(sentence int) []cite {
	return r.cites[r.starts[sentence]:r.starts[sentence+1]]
}

func (r *reading) citesData(t *token, c *cite) bool {
	if t.number.end == 0 {
		return isCode(r.folded[t.start:t.end]) && r.citesID(t, c) || r.citesBrand(t, c) || r.citesCode(t, c) || r.citesWord(t, c)
	}
	if t.number.plain && (t.number.digits >= minID && r.citesID(t, c) || r.citesShop(t, c)) {
		return true
	}
	return r.citesAmount(t, c) || r.citesPartOfID(t, c) || r.citesCode(t, c) || r.citesUnknown(t, c) || t.word >= 0 && r.citesWord(t, c)
}

// citesBrand reports whether a word is a brand: named so by a result, or the
// first word of titles and no value or inner word of any.
func (r *reading) citesBrand(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	byTitle := fact.first[roleTitleStart] < r.step && fact.first[roleValue] == never
	if fact.first[roleBrand] >= r.step && !byTitle || t.end-t.start < 2 {
		return false
	}
	c.kind, c.asked = citeBrand, r.shelf.asked(r.folded[t.start:t.end])
	return true
}

// citesCode reports whether a word of letters and digits, or a figure with the
// word after it, stands so in a result and not in the request: what the names
// of models and the measures of a product look like in any language.
func (r *reading) citesCode(t *token, c *cite) bool {
	slot := t.measure
	if slot < 0 && t.end-t.start >= minCode && isCode(r.folded[t.start:wordRun(r.folded, int(t.start))]) {
		slot = t.word
	}
	if slot < 0 {
		return false
	}
	fact := &r.shelf.words[slot]
	c.kind = citeCode
	return !fact.query && min(fact.first[roleValue], fact.first[roleText]) < r.step
}

// minCode is the least length of a code: shorter ones are letters of a list.
const minCode = 3

func isCode(word string) bool {
	return strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, unicode.IsLetter)
}

// citesWord reports whether a word is the customer's own and a result holds it.
func (r *reading) citesWord(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	if min(fact.first[roleValue], fact.first[roleText]) >= r.step || t.end-t.start < 3 {
		return false
	}
	c.kind, c.asked = citeValue, r.shelf.asked(r.folded[t.start:t.end])
	return c.asked
}

// citeValues notes the colours, materials, styles and services of a sentence,
// in any language of the lexicon, that an earlier result holds.
func (r *reading) citeValues(sentence int) {
	s := &r.sentences[sentence]
	for _, m := range r.marks[s.marks.start:s.marks.end] {
		if m.concept == 0 {
			continue
		}
		slot, found := r.shelf.slots[words().values[m.concept]]
		if !found {
			continue
		}
		if fact := &r.shelf.words[slot]; min(fact.first[roleValue], fact.first[roleText]) < r.step {
			r.cites = append(r.cites, cite{span: span{m.start, m.end}, kind: citeValue, sentence: sentence, token: -1, product: -1, asked: fact.query})
		}
	}
}

// datumIn finds the first datum of a sentence that counts by itself, and the
// first value, which counts where the sentence describes results.
func (r *reading) datumIn(sentence int) (strong, weak *cite) {
	cites := r.citesOf(sentence)
	for i := range cites {
		c := &cites[i]
		if c.asked {
			continue
		}
		switch c.kind {
		case citePrice, citeBrand, citeCode:
			return c, weak
		case citeID, citeShop:
			if !r.bare(c) {
				return c, weak
			}
		case citeValue:
			weak = cmp.Or(weak, c)
		case citeUnknown:
			r.invented = fmt.Sprintf("; no result holds %q", clip(r.text[c.start:c.end]))
		}
	}
	return nil, weak
}
