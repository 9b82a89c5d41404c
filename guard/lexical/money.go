package lexical

import (
	"math"
	"slices"
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
