package lexical

import "math"

// money is the unit of an amount that was written in another currency: its value
// is in pesos at the rate of the lexicon. Amounts in pesos have no unit.
const money = "pesos by rate"

// maxRateError is by how much the rate of the day may be off: over five years the
// dollar, euro and pound stayed within a tenth of the middle, the yen within a
// seventh.
const maxRateError = 0.15

// sameMoney compares amounts of which at least one was converted. Nothing but a
// price or another conversion is like it.
func (n number) sameMoney(o number) bool {
	if n.unit != o.unit && n.unit != "" && o.unit != "" || n.value <= 0 || o.value <= 0 {
		return false
	}
	if close(n.written, o.written) && !n.isBound() && !o.isBound() {
		return true // "EUR 41" is a shoe size as well
	}
	return math.Abs(math.Log(n.value/o.value)) <= math.Log1p(maxRateError)
}

// convert gives a number in words before or behind it the currency of w.
func (t *token) convert(w string) {
	u := words().units[w]
	t.value, t.unit = t.written*u.factor, u.name
}

// joinMoney converts amounts with a currency before them ("$5", "EUR 5") or, where
// none follows, behind ("5 euros").
func joinMoney(tokens []token) []token {
	out := tokens[:0]
	pending := ""
	for i, t := range tokens {
		if words().units[t.text].name == money {
			numberNext := i+1 < len(tokens) && tokens[i+1].isNumber() && !ends(tokens[i+1])
			last := len(out) - 1
			behind := last >= 0 && out[last].isNumber() && out[last].unit == "" && follows(t)
			switch {
			case numberNext && (tokens[i+1].before == 0 || !behind):
				pending = t.text
			case behind:
				out[last].convert(t.text)
				out[last].end = t.end
			}
			continue
		}
		if t.isNumber() && pending != "" {
			t.convert(pending)
		}
		pending = ""
		out = append(out, t)
	}
	return out
}

// sharesMoney gives the first end of a range the currency of the second: "between
// 14.75 and 49.95 USD".
func sharesMoney(first, second *token) {
	if second.unit == money && first.unit == "" {
		first.value, first.unit = first.written*second.value/second.written, money
	}
}
