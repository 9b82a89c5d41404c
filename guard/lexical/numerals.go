package lexical

import "math"

// joinNumerals turns number words into numbers: "five hundred", "twenty-six", "5
// thousand", "one forty two", "twenty two point five".
func joinNumerals(tokens []token) []token {
	out := tokens[:0]
	for i := 0; i < len(tokens); {
		t := tokens[i]
		value, n := numeralAt(tokens, i)
		if t.isNumber() && i+1 < len(tokens) && follows(tokens[i+1]) && scales[tokens[i+1].text] > 0 { // "1.2 thousand"
			value, n = t.value*scales[tokens[i+1].text], 2
		}
		if n > 0 {
			t = token{value: value, written: value, start: t.start, end: tokens[i+n-1].end, before: t.before}
		}
		out = append(out, t)
		i += max(n, 1)
	}
	return out
}

var scales = map[string]float64{"hundred": 100, "thousand": 1000}

func follows(t token) bool { return t.before == ' ' || t.before == '-' }

// leastNumeral is the least number word taken for a number on its own: one to
// four count things ("one of them") more often than they ask for an amount.
const leastNumeral = 5

// numeralAt reads the number in words at i. A small one is none unless a unit or
// a currency follows it ("two meters").
func numeralAt(tokens []token, i int) (value float64, length int) {
	n := numeral{tokens: tokens[i:min(len(tokens), i+maxNumeral)]}
	value = n.read()
	if n.at == 0 || n.scaled || value >= leastNumeral || n.measured() {
		return value, n.at
	}
	return 0, 0
}

// maxNumeral bounds a number in words: "nine hundred and ninety nine thousand
// nine hundred and ninety nine" has twelve, and a unit follows it.
const maxNumeral = 16

type numeral struct {
	tokens []token
	at     int
	// scaled is true once a scale word or a decimal point was read.
	scaled bool
}

func (n *numeral) word() string {
	if n.at >= len(n.tokens) || n.at > 0 && !follows(n.tokens[n.at]) {
		return ""
	}
	return n.tokens[n.at].text
}

func (n *numeral) take(w string) bool {
	if n.word() != w {
		return false
	}
	n.at++
	return true
}

func (n *numeral) read() float64 {
	if value, length := n.digits(); length > 0 {
		n.at += length
		return n.decimals(value)
	}
	value := n.hundreds()
	if n.take("thousand") {
		n.scaled = true
		n.and()
		value = float64(max(value, 1)*1000) + n.hundreds()
	}
	return n.decimals(value)
}

// leastDigits is how many digits in a row are one number, spoken digit by digit.
const leastDigits = 3

// digits reads "one four two".
func (n *numeral) digits() (value float64, length int) {
	for i, t := range n.tokens {
		v, is := digitOf(t.text)
		if !is || i > 0 && !follows(t) {
			break
		}
		value, length = float64(10*value)+v, i+1
	}
	if length < leastDigits {
		return 0, 0
	}
	n.scaled = true
	return value, length
}

func digitOf(w string) (float64, bool) {
	if w == "oh" {
		return 0, true
	}
	v, is := words().numerals[w]
	return float64(v), is && v < 10
}

// hundreds reads up to 9,999: "two hundred and five", "sixty four hundred", and
// as it is spoken "two oh five", "eleven thirty nine".
func (n *numeral) hundreds() float64 {
	value := n.pair()
	switch {
	case n.take("dozen"):
		n.scaled = true
		return max(value, 1) * 12
	case n.take("hundred"):
		n.scaled = true
		n.and()
		return float64(max(value, 1)*100) + n.pair()
	case value == 0 || n.at >= len(n.tokens) || n.tokens[n.at].before != ' ':
		return value
	}
	ahead := *n
	oh := ahead.take("oh")
	if rest := ahead.pair(); rest >= 10 || oh && rest > 0 {
		*n = ahead
		return float64(value*100) + rest
	}
	return value
}

func (n *numeral) pair() float64 {
	v := words().numerals[n.word()]
	if v == 0 || n.word() == "dozen" {
		return 0
	}
	n.at++
	if unit := words().numerals[n.word()]; v >= 20 && v%10 == 0 && unit > 0 && unit < 10 {
		n.at++
		v += unit
	}
	return float64(v)
}

func (n *numeral) and() {
	if n.word() == "and" && n.at+1 < len(n.tokens) && words().numerals[n.tokens[n.at+1].text] > 0 {
		n.at++
	}
}

// decimals reads "point seven five" behind value.
func (n *numeral) decimals(value float64) float64 {
	if n.at == 0 || n.word() != "point" {
		return value
	}
	place, start := 0.1, n.at
	for n.at++; ; n.at++ {
		v, is := digitOf(n.word())
		if !is {
			break
		}
		value, place = value+float64(v*place), place/10
	}
	if n.at == start+1 {
		n.at = start
		return value
	}
	n.scaled = true
	return math.Round(value*1e6) / 1e6
}

// measured reports whether a unit or a currency follows the number.
func (n *numeral) measured() bool {
	if n.at >= len(n.tokens) {
		return false
	}
	w := n.tokens[n.at].text
	_, is := words().units[w]
	return isCurrency(w) || is && len(w) > 1 && w != "in"
}
