package lexical

import "math"

// joinNumerals replaces number words by numbers: "five hundred", "twenty-six", "5
// thousand", "one forty two", "twenty two point five".
func joinNumerals(tokens []token) []token {
	out := tokens[:0]
	for i := 0; i < len(tokens); {
		t := tokens[i]
		value, n := numeralAt(tokens, i)
		if t.isNumber() && i+1 < len(tokens) && tokens[i+1].isNextWord() {
			if scale := scales[tokens[i+1].text]; scale > 0 { // "1.2 thousand"
				value = t.value * scale
				n = 2
			}
		}
		if n == 0 {
			out = append(out, t)
			i++
			continue
		}
		out = append(out, token{
			value:   value,
			written: value,
			start:   t.start,
			end:     tokens[i+n-1].end,
			before:  t.before,
		})
		i += n
	}
	return out
}

var scales = map[string]float64{"hundred": 100, "thousand": 1000}

// isNextWord reports whether only white space or a hyphen separates the token from
// the one before it.
func (t *token) isNextWord() bool { return t.before == ' ' || t.before == '-' }

// minNumeral is the smallest number word that is a number on its own: one to four
// count things ("one of them") more often than they are an amount.
const minNumeral = 5

// numeralAt parses the number in words at i and returns its value and its number
// of words, 0 if there is none. A small one counts only if a unit or a currency
// follows it ("two meters").
func numeralAt(tokens []token, i int) (value float64, length int) {
	p := numeralParser{tokens: tokens[i:min(len(tokens), i+maxNumeral)]}
	value = p.parse()
	if p.pos == 0 || p.isAmount || value >= minNumeral || p.unitFollows() {
		return value, p.pos
	}
	return 0, 0
}

// maxNumeral bounds the tokens of a number in words: "nine hundred and ninety nine
// thousand nine hundred and ninety nine" has twelve, and a unit follows it.
const maxNumeral = 16

// numeralParser parses one number in words at the start of tokens.
type numeralParser struct {
	tokens []token
	pos    int
	// isAmount is set after a scale word or a decimal point: the number is an amount,
	// however small.
	isAmount bool
}

// word returns the current word, empty if the numeral ended before it.
func (p *numeralParser) word() string {
	if p.pos >= len(p.tokens) || p.pos > 0 && !p.tokens[p.pos].isNextWord() {
		return ""
	}
	return p.tokens[p.pos].text
}

// accept skips the current word if it is w.
func (p *numeralParser) accept(w string) bool {
	if p.word() != w {
		return false
	}
	p.pos++
	return true
}

func (p *numeralParser) parse() float64 {
	if value, length := p.digits(); length > 0 {
		p.pos += length
		return p.decimals(value)
	}
	value := p.hundreds()
	if p.accept("thousand") {
		p.isAmount = true
		p.skipAnd()
		value = float64(max(value, 1)*1000) + p.hundreds()
	}
	return p.decimals(value)
}

// minSpokenDigits is the length of the shortest run of digits that is one number,
// read digit by digit.
const minSpokenDigits = 3

// digits parses "one four two".
func (p *numeralParser) digits() (value float64, length int) {
	for i := range p.tokens {
		v, ok := digit(p.tokens[i].text)
		if !ok || i > 0 && !p.tokens[i].isNextWord() {
			break
		}
		value = float64(10*value) + v
		length = i + 1
	}
	if length < minSpokenDigits {
		return 0, 0
	}
	p.isAmount = true
	return value, length
}

func digit(w string) (value float64, ok bool) {
	if w == "oh" {
		return 0, true
	}
	v, ok := loadLexicon().numerals[w]
	return float64(v), ok && v < 10
}

// hundreds parses a number up to 9,999: "two hundred and five", "sixty four
// hundred", and in spoken form "two oh five", "eleven thirty nine".
func (p *numeralParser) hundreds() float64 {
	value := p.pair()
	switch {
	case p.accept("dozen"):
		p.isAmount = true
		return max(value, 1) * 12
	case p.accept("hundred"):
		p.isAmount = true
		p.skipAnd()
		return float64(max(value, 1)*100) + p.pair()
	case value == 0 || p.pos >= len(p.tokens) || p.tokens[p.pos].before != ' ':
		return value
	}
	lookahead := *p
	hasOh := lookahead.accept("oh")
	if pair := lookahead.pair(); pair >= 10 || hasOh && pair > 0 {
		*p = lookahead
		return float64(value*100) + pair
	}
	return value
}

// pair parses a number below 100, 0 if there is none.
func (p *numeralParser) pair() float64 {
	v := loadLexicon().numerals[p.word()]
	if v == 0 || p.word() == "dozen" {
		return 0
	}
	p.pos++
	if v < 20 || v%10 != 0 {
		return float64(v)
	}
	if unit := loadLexicon().numerals[p.word()]; unit > 0 && unit < 10 {
		p.pos++
		v += unit
	}
	return float64(v)
}

// skipAnd skips an "and" before a number word.
func (p *numeralParser) skipAnd() {
	if p.word() != "and" || p.pos+1 >= len(p.tokens) {
		return
	}
	next := p.tokens[p.pos+1].text
	if loadLexicon().numerals[next] > 0 {
		p.pos++
	}
}

// decimals parses "point seven five" after value and returns the sum.
func (p *numeralParser) decimals(value float64) float64 {
	if p.pos == 0 || p.word() != "point" {
		return value
	}
	start := p.pos
	place := 0.1
	for p.pos++; ; p.pos++ {
		v, ok := digit(p.word())
		if !ok {
			break
		}
		value += float64(v * place)
		place /= 10
	}
	if p.pos == start+1 { // no digit after the point
		p.pos = start
		return value
	}
	p.isAmount = true
	return math.Round(value*1e6) / 1e6
}

// unitFollows reports whether a unit or a currency follows the number.
func (p *numeralParser) unitFollows() bool {
	if p.pos >= len(p.tokens) {
		return false
	}
	w := p.tokens[p.pos].text
	if isCurrency(w) {
		return true
	}
	_, isUnit := loadLexicon().units[w]
	return isUnit && len(w) > 1 && w != "in"
}
