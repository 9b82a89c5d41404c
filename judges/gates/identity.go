package gates

import (
	"slices"
	"strings"
)

func (r *reading) citesID(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	if at, found := r.shelf.byID[r.folded[t.start:t.end]]; found && r.shelf.products[at].step < r.step {
		c.kind, c.product, c.asked = citeID, at, fact.query
		return true
	}
	c.kind, c.asked = citeShop, fact.query
	if fact.first[roleID] < r.step {
		c.kind = citeID
	}
	return min(fact.first[roleID], fact.first[roleShop]) < r.step
}

// minShop is the least number of digits of a shop's id that is read as one.
const minShop = 3

func (r *reading) citesShop(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	c.kind, c.asked = citeShop, fact.query
	return t.number.digits >= minShop && fact.first[roleShop] < r.step
}

// leftOut reports whether dots or a star stand at the end of a text
// (strings.HasSuffix) or at its beginning (strings.HasPrefix).
func leftOut(text string, at func(text, sign string) bool) bool {
	return at(text, "…") || at(text, "..") || at(text, "*")
}

// maxPart is the most digits of an id that is read as a part of one.
const maxPart = 9

// citesPartOfID reads abbreviated ids: "…8976", "5008…", or four digits or more
// that begin or end exactly one id returned so far and leave three of it out.
func (r *reading) citesPartOfID(t *token, c *cite) bool {
	n := &t.number
	if !n.plain || n.digits < 3 || n.digits > maxPart || r.shelf.words[t.word].query {
		return false
	}
	before, after := leftOut(r.folded[:t.start], strings.HasSuffix), leftOut(r.folded[t.end:], strings.HasPrefix)
	if n.digits == 3 && !before && !after || r.shelf.parts == 0 {
		return false
	}
	r.shelf.parts--
	match, found := int32(-1), 0
	part := r.folded[t.start:t.end]
	for i := range r.shelf.products {
		p := &r.shelf.products[i]
		if hidden := len(p.id) - len(part); p.step >= r.step || hidden < 1 || hidden < 3 && !before && !after {
			continue
		}
		if !before && strings.HasPrefix(p.id, part) || !after && strings.HasSuffix(p.id, part) {
			match, found = int32(i), found+1
		}
	}
	c.kind, c.product = citeID, match
	return found == 1 || found > 1 && (before || after)
}

func (r *reading) citeSpelled(n spelled) {
	fact := &r.shelf.amounts[r.shelf.figures[n.cents]]
	if fact.query || min(fact.exact, fact.rounded) >= r.step {
		return
	}
	if i, found := r.sentenceAt(n.start); found {
		r.cites = append(r.cites, cite{span: n.span, kind: citePrice, sentence: i, token: -1, product: -1})
	}
}

// topScore is the highest grade, in hundredths: orders to whoever grades name it.
const topScore = 90

// citesAmount reports whether a figure is one that a result holds. Whole figures
// below a hundred are everywhere: they must be a price, rounded or not, and need
// a word of money beside them.
func (r *reading) citesAmount(t *token, c *cite) bool {
	n := &t.number
	s := &r.sentences[c.sentence]
	context := s.classes&(moneyWord|compareWord) != 0 || r.figuresCompared(s)
	for _, cents := range n.readings[:n.count] {
		fact := &r.shelf.amounts[r.shelf.figures[cents]]
		if fact.query {
			return false
		}
		switch {
		case cents == topScore, cents%100 == 0 && n.digits < 3 && n.step == 0 && (!context || fact.rounded >= r.step):
		case min(fact.exact, fact.rounded) < r.step:
			c.kind = citePrice
			return true
		}
	}
	return false
}

// citesUnknown notes an id or a price with centavos that is nowhere.
func (r *reading) citesUnknown(t *token, c *cite) bool {
	n := &t.number
	c.kind = citeUnknown
	asked := func(cents int64) bool { return r.shelf.amounts[r.shelf.figures[cents]].query }
	switch {
	case n.plain && n.digits >= minID:
		return !r.shelf.words[t.word].query
	case n.plain || n.readings[0] < 100 || slices.ContainsFunc(n.readings[:n.count], asked): // a share or a weight is no price
		return false
	}
	return n.readings[0]%100 != 0 || r.sentences[c.sentence].classes&moneyWord != 0
}
