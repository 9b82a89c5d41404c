package lexical

import (
	"fmt"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// money is the unit of an amount that was converted from another currency to the base currency at
// the rate of the lexicon. Amounts that are written in the base currency have no unit.
const money unitName = 1

const moneyName = "base currency by rate"

// unrated is the unit of an amount in a currency without a rate, until the text is parsed. Such an
// amount is compared as it is written, and has no unit then.
const unrated unitName = 2

// maxRateError is the maximum relative difference between the exchange rate that a text assumes and
// that of the lexicon. Over five years the dollar, euro and pound deviated from their middle rate
// by at most a tenth, the yen by a seventh.
const maxRateError = 0.15

// isSameMoney reports whether two amounts, at least one of them converted from another currency,
// may be equal: they differ by at most maxRateError, or they are equal as written and neither is a
// bound. An amount with a unit of measure is never equal to money.
func (n number) isSameMoney(o number) bool {
	if n.unit != o.unit && n.unit != 0 && o.unit != 0 {
		return false
	}
	if n.value <= 0 || o.value <= 0 {
		return false
	}
	if isClose(n.written, o.written) && !n.isBound() && !o.isBound() {
		return true // "EUR 41" is a shoe size as well
	}
	return math.Abs(math.Log(n.value/o.value)) <= math.Log1p(maxRateError)
}

// convert converts the number of a token, an amount in the currency w, to the base currency. In
// a currency without a rate the factor is 1.
func (l *lexicon) convert(t *token, w string) {
	u := l.units[w]
	t.value = t.written * u.factor
	t.unit = u.name
}

// joinMoney removes the names of currencies other than the base currency and converts the amount
// next to each to it: the amount before the name ("5 euros"), or the amount after it if that follows
// without a blank ("$5") or no amount is before the name ("EUR 5").
func (l *lexicon) joinMoney(tokens []token) []token {
	out := tokens[:0]
	pending := ""
	for i, t := range tokens {
		if unit := l.units[t.text].name; unit != money && unit != unrated {
			if t.isNumber() && pending != "" {
				l.convert(&t, pending)
			}
			pending = ""
			out = append(out, t)
			continue
		}

		numberFollows := i+1 < len(tokens) && tokens[i+1].isNumber() && !tokens[i+1].startsSentence()
		last := len(out) - 1
		isAfter := last >= 0 && out[last].isNumber() && out[last].unit == 0 && t.isNextWord()
		switch {
		case numberFollows && (tokens[i+1].before == 0 || !isAfter):
			pending = t.text
		case isAfter:
			l.convert(&out[last], t.text)
		}
	}
	return out
}

// namesBase reports whether the text names the base currency by its sign or by one of its words.
func (l *lexicon) namesBase(text string) bool {
	return slices.ContainsFunc(l.scan(l.fold(text), nil), func(t token) bool { return l.base[t.text] })
}

// parse splits a text into tokens, in the memory of out, and replaces each word by the result of
// spell before it searches for phrases. Amounts in other currencies are converted only if
// the bank (the protected requests) has amounts in the base currency and the currency has a rate:
// elsewhere "$100" is compared as written.
func (x *Index) parse(text string, out []token, spell func(string) string) []token {
	out = x.lexicon.scan(x.lexicon.fold(text), out)
	for i := range out {
		if !out[i].isNumber() {
			out[i].text = spell(out[i].text)
		}
	}
	out = x.lexicon.parseTokens(out)
	for i := range out {
		if out[i].unit == unrated || out[i].unit == money && !x.hasBaseCurrency {
			out[i].value = out[i].written
			out[i].unit = 0
		}
	}
	return out
}

// numberDifference describes a number of the request b that the text p replaced by another number,
// or turned from a lower into an upper bound or the reverse. If the text is a copy of the request
// (template, the share of common word pairs, is at least copyTemplate), a number that was only
// removed or added counts too. It returns "" if there is no difference.
func numberDifference(b, p *profile, template float64) string {
	missing := missingNumbers(b, p)
	extra := slices.DeleteFunc(missingNumbers(p, b), func(n number) bool { return p.isOfPeople(n) && !slices.ContainsFunc(b.numbers, b.isOfPeople) })
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("number %s became %s", b.lexicon.amount(missing[0]), b.lexicon.amount(extra[0]))
	case template >= copyTemplate && len(missing) > 0:
		return fmt.Sprintf("number %s is missing", b.lexicon.amount(missing[0]))
	case template >= copyTemplate && len(extra) > 0:
		return fmt.Sprintf("number %s was added", b.lexicon.amount(extra[0]))
	}
	isLost := len(missing) > 0 || b.hasCountBeyond(p)
	isAdded := len(extra) > 0 || p.hasCountBeyond(b)
	if isLost && isAdded {
		return "another number"
	}
	if n, o, ok := replacedMeasure(b, p, template); ok {
		return fmt.Sprintf("number %s became %s", b.lexicon.amount(n), b.lexicon.amount(o))
	}
	if n := b.withoutOneOf(p); n != "" {
		return n
	}
	for _, n := range b.numbers {
		for _, o := range p.numbers {
			if n.isSameAmount(o) && n.isOppositeBound(o, template) {
				return fmt.Sprintf("number %s is another kind of bound", b.lexicon.amount(n))
			}
		}
	}
	return ""
}

