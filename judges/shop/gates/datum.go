package gates

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// minID is the minimum number of digits of a number that is read as a product id.
const minID = 5

// citeKind is the kind of data that a cite mentions, such as a price or a brand.
type citeKind uint8

const (
	citeID citeKind = iota
	citeShop
	citePrice
	citeBrand
	// citeCode is the kind of a model name or of a measure with its unit: "LP40", "IP55", "28
	// hours".
	citeCode
	citeValue
	// citeUnknown is the kind of an invented id or price, which is neither in an earlier result nor
	// in the request.
	citeUnknown
	// citeOrdinal is the kind of a word such as "the second" or "the former" that points at a
	// product, and is no datum.
	citeOrdinal
)

// String returns the kind in the words of a finding's detail, such as "a product id".
func (k citeKind) String() string {
	return [...]string{
		"a product id", "a shop id", "a price or figure", "a brand", "a model or measure", "an attribute value", "something", "a place in a list",
	}[k]
}

// cite is one mention, in the thinking, of data from a tool result, such as an id, a price or a
// brand, or of an invented id or price.
type cite struct {
	span
	kind citeKind
	// sentence is the index of the cite's sentence in the passage. token is the index of its token,
	// or -1 if the cite is not exactly one token.
	sentence int
	token    int
	// product is an index of factIndex.products: the product with this id, the only one with this
	// price, or the one with this title or place. It is -1 if there is none.
	product int32
	// inRequest is set if the customer's own text has the same word or figure.
	inRequest bool
}

// namesProduct reports whether the cite (a mention of returned data) is the id or the brand of a
// product.
func (c *cite) namesProduct() bool { return c.kind == citeID || c.kind == citeBrand }

// pointsAt reports whether the cite (a mention of returned data) refers to exactly one product by
// its price or by its place in a list.
func (c *cite) pointsAt() bool {
	return c.product >= 0 && (c.kind == citePrice || c.kind == citeOrdinal)
}

// isCandidate reports whether the cite (a mention of returned data) names a product or points at one.
func (c *cite) isCandidate() bool { return c.namesProduct() || c.pointsAt() }

// reading is the thinking of one turn, split into sentences and words, with the cites (mentions of
// returned data) found in it.
type reading struct {
	*evaluator
	*passage
	// cites are ordered by sentence. Those of sentence i are cites[starts[i]:starts[i+1]].
	cites  []cite
	starts []int32
	// lettered is set if the passage labels candidates with letters, such as "A:" or "A)".
	lettered bool
	// undecided is the index range of the sentences that choose nothing, since the decision is left open;
	// nil if it was not looked for yet.
	undecided *span
	// ascribed caches the ascriptions by sentence.
	ascribed map[int][]ascription
}

// findCites finds all cites (mentions of returned data) in the passage and stores them in r.cites
// by sentence. It sets r.starts to the index of each sentence's first cite.
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
		r.citeMarks(i)
	}
	count := len(r.cites)
	for _, n := range r.spelled {
		r.citeSpelled(n)
	}
	r.citeUnspacedBrands()
	isSorted := len(r.cites) == count
	r.dropInTitles()
	if !isSorted {
		slicesx.SortByKey(r.cites, func(a cite) int {
			return a.sentence
		})
	}

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

// citeToken reports whether a token mentions data that a tool returned earlier, or an invented id
// or price. It sets the kind of c and, where the kind has them, its product and inRequest. It calls
// one function per kind, such as citeID and citeBrand, each of which does the same for that kind.
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

// citeBrand reports whether the token t is a brand, and if so sets c.kind and c.inRequest and, if
// the title of one product follows, c.product and c.end. A word is a brand if an earlier result has
// it in a field for brands, or as the first word of a title while no result has it inside a title
// or as an attribute value.
func (r *reading) citeBrand(t *token, c *cite) bool {
	fact := &r.index.words[t.word]
	startsTitles := fact.first[roleTitleStart] < r.step && fact.first[roleValue] == never
	if fact.first[roleBrand] >= r.step && !startsTitles || t.end-t.start < 2 {
		return false
	}
	c.kind = citeBrand
	c.inRequest = r.index.inRequest(r.folded[t.start:t.end])
	r.citeTitle(c)
	return true
}

// citeCode reports whether a token is a model name or a measure that is in an earlier result and
// not in the request: a word of letters and digits ("IP55"), or a figure with the word after it
// ("28 hours"). Both have this form in any language. For every token of this form it sets c.kind,
// even if the result is false.
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

// minCode is the minimum number of bytes of a model name. A shorter word of a letter and a digit,
// such as "a1", numbers the items of a list.
const minCode = 3

func isCode(word string) bool {
	for i := range len(word) {
		if isDigit(word[i]) {
			return strings.ContainsFunc(word, unicode.IsLetter)
		}
	}
	return false
}

// citeRequestWord reports whether a token is a word of three bytes or more that is both in the
// request and in an earlier result. It sets c.kind and c.inRequest.
func (r *reading) citeRequestWord(t *token, c *cite) bool {
	fact := &r.index.words[t.word]
	if fact.firstInText() >= r.step || t.end-t.start < 3 {
		return false
	}
	c.kind = citeValue
	c.inRequest = r.index.inRequest(r.folded[t.start:t.end])
	return c.inRequest
}

// citeMarks appends to r.cites the products that a sentence names by a place in a list ("the
// second"), and the colours, materials, styles and services of the sentence that an earlier result
// contains. The word lists map the names of these values in many languages to the word that tools
// return.
func (r *reading) citeMarks(sentence int) {
	for _, m := range r.sentenceMarks(sentence) {
		if m.ordinal != 0 {
			r.citeOrdinal(sentence, &m)
		}
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

// findDatum returns the data in a sentence that a tool returned and the request does not have, as
// two mentions, either of which may be nil. strong is the first that is evidence by itself: a
// price, a brand, a model name, or a product or shop id with a comment on it. weak is the first
// attribute value (such as a colour) before strong; it is evidence only if the sentence comments on
// results. If it meets an invented id or price before strong, it describes that in r.invented.
func (r *reading) findDatum(sentence int) (strong, weak *cite) {
	cites := r.sentenceCites(sentence)
	for i := range cites {
		c := &cites[i]
		if c.inRequest {
			continue
		}
		switch c.kind {
		case citeOrdinal:
		case citePrice, citeBrand, citeCode:
			return c, weak
		case citeID, citeShop:
			if !r.isBareID(c) && !r.isVague(c) {
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
