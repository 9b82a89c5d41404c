package gates

import (
	"slices"
	"strings"
)

// isFalse reports whether the tool results contradict sentence i: a comparison of figures in it, or
// what it states of the price or the values of candidate a or b.
func (r *reading) isFalse(i int, a, b *candidate) bool {
	_, isFalse := r.compareFigures(i)
	return isFalse || r.isFalseValue(i, a, b) || r.isFalseComparative(i, a, b) || r.isFalseRelation(i, a, b)
}

// copulas are words for "is" in the languages in which a comparative follows its subject, with a blank
// before and after each.
const copulas = " is was 's ist es est è é jest "

// hasCopula reports whether the first word of a text is a word for "is". The text is what a
// sentence has between a product and a comparative.
func hasCopula(text string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && strings.Contains(copulas, " "+words[0]+" ")
}

// opposite returns the product that the mention c names, and the product to compare it with. The
// first must belong to one of the candidates a and b; the second is the only product of the other
// candidate. ok is false if c is a price, names no product of a or b, or if the other candidate has
// no product or several.
func (r *reading) opposite(c *cite, a, b *candidate) (named, other *product, ok bool) {
	if c.product < 0 || c.kind == citePrice {
		return nil, nil, false
	}
	rival := a
	if slices.Contains(a.products, c.product) {
		rival = b
	} else if !slices.Contains(b.products, c.product) {
		return nil, nil, false
	}
	if len(rival.products) != 1 {
		return nil, nil, false
	}
	return &r.index.products[c.product], &r.index.products[rival.products[0]], true
}

// isFalseComparative reports whether sentence i calls one of a and b the cheaper or the dearer one, as
// in "612 is the cheaper one of the two", and the prices say the opposite.
func (r *reading) isFalseComparative(i int, a, b *candidate) bool {
	const relation = lessWord | moreWord
	const maxWords = 3
	marks := r.sentenceMarks(i)
	cites := r.sentenceCites(i)
	for k := range marks {
		m := &marks[k]
		if m.class&relation == 0 || m.class&compareWord == 0 || r.isNegated(m, marks) {
			continue
		}
		for n := range cites {
			named, other, ok := r.opposite(&cites[n], a, b)
			if !ok || named.cents == 0 || other.cents == 0 || r.wordsBetween(cites[n].end, m.start) > maxWords {
				continue
			}
			isLess := named.cents < other.cents
			saysLess := m.class&lessWord != 0
			if isLess != saysLess && named.cents != other.cents && hasCopula(r.folded[cites[n].end:m.start]) {
				return true
			}
		}
	}
	return false
}

// isFalseValue reports whether sentence i ascribes an attribute value, such as a colour, to the
// wrong candidate: it names a or b, the value follows at most maxGap words later, and in the tool
// results only the other one has it. A negation or contrast between name and value prevents this.
func (r *reading) isFalseValue(i int, a, b *candidate) bool {
	const turns = requireWord | negationWord | onlyWord | preferWord | rejectWord | contrastWord | causeWord
	cites := r.sentenceCites(i)
	for k := range cites {
		bit := r.valueBit(&cites[k])
		if bit == 0 {
			continue
		}
		for n := range cites {
			named, other, ok := r.opposite(&cites[n], a, b)
			if !ok || r.wordsBetween(cites[n].end, cites[k].start) > maxGap {
				continue
			}
			isTurned := r.classesIn(i, span{cites[n].end, cites[k].start})&turns != 0
			if !isTurned && !r.isDeniedAfter(&cites[k]) && named.values&bit == 0 && other.values&bit != 0 {
				return true
			}
		}
	}
	return false
}

// isDeniedAfter reports whether a negation follows the value c after a colon, as in "coin pocket: no".
func (r *reading) isDeniedAfter(c *cite) bool {
	s := &r.sentences[c.sentence]
	colon := strings.IndexByte(r.folded[c.end:s.end], ':')
	if colon < 0 || r.wordsBetween(c.end, c.end+int32(colon)) > 1 {
		return false
	}
	after := c.end + int32(colon)
	return r.classesIn(c.sentence, span{after, after + int32(len(": no"))})&negationWord != 0
}

// hasFalseSign reports whether the first "<" or ">" that is alone between two figures of a sentence
// is false, as in "61 < 50". all are the sentence's figures and priced products. A sign next to a
// product only ranks products and is not checked.
func (r *reading) hasFalseSign(all []quantity) bool {
	for k := 1; k < len(all); k++ {
		a := &all[k-1]
		b := &all[k]
		if a.isCandidate || b.isCandidate || a.end > b.start {
			continue
		}
		switch strings.TrimSpace(r.text[a.end:b.start]) {
		case "<":
			return a.cents >= b.cents
		case ">":
			return a.cents <= b.cents
		}
	}
	return false
}

