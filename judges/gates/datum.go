package gates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// minID is the minimum number of digits of a product's id.
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
	// citeUnknown is an id or price that is neither in a result nor in the
	// request.
	citeUnknown
)

// String returns the kind as a finding's detail writes it.
func (k citeKind) String() string {
	return [...]string{
		"a product id", "a shop id", "a price or figure", "a brand", "a model or measure", "an attribute value", "something",
	}[k]
}

// cite is one mention of a datum in a passage.
type cite struct {
	span
	kind citeKind
	// sentence and token index the passage's slices; token is -1 if the cite is
	// no single token.
	sentence int
	token    int
	// product indexes the products of the fact index; -1 if the cite names none.
	product int32
	// inRequest is set for the customer's own words.
	inRequest bool
}

// namesProduct reports whether the cite is a product's id or brand.
func (c *cite) namesProduct() bool { return c.kind == citeID || c.kind == citeBrand }

// reading is one passage with its cites.
type reading struct {
	*evaluator
	*passage
	// cites are in the order of their sentences. Those of sentence i are
	// cites[starts[i]:starts[i+1]].
	cites  []cite
	starts []int32
	// lettered is set if the passage labels candidates with letters.
	lettered bool
}

// findCites fills r.cites and r.starts.
func (r *reading) findCites() {
	for i := range r.sentences {
		s := &r.sentences[i]
		for k := s.tokens.start; k < s.tokens.end; k++ {
			t := &r.tokens[k]
			c := cite{
				span:     t.span,
				sentence: i,
				token:    int(k),
				product:  -1,
			}
			if r.citeToken(t, &c) {
				r.cites = append(r.cites, c)
			}
		}
		r.citeValues(i)
	}
	for _, n := range r.spelled {
		r.citeSpelled(n)
	}
	r.citeUnspacedBrands()
	slices.SortStableFunc(r.cites, func(a, b cite) int {
		return a.sentence - b.sentence
	})

	k := 0
	for i := 0; i <= len(r.sentences); i++ {
		for k < len(r.cites) && r.cites[k].sentence < i {
			k++
		}
		r.starts = append(r.starts, int32(k))
	}
}

func (r *reading) sentenceCites(sentence int) []cite {
	return r.cites[r.starts[sentence]:r.starts[sentence+1]]
}

// citeToken reports whether a token is a datum, and sets the kind and product of
// c. The other cite functions of one token do the same for one kind each.
func (r *reading) citeToken(t *token, c *cite) bool {
	if t.number.end == 0 {
		if isCode(r.folded[t.start:t.end]) && r.citeID(t, c) {
			return true
		}
		return r.citeBrand(t, c) || r.citeCode(t, c) || r.citeRequestWord(t, c)
	}
	if t.number.plain {
		if t.number.digits >= minID && r.citeID(t, c) || r.citeShop(t, c) {
			return true
		}
	}
	if r.citeAmount(t, c) || r.citePartialID(t, c) || r.citeCode(t, c) || r.citeUnknown(t, c) {
		return true
	}
	return t.word >= 0 && r.citeRequestWord(t, c)
}

// citeBrand reports whether a word is a brand: a result calls it one, or it is
// the first word of titles and neither a value nor an inner word of any.
func (r *reading) citeBrand(t *token, c *cite) bool {
	fact := &r.index.words[t.word]
	startsTitles := fact.first[roleTitleStart] < r.step && fact.first[roleValue] == never
	if fact.first[roleBrand] >= r.step && !startsTitles || t.end-t.start < 2 {
		return false
	}
	c.kind = citeBrand
	c.inRequest = r.index.inRequest(r.folded[t.start:t.end])
	return true
}

// citeCode reports whether a word of letters and digits, or a figure with the
// word after it, is in a result and not in the request: the names of models and
// the measures of a product have this form in any language.
func (r *reading) citeCode(t *token, c *cite) bool {
	slot := t.measure
	if slot < 0 && t.end-t.start >= minCode && isCode(r.folded[t.start:wordEnd(r.folded, int(t.start))]) {
		slot = t.word
	}
	if slot < 0 {
		return false
	}
	fact := &r.index.words[slot]
	c.kind = citeCode
	return !fact.inRequest && fact.firstInText() < r.step
}

// minCode is the minimum length of a code: shorter ones are letters of a list.
const minCode = 3

func isCode(word string) bool {
	return strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, unicode.IsLetter)
}

// citeRequestWord reports whether a word is the customer's own and in a result.
func (r *reading) citeRequestWord(t *token, c *cite) bool {
	fact := &r.index.words[t.word]
	if fact.firstInText() >= r.step || t.end-t.start < 3 {
		return false
	}
	c.kind = citeValue
	c.inRequest = r.index.inRequest(r.folded[t.start:t.end])
	return c.inRequest
}

// citeValues adds the colours, materials, styles and services of a sentence, in
// any language of the lexicon, that are in an earlier result.
func (r *reading) citeValues(sentence int) {
	for _, m := range r.sentenceMarks(sentence) {
		if m.concept == 0 {
			continue
		}
		slot, ok := r.index.slots[words().values[m.concept]]
		if !ok {
			continue
		}
		fact := &r.index.words[slot]
		if fact.firstInText() >= r.step {
			continue
		}
		r.cites = append(r.cites, cite{
			span: span{m.start, m.end}, kind: citeValue, sentence: sentence, token: -1, product: -1, inRequest: fact.inRequest,
		})
	}
}

// findDatum returns the first datum of a sentence that counts by itself, and the
// first value before it, which counts if the sentence describes results. Either
// is nil if there is none.
func (r *reading) findDatum(sentence int) (strong, weak *cite) {
	cites := r.sentenceCites(sentence)
	for i := range cites {
		c := &cites[i]
		if c.inRequest {
			continue
		}
		switch c.kind {
		case citePrice, citeBrand, citeCode:
			return c, weak
		case citeID, citeShop:
			if !r.isBareID(c) {
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
