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

const (
	// minTitle is the minimum number of words after the brand that a mention must share with a
	// product's title to name that product.
	minTitle = 2
	// lastPlace is the number that stands, in the word list ordinals.txt, for the last place of a
	// list of any length.
	lastPlace = 9
)

// citeTitle sets c.product and extends c.end if the words after the brand c repeat the title of a
// product of that brand, at least minTitle words of it and more than of any other title. For a
// brand of the request, some of the words must not be in the request.
func (r *reading) citeTitle(c *cite) {
	longest := minTitle - 1
	end := c.end
	for i := range r.index.products {
		p := &r.index.products[i]
		if p.step >= r.step || p.title == "" || !p.isBrand(r.folded[c.start:c.end]) || r.index.partialBudget == 0 {
			continue
		}
		r.index.partialBudget--
		words, textEnd := r.commonWords(p.title, c)
		if c.inRequest && !r.hasNewWord(c.token, textEnd) {
			continue
		}
		switch {
		case words > longest:
			longest = words
			end = textEnd
			c.product = int32(i)
		case words == longest:
			c.product = -1
		}
	}
	if c.product >= 0 {
		c.end = end
	}
}

// hasNewWord reports whether, from the given token of the passage up to the byte offset end, there
// is a word that the request does not have.
func (r *reading) hasNewWord(token int, end int32) bool {
	for _, t := range r.tokens[token:] {
		if t.start >= end {
			return false
		}
		if t.word >= 0 && !r.index.words[t.word].inRequest {
			return true
		}
	}
	return false
}

// dropInTitles removes from r.cites the mentions of values, model names and other data that are
// inside a product's title, since a title names its product and states nothing about it.
func (r *reading) dropInTitles() {
	var titles []span
	for i := range r.cites {
		if c := &r.cites[i]; c.kind == citeBrand && c.product >= 0 {
			titles = append(titles, c.span)
		}
	}
	if titles == nil {
		return
	}
	r.cites = slices.DeleteFunc(r.cites, func(c cite) bool {
		return slices.ContainsFunc(titles, func(t span) bool { return t.start < c.start && c.end <= t.end })
	})
}

// commonWords counts the words of a title, after its first one, that the passage repeats right
// after the brand c. end is the byte offset after the last of them.
func (r *reading) commonWords(title string, c *cite) (count int, end int32) {
	title = fold(title)
	at := leadingWordEnd(title)
	end = c.end
	for k := c.token + 1; k < len(r.tokens); k++ {
		for at < len(title) && wordEnd(title, at) == at {
			at++
		}
		t := &r.tokens[k]
		next := wordEnd(title, at)
		if at == len(title) || title[at:next] != r.folded[t.start:t.end] {
			break
		}
		count++
		end = t.end
		at = next
	}
	return count, end
}

// citeOrdinal appends to r.cites the product that a word such as "the second" (the mark m) points
// at. It counts among the last two products that the passage names before the word or, if it names
// fewer, in the last tool result with at least two products. It appends nothing if there is no such
// place in the list, or if the sentence speaks to a grader.
func (r *reading) citeOrdinal(sentence int, m *mark) {
	if r.sentences[sentence].classes&graderWord != 0 {
		return
	}
	var named []int32
	for _, c := range r.cites {
		if c.product >= 0 && c.end <= m.start && c.kind != citePrice && c.kind != citeOrdinal {
			named = slices.DeleteFunc(named, func(p int32) bool { return p == c.product })
			named = append(named, c.product)
		}
	}
	if len(named) > 1 {
		named = named[len(named)-2:]
	} else {
		named = r.index.lastList(r.step)
	}
	if m.ordinal == lastPlace && len(named) > 1 {
		m = &mark{m.start, m.end, meaning{ordinal: uint8(min(len(named), lastPlace))}}
	}
	if int(m.ordinal) > len(named) {
		return
	}
	r.cites = append(r.cites, cite{
		span: span{m.start, m.end}, kind: citeOrdinal, sentence: sentence, token: -1, product: named[m.ordinal-1],
	})
}

// onlyWithPrice returns the product whose price is cents, as an index of r.index.products, or -1 if
// none or several of the earlier results have that price.
func (r *reading) onlyWithPrice(cents int64) int32 {
	found := int32(-1)
	for i := range r.index.products {
		if p := &r.index.products[i]; p.step < r.step && p.cents == cents {
			if found >= 0 {
				return -1
			}
			found = int32(i)
		}
	}
	return found
}
