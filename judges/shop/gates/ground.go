package gates

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Grounding lists which data and words in the thinking of one turn earlier results contain and
// which they do not.
type Grounding struct {
	// Turn is the index of the turn in the dialogue.
	Turn int
	// Supported are the ids, prices, brands, values and other data of the thinking that are in an
	// earlier result, Unsupported those that are neither in an earlier result nor in the request.
	// Each is listed once, as the thinking writes it.
	Supported, Unsupported []string
	// Words are the other words that are in no earlier result, not in the request and in no word
	// list. They may be invented names or services, and ordinary words that the lists lack.
	Words []string
}

// Ground returns the grounding of each turn with thinking after the first result, and the ids of
// the products that any of this thinking mentions by id, brand or price.
func Ground(t *arena.Trace, d *arena.Dialogue) (groundings []Grounding, mentioned map[string]bool) {
	x := indexPool.Get().(*factIndex)
	defer x.release()
	passages, e := x.load(t, d)
	mentioned = map[string]bool{}
	for i := range passages {
		r := e.newReading(&passages[i])
		groundings = append(groundings, r.grounding())
		for k := range r.cites {
			r.addMentioned(&r.cites[k], mentioned)
		}
	}
	return groundings, mentioned
}

func (r *reading) grounding() Grounding {
	g := Grounding{Turn: r.turn}
	for i := range r.cites {
		c := &r.cites[i]
		if c.kind == citeOrdinal {
			continue
		}
		text := clip(r.text[c.start:c.end])
		if c.kind == citeUnknown {
			g.Unsupported = slicesx.AppendUnique(g.Unsupported, text)
		} else if !c.inRequest {
			g.Supported = slicesx.AppendUnique(g.Supported, text)
		}
	}
	for _, text := range r.unsupported() {
		g.Unsupported = slicesx.AppendUnique(g.Unsupported, text)
	}
	g.Words = r.unknownWords(slices.Concat(g.Supported, g.Unsupported))
	return g
}

// addMentioned adds to mentioned the ids of all products, returned by earlier steps, that the cite
// c (a mention of returned data) may refer to by id, brand, title, price or place in a list.
func (r *reading) addMentioned(c *cite, mentioned map[string]bool) {
	for i := range r.index.products {
		p := &r.index.products[i]
		if p.step < r.step && r.refersTo(c, int32(i)) {
			mentioned[p.id] = true
		}
	}
}

// refersTo reports whether the cite c (a mention of returned data) may refer to a product by its
// id, brand, title, price or place in a list. product is an index of r.index.products.
func (r *reading) refersTo(c *cite, product int32) bool {
	p := &r.index.products[product]
	if c.kind == citePrice && c.token >= 0 {
		return r.tokens[c.token].number.isPrice(p.cents)
	}
	return c.product == product || c.kind == citeBrand && p.isBrand(r.folded[c.start:c.end])
}

// unsupported returns the figures and values of the passage, as it writes them, that are neither in
// an earlier result nor in the request. It leaves out plain figures of one or two digits, which are
// mostly counts and sizes.
func (r *reading) unsupported() []string {
	var texts []string
	for _, n := range r.spelled {
		if fact := r.amount(n.cents); !fact.inRequest && fact.first() >= r.step {
			texts = append(texts, r.text[n.start:n.end])
		}
	}
	for i := range r.sentences {
		for _, m := range r.sentenceMarks(i) {
			if m.concept != 0 && !r.isKnown(r.lexicon.values[m.concept]) && !r.isKnown(r.folded[m.start:m.end]) {
				texts = append(texts, r.text[m.start:m.end])
			}
		}
		tokens := r.sentenceTokens(i)
		for k := range tokens {
			if t := &tokens[k]; t.number.end > 0 && r.isUnsupportedFigure(i, t) {
				texts = append(texts, r.text[t.start:t.end])
			}
		}
	}
	return texts
}

func (r *reading) isUnsupportedFigure(sentence int, t *token) bool {
	n := &t.number
	isCount := n.plain && n.digits < 3
	if isCount || t.word >= 0 && r.index.words[t.word].inRequest {
		return false
	}
	for _, cents := range n.readings[:n.count] {
		if fact := r.amount(cents); fact.inRequest || fact.first() < r.step {
			return false
		}
	}
	covers := func(c cite) bool {
		return c.start <= t.start && t.end <= c.end
	}
	return !slices.ContainsFunc(r.sentenceCites(sentence), covers)
}

// isKnown reports whether a word, in lower case, is in the request or in an earlier result.
func (r *reading) isKnown(word string) bool {
	slot, ok := r.index.slots[word]
	if !ok {
		return false
	}
	fact := &r.index.words[slot]
	return fact.inRequest || slices.Min(fact.first[:]) < r.step
}

// Limits of the unknown words of a passage.
const (
	// minWord is the minimum number of bytes of a word that is reported because neither results,
	// request nor word lists have it.
	minWord = 4
	// maxUnknownOf is a divisor: if more than 1/maxUnknownOf of a passage's words and figures are
	// different unknown words, none is reported, since there is probably no word list for the
	// passage's language.
	maxUnknownOf = 2
)

// unknownWords returns the words of the passage with at least minWord bytes, names included, that
// are in no earlier result, not in the request and in no word list. It leaves out words that are
// part of data, the figures and values that are reported already. It returns nil if the words are
// more than half of the passage's tokens, since their language then probably has no word list.
func (r *reading) unknownWords(data []string) []string {
	var unknown []string
	reported := strings.Join(data, " ")
	for i := range r.sentences {
		tokens := r.sentenceTokens(i)
		for k := range tokens {
			t := &tokens[k]
			if text := r.text[t.start:t.end]; r.isUnknownWord(i, t) && !strings.Contains(reported, text) {
				unknown = slicesx.AppendUnique(unknown, text)
			}
		}
	}
	if len(unknown)*maxUnknownOf > len(r.tokens) {
		return nil
	}
	return unknown
}

func (r *reading) isUnknownWord(sentence int, t *token) bool {
	word := r.folded[t.start:t.end]
	if len(word) < minWord || t.number.end != 0 {
		return false
	}
	if r.lexicon.plain[word] || r.classesIn(sentence, t.span) != 0 {
		return false
	}
	return !r.isKnown(word) && !r.index.inRequest(word)
}