// replacedMeasure returns a number with a unit that the text p has less often than the request b, and a
// new number of that unit in p: of two bottles of 50 ml, one became 100 ml. In a verbatim copy (template of
// at least verbatimTemplate) it compares numbers without a unit too, and those that p has more often.
func replacedMeasure(b, p *profile, template float64) (old, replacement number, ok bool) {
	isCopy := template >= verbatimTemplate
	isLost := func(t *token) bool { return b.countMeasure(t) > p.countMeasure(t) }
	for i := range p.tokens {
		t := &p.tokens[i]
		inBase := b.countMeasure(t)
		isNew := inBase == 0 && t.unit > unrated || isCopy && inBase < p.countMeasure(t)
		if !t.isNumber() || !isNew {
			continue
		}
		o := t.number()
		for j := range b.tokens {
			if t := &b.tokens[j]; t.isNumber() && t.unit == o.unit && isLost(t) {
				return t.number(), o, true
			}
		}
	}
	return number{}, number{}, false
}

// withoutOneOf describes a number of the text b before which p has "without": "with 6 tiers" became
// "without 6 tiers". It returns "" if there is none.
func (p *profile) withoutOneOf(o *profile) string {
	for i := range o.tokens {
		t := &o.tokens[i]
		if t.isNumber() && o.isWithout(i) && !slices.ContainsFunc(p.indices(t), p.isWithout) && hasNumber(p.numbers, t.number()) {
			return fmt.Sprintf("without %v", t.written)
		}
	}
	return ""
}

// indices returns the places of a number in the text.
func (p *profile) indices(t *token) (out []int) {
	for i := range p.tokens {
		if p.tokens[i].isNumber() && p.tokens[i].number().isSameAmount(t.number()) {
			out = append(out, i)
		}
	}
	return out
}

// isWithout reports whether "without" is before the number at i.
func (p *profile) isWithout(i int) bool {
	if i > 0 && isArticle(p.tokens[i-1].text) {
		i--
	}
	return i > 0 && p.tokens[i-1].text == "without"
}

// countMeasure returns how often the text has the number of a token with its unit.
func (p *profile) countMeasure(t *token) int {
	return slicesx.CountFunc(p.tokens, func(o *token) bool {
		return o.isNumber() && o.unit == t.unit && isClose(o.value, t.value)
	})
}

// isOfPeople reports whether the text has the number only to say how many live or come together: "a family
// of 4" asks for nothing.
func (p *profile) isOfPeople(n number) bool {
	isAny := false
	for i := range p.tokens {
		if t := &p.tokens[i]; t.isNumber() && n.isSameAmount(t.number()) {
			isAny = true
			if !p.isOfPeopleAt(i) {
				return false
			}
		}
	}
	return isAny
}

func (p *profile) isOfPeopleAt(i int) bool {
	return p.textAt(i-1) == "of" && loadLexicon().roles["people"][p.textAt(i-2)]
}

// hasCountBeyond reports whether the text has a number from 2 in words that b has neither in words
// nor in digits.
func (p *profile) hasCountBeyond(b *profile) bool {
	for v := 2.0; v < 32; v++ {
		if p.hasCount(v) && !b.hasAmount(v) {
			return true
		}
	}
	return false
}

// missingNumbers returns the numbers of a that b contains neither as a number nor, from 0 to 31, as
// a word such as "two". The "one" in "the red one" is no bound.
func missingNumbers(a, b *profile) []number {
	return slicesx.FilterMap(a.numbers, func(n number) (number, bool) {
		isTwo := n.value == 2 && b.hasPair()
		return n, !hasNumber(b.numbers, n) && (n.isBound() || !b.hasCount(n.value) && !isTwo)
	})
}

// isOppositeBound reports whether one of two numbers is used as a lower bound only ("at least 5")
// and the other as an upper bound only ("at most 5"). In a copy (template of at least copyTemplate) it is
// enough that the other is used as one somewhere.
func (n number) isOppositeBound(o number, template float64) bool {
	const up, down = 1 << above, 1 << below
	a := n.directions & (up | down)
	b := o.directions & (up | down)
	isSwapped := a == up && b == down || a == down && b == up
	return isSwapped || template >= copyTemplate && (a == up && b&down != 0 || a == down && b&up != 0)
}

func (n number) isBound() bool {
	return n.directions&(1<<above|1<<below) != 0
}
