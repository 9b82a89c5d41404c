package gates

import (
	"slices"
	"strings"
)

// citeID reports whether a token is the id of a product or shop in an earlier result. It sets
// c.kind, c.inRequest and, for a product, c.product.
func (r *reading) citeID(t *token, c *cite) bool {
	fact := &r.index.words[t.word]
	c.inRequest = fact.inRequest
	if product, ok := r.index.byID[r.folded[t.start:t.end]]; ok && r.index.products[product].step < r.step {
		c.kind = citeID
		c.product = product
		return true
	}
	c.kind = citeShop
	if fact.first[roleID] < r.step {
		c.kind = citeID
	}
	return min(fact.first[roleID], fact.first[roleShop]) < r.step
}

// minShop is the minimum number of digits of a number that is read as a shop id.
const minShop = 3

func (r *reading) citeShop(t *token, c *cite) bool {
	fact := &r.index.words[t.word]
	c.kind = citeShop
	c.inRequest = fact.inRequest
	return t.number.digits >= minShop && fact.first[roleShop] < r.step
}

// ellipses are the signs that replace the omitted digits of an abbreviated id, as in "…8976".
var ellipses = [...]string{"…", "..", "*"}

func endsInEllipsis(text string) bool {
	return slices.ContainsFunc(ellipses[:], func(sign string) bool {
		return strings.HasSuffix(text, sign)
	})
}

func beginsWithEllipsis(text string) bool {
	return slices.ContainsFunc(ellipses[:], func(sign string) bool {
		return strings.HasPrefix(text, sign)
	})
}

// maxPart is the maximum number of digits of a number in the thinking that may be a part of a
// longer product id.
const maxPart = 9

// citePartialID reports whether a token is a part of a product id in an earlier result, and if so
// sets c.kind and c.product. With an ellipsis ("…8976", "5008…") three digits are enough, and of
// several matching ids the last counts. Without one, four to nine digits must begin or end exactly
// one id and omit at least three of its digits. Each comparison uses up r.index.partialBudget; at 0
// no token is part of an id.
func (r *reading) citePartialID(t *token, c *cite) bool {
	n := &t.number
	if !n.plain || n.digits < 3 || n.digits > maxPart || r.index.words[t.word].inRequest {
		return false
	}
	cutBefore := endsInEllipsis(r.folded[:t.start])
	cutAfter := beginsWithEllipsis(r.folded[t.end:])
	marked := cutBefore || cutAfter
	if n.digits == 3 && !marked || r.index.partialBudget == 0 {
		return false
	}
	r.index.partialBudget--

	minMissing := 3
	if marked {
		minMissing = 1
	}
	last := int32(-1)
	matches := 0
	part := r.folded[t.start:t.end]
	for i := range r.index.products {
		p := &r.index.products[i]
		if p.step >= r.step || len(p.id)-len(part) < minMissing {
			continue
		}
		isHead := !cutBefore && strings.HasPrefix(p.id, part)
		if isHead || !cutAfter && strings.HasSuffix(p.id, part) {
			last = int32(i)
			matches++
		}
	}
	if matches == 0 || matches > 1 && !marked {
		return false
	}
	c.kind = citeID
	c.product = last
	return true
}

// citeSpelled appends a number in words to r.cites, as a price, if an earlier result contains the
// amount and the request does not.
func (r *reading) citeSpelled(n spelled) {
	fact := r.amount(n.cents)
	if fact.inRequest || fact.first() >= r.step {
		return
	}
	if i, ok := r.findSentence(n.start); ok {
		r.cites = append(r.cites, cite{
			span:     n.span,
			kind:     citePrice,
			sentence: i,
			token:    -1,
			product:  -1,
		})
	}
}

// amount returns what is known of an amount, in hundredths: the first results that contain it, and
// whether it is in the request. The amount must have been added to r.index, as all figures of the
// thinking are.
func (r *reading) amount(cents int64) *amountFact {
	return &r.index.amounts[r.index.figures[cents]]
}

// topScore is the highest grade that a judge gives, 0.9, in hundredths. The figure 0.9 in an
// agent's thinking never counts as a price, since texts that tell the judge which grade to give
// contain it.
const topScore = 90

// citeAmount reports whether the figure t is an amount in an earlier result and not in the request,
// and if so sets c.kind and c.product. A whole figure below 100 is in almost any text. It counts
// only if it is a returned price, rounded or not, and its sentence has a word of money, a
// comparative or a sign such as ">".
func (r *reading) citeAmount(t *token, c *cite) bool {
	n := &t.number
	hasContext := r.sentences[c.sentence].classes&(moneyWord|compareWord) != 0 || r.comparesFigures(c.sentence)
	for _, cents := range n.readings[:n.count] {
		fact := r.amount(cents)
		if fact.inRequest {
			return false
		}
		isSmall := cents%100 == 0 && n.digits < 3 && n.rounding == 0
		isPrice := hasContext && fact.rounded < r.step
		if cents == topScore || isSmall && !isPrice {
			continue
		}
		if fact.first() < r.step {
			c.kind = citePrice
			c.product = r.onlyWithPrice(cents)
			return true
		}
	}
	return false
}

// citeUnknown reports whether a token is an invented id or price, and sets c.kind. It must be
// called only for tokens that are in no earlier result. Of these, a plain number is an invented id
// if it has at least minID digits and is not in the request. Another figure is an invented price if
// it is 1 or more, is not in the request, and has cents or a word of money in its sentence.
func (r *reading) citeUnknown(t *token, c *cite) bool {
	n := &t.number
	c.kind = citeUnknown
	if n.plain {
		return n.digits >= minID && !r.index.words[t.word].inRequest
	}
	if n.readings[0] < 100 { // a share or a weight is no price
		return false
	}
	inRequest := func(cents int64) bool { return r.amount(cents).inRequest }
	if slices.ContainsFunc(n.readings[:n.count], inRequest) {
		return false
	}
	return n.readings[0]%100 != 0 || r.sentences[c.sentence].classes&moneyWord != 0
}