// rate is the result of a division that a passage states for a product, such as 6 in "612: 360/60 = 6".
// product is an index of factIndex.products, and cents the result in hundredths.
type rate struct {
	product int32
	cents   int64
}

// readEquations reads the equations of the passage, such as "360 / 60 = 6" and "90 + 20 = 110". It stores
// the results of divisions in r.rates, with the product that the sentence names last before them, and in
// r.miscalculated the sentences with an equation that is wrong.
func (r *reading) readEquations() {
	if !strings.Contains(r.text, "=") {
		return
	}
	for i := range r.sentences {
		tokens := r.sentenceTokens(i)
		for k := range tokens {
			sign, cents, next := r.term(tokens, k)
			if next == 0 {
				continue
			}
			stated := &tokens[next].number
			if difference := stated.readings[0] - cents; difference > stated.precision() || -difference > stated.precision() {
				r.miscalculated = append(r.miscalculated, i)
			} else if sign == "/" {
				r.addRate(i, tokens[k].start, stated.readings[0])
			}
		}
	}
}

// term reads the calculation that begins at token k. It returns its first sign, its value in hundredths, and
// the index of the figure that follows an equals sign after it, 0 if there is no such calculation.
func (r *reading) term(tokens []token, k int) (sign string, cents int64, next int) {
	isInner := k > 0 && tokens[k-1].number.isAmount() && r.sign(tokens, k) != ""
	if isInner || !tokens[k].number.isAmount() {
		return "", 0, 0
	}
	cents = tokens[k].number.readings[0]
	for n := k + 1; n < len(tokens); n++ {
		operator := r.sign(tokens, n)
		if operator == "" && n+1 < len(tokens) && r.folded[tokens[n].start:tokens[n].end] == "x" {
			operator = "x"
			n++
		}
		if !tokens[n].number.isAmount() {
			break
		}
		value := tokens[n].number.readings[0]
		switch operator {
		case "=":
			if sign == "" {
				return "", 0, 0
			}
			return sign, cents, n
		case "+":
			cents += value
		case "-", "−":
			cents -= value
		case "*", "×", "x":
			cents = cents * value / 100
		case "/", "÷":
			if value == 0 {
				return "", 0, 0
			}
			cents = cents * 100 / value
			operator = "/"
		default:
			return "", 0, 0
		}
		if sign == "" {
			sign = operator
		}
	}
	return "", 0, 0
}

// sign returns the text between token k and the one before it, without blanks.
func (r *reading) sign(tokens []token, k int) string {
	return strings.TrimSpace(r.textBetween(&tokens[k-1], &tokens[k]))
}

// isAmount reports whether the figure has one value and is too short for a product id.
func (n *number) isAmount() bool { return n.count == 1 && n.digits < minID }

// precision returns the unit of a figure's last digit in hundredths: 100 for 6, 10 for 6.0 and 1 for 6.05.
func (n *number) precision() int64 {
	switch cents := n.readings[0]; {
	case cents%100 == 0:
		return 100
	case cents%10 == 0:
		return 10
	}
	return 1
}

// addRate adds to r.rates the result of a division that begins at byte start of sentence i, if the
// sentence names a product before it.
func (r *reading) addRate(i int, start int32, cents int64) {
	product := int32(-1)
	for _, c := range r.sentenceCites(i) {
		if c.product >= 0 && c.end <= start && c.kind != citePrice {
			product = c.product
		}
	}
	if product >= 0 {
		r.rates = append(r.rates, rate{product, cents})
	}
}

// ratesOf returns the rates, such as a price for a piece, that the passage states for two products. ok is
// false if it lacks one of them.
func (r *reading) ratesOf(p, q *product) (a, b int64, ok bool) {
	find := func(p *product) int {
		return slices.IndexFunc(r.rates, func(x rate) bool { return &r.index.products[x.product] == p })
	}
	i := find(p)
	k := find(q)
	if i < 0 || k < 0 {
		return 0, 0, false
	}
	return r.rates[i].cents, r.rates[k].cents, true
}

// hasLowerRate reports whether the passage states a lower rate, such as a price for a piece, for the
// recommended one of a and b than for the other one.
func (r *reading) hasLowerRate(a, b *candidate) bool {
	return r.pairs(a, b, func(chosen, other *product) bool {
		lower, higher, ok := r.ratesOf(chosen, other)
		return ok && lower < higher
	})
}

// isMiscalculated reports whether a sentence that names a or b has an equation that is wrong.
func (r *reading) isMiscalculated(a, b *candidate) bool {
	return slices.ContainsFunc(r.miscalculated, func(i int) bool {
		return slices.Contains(a.sentences, i) || slices.Contains(b.sentences, i)
	})
}
