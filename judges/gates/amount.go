package gates

import "strings"

// citeSpelled notes a price written in words.
func (r *reading) citeSpelled(n spelled) {
	fact := &r.shelf.amounts[r.shelf.figures[n.cents]]
	if fact.query || min(fact.price, fact.rounded) >= r.step {
		return
	}
	i, found := r.sentenceAt(n.start)
	if found {
		r.cites = append(r.cites, cite{span: n.span, kind: citePrice, sentence: i, token: -1, product: -1})
	}
}

// citesAmount reports whether a figure is one that a result holds. Whole figures
// below a hundred are everywhere and need a word of money beside them; rounded
// prices need one too, and must not be part of a sum.
func (r *reading) citesAmount(t *token, c *cite) bool {
	n := &t.number
	s := &r.sentences[c.sentence]
	context := s.classes&(moneyWord|compareWord) != 0 || r.figuresCompared(s)
	for _, cents := range n.readings[:n.count] {
		fact := &r.shelf.amounts[r.shelf.figures[cents]]
		if fact.query {
			return false
		}
		telling := cents%100 != 0 || n.digits >= 3 || context
		switch {
		case fact.price < r.step && telling:
			c.kind = citePrice
			return true
		case fact.other < r.step && cents != topScore && (n.digits >= 4 || cents%100 != 0 || n.digits == 3 && context):
			c.kind = citeAmount
			return true
		case fact.rounded < r.step && cents%100 == 0 && (n.digits >= 3 || n.step > 0) && r.roundedHere(c, context):
			c.kind = citePrice
			return true
		}
	}
	return false
}

func (r *reading) roundedHere(c *cite, context bool) bool {
	s := r.sentences[c.sentence]
	if strings.ContainsAny(r.text[s.start:s.end], "=+") {
		return false
	}
	if r.tokens[c.token].number.digits >= 4 && s.classes&planWord == 0 || s.classes&groundWord != 0 && s.classes&planWord == 0 {
		return true
	}
	return context || len(r.cites) > 0 && r.cites[len(r.cites)-1].sentence == c.sentence
}

// citesUnknown notes an id or a price with centavos that is nowhere.
func (r *reading) citesUnknown(t *token, c *cite) bool {
	n := &t.number
	c.kind = citeUnknown
	switch {
	case n.plain && (n.digits >= 7 || n.digits >= minID && r.sentences[c.sentence].classes&groundWord != 0):
		return !r.shelf.words[t.word].query
	case n.plain || n.count == 0 || n.readings[0] < 100: // a share or a weight is no price
		return false
	}
	for _, cents := range n.readings[:n.count] {
		if r.shelf.amounts[r.shelf.figures[cents]].query {
			return false
		}
	}
	s := r.sentences[c.sentence]
	return n.readings[0]%100 != 0 || strings.IndexByte(r.text[s.start:s.end], '=') < 0 && s.classes&moneyWord != 0
}
