package gates

// citeSpelled notes a price written in words.
func (r *reading) citeSpelled(n spelled) {
	fact := &r.shelf.amounts[r.shelf.figures[n.cents]]
	if fact.query || min(fact.exact, fact.rounded) >= r.step {
		return
	}
	i, found := r.sentenceAt(n.start)
	if found {
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
	switch {
	case n.plain && n.digits >= minID:
		return !r.shelf.words[t.word].query
	case n.plain || n.readings[0] < 100: // a share or a weight is no price
		return false
	}
	for _, cents := range n.readings[:n.count] {
		if r.shelf.amounts[r.shelf.figures[cents]].query {
			return false
		}
	}
	s := r.sentences[c.sentence]
	return n.readings[0]%100 != 0 || s.classes&moneyWord != 0
}
