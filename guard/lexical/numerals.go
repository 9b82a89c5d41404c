package lexical

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// joinNumerals replaces each number that is written in words by a number token: "five hundred",
// "twenty-six", "5 thousand", "one forty two", "twenty two point five".
func (l *lexicon) joinNumerals(tokens []token) []token {
	out := tokens[:0]
	for i := 0; i < len(tokens); {
		t := tokens[i]
		value, n := l.numeralAt(tokens, i)
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
			before:  t.before,
		})
		i += n
	}
	return out
}

var scales = map[string]float64{"hundred": 100, "thousand": 1000}

// isNextWord reports whether only white space without a new line, or a hyphen, is between the
// previous token and this one.
func (t *token) isNextWord() bool { return t.before == ' ' || t.before == '-' }

// minNumeral is the smallest number word that is read as a number without a unit: "one" to "four"
// count things ("one of them") more often than they express an amount.
const minNumeral = 5

// numeralAt parses the number in words that starts at tokens[i] and returns its value and its
// length in tokens. The length is 0 if there is no number. A value below minNumeral counts only if
// a unit or a currency follows ("two meters") or if its words show an amount ("point five").
func (l *lexicon) numeralAt(tokens []token, i int) (value float64, length int) {
	p := numeralParser{lexicon: l, tokens: tokens[i:min(len(tokens), i+maxNumeral)]}
	value = p.parse()
	if p.pos == 0 || p.isAmount || value >= minNumeral || p.unitFollows() {
		return value, p.pos
	}
	return 0, 0
}

// maxNumeral is the maximum number of tokens that are read for one number in words and its unit:
// "nine hundred and ninety nine thousand nine hundred and ninety nine" has eleven, and its unit is
// the twelfth.
const maxNumeral = 16

// numeralParser parses one number in words at the start of tokens.
type numeralParser struct {
	lexicon *lexicon
	tokens  []token
	pos     int
	// isAmount is set after a word such as hundred, a decimal point or a run of digit words. The
	// number then counts however small it is.
	isAmount bool
}

// word returns the text of the current token. It returns "" after the last token, and where a sign
// other than a hyphen separates the token from the previous one and so ends the number.
func (p *numeralParser) word() string {
	if p.pos >= len(p.tokens) || p.pos > 0 && !p.tokens[p.pos].isNextWord() {
		return ""
	}
	return p.tokens[p.pos].text
}

// accept moves past the current word if it is w, and reports whether it is.
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

// minSpokenDigits is the minimum number of consecutive digit words that are read as the digits of
// one number: "one four two" is 142.
const minSpokenDigits = 3

// digits parses digit words at the start of the tokens: "one four two" is 142. It returns the value
// and the number of words, or 0 and 0 if there are fewer than minSpokenDigits.
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

// hundreds parses number words with a value of up to 9,999: "two hundred and five", "sixty four
// hundred", and in spoken form "two oh five", "eleven thirty nine". It returns 0 if there are no
// number words.
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

// pair parses number words with a value below 100, such as "twenty six". It returns 0 if there are
// none.
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

// skipAnd moves past the current word if it is "and" and a number word follows it.
func (p *numeralParser) skipAnd() {
	if p.word() != "and" || p.pos+1 >= len(p.tokens) {
		return
	}
	next := p.tokens[p.pos+1].text
	if loadLexicon().numerals[next] > 0 {
		p.pos++
	}
}

// decimals parses a decimal part such as "point seven five" and returns value plus that part. It
// returns value itself if no decimal part follows.
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

// unitFollows reports whether a unit of measure or a currency follows the number. Units of one byte
// and "in" do not count, since they are words too.
func (p *numeralParser) unitFollows() bool {
	if p.pos >= len(p.tokens) {
		return false
	}
	w := p.tokens[p.pos].text
	if isCurrency(w) {
		return true
	}
	_, isUnit := p.lexicon.units[w]
	return isUnit && len(w) > 1 && w != "in"
}

// isBeside reports whether nothing but white space, a hyphen or a colon is between the token and the
// one before it.
func (t *token) isBeside() bool { return t.before == 0 || t.before == ':' || t.isNextWord() }

// textAt returns the text of the token at i, "" if there is none.
func (p *profile) textAt(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].text
}

// countAsked returns how many things the text asks for.
func (p *profile) countAsked() int {
	return slicesx.CountFunc(p.items(), func(i *item) bool { return i.isAsked })
}

// nounAfter returns the last word of the noun phrase that begins after the word at i, nil if none does.
func (p *profile) nounAfter(i int) (noun *word) {
	for i++; i < len(p.tokens) && p.tokens[i].isNextWord() && p.words[i] != nil && p.words[i].content; i++ {
		noun = p.words[i]
	}
	return noun
}

// hasPair reports whether the text asks for two of something.
func (p *profile) hasPair() bool {
	return p.hasAmount(2) || p.namesPair() || slices.ContainsFunc(p.tokens, func(t token) bool { return t.text == "both" })
}

// namesPair reports whether the text has a word for two things of one kind.
func (p *profile) namesPair() bool {
	return slices.ContainsFunc(p.tokens, func(t token) bool { return t.text == "pair" || t.text == "pairs" || t.text == "couple" })
}

// hasAmount reports whether the text has the number v in digits, whatever its unit, or in words.
func (p *profile) hasAmount(v float64) bool {
	return p.hasCount(v) || slices.ContainsFunc(p.numbers, func(n number) bool { return isClose(n.written, v) || isClose(n.value, v) })
}

// countAt returns the number at token i, in digits without a unit or in words, that may count things. It
// is 0 if there is none.
func (p *profile) countAt(i int) float64 {
	t := &p.tokens[i]
	switch {
	case !t.isNumber():
		return float64(loadLexicon().numerals[t.text])
	case t.unit == 0 && t.direction == undirected && !t.isPrice:
		return t.value
	}
	return 0
}

// countNumbers returns how often the text has each number, in digits or in words, whatever it says.
func (p *profile) countNumbers() map[float64]int {
	counts := map[float64]int{}
	for i := range p.tokens {
		t := &p.tokens[i]
		switch v, isNumeral := loadLexicon().numerals[t.text]; {
		case isNumeral:
			counts[float64(v)]++
		case t.isNumber():
			counts[t.value]++
			if t.written != t.value {
				counts[t.written]++
			}
		}
	}
	return counts
}
