package lexical

import (
	"math"
	"slices"
	"strings"
)

// parse splits a text into tokens, which are words and numbers. It removes the markers of list
// items, replaces phrases and number words, and sets the unit of each number and whether it is a
// bound (at least, at most).
func (l *lexicon) parse(text string) []token {
	return l.parseTokens(l.scan(l.fold(text), nil))
}

// parseTokens returns the tokens of a text as parse does, from its words and numbers before any
// replacement. It joins words that are spelled letter by letter, removes the markers of list items,
// replaces phrases and number words, and sets units and bounds (at least, at most). It overwrites
// out.
func (l *lexicon) parseTokens(out []token) []token {
	out = joinLetters(out)
	out = removeMarkers(out)
	out = l.replacePhrases(out)
	l.markBase(out)
	out = l.joinFractions(l.joinNumerals(out))
	out = l.joinMoney(out)
	out = l.joinUnits(out)
	setDirections(out)
	markBounds(out)
	markPrices(out)
	// Currencies and markers of bounds have been applied to their numbers.
	return slices.DeleteFunc(out, func(t token) bool {
		return isCurrency(t.text) || strings.HasPrefix(t.text, "@")
	})
}

// minSpelled is the minimum number of letters in a row that spell a word: "x l r".
const minSpelled = 3

// joinLetters joins at least minSpelled letters in a row that are spelled one by one ("x l r"), as
// speech is written down, to one word. A word of more than maxWord letters is cut, as in the method
// word. It overwrites tokens.
func joinLetters(tokens []token) []token {
	out := tokens[:0]
	for i := 0; i < len(tokens); {
		n := countLetters(tokens[i:min(len(tokens), i+maxWord)])
		if n < minSpelled {
			n = 1
		}
		t := tokens[i]
		for _, letter := range tokens[i+1 : i+n] {
			t.text += letter.text
		}
		out = append(out, t)
		i += n
	}
	return out
}

// countLetters returns the number of single letters at the start of tokens with only white space
// between them.
func countLetters(tokens []token) int {
	n := 0
	for n < len(tokens) && len(tokens[n].text) == 1 {
		if n > 0 && tokens[n].before != ' ' {
			break
		}
		n++
	}
	return n
}

// maxDenominator is the largest denominator of a fraction. "3/40" is a range or a model.
const maxDenominator = 16

// joinFractions replaces each fraction before a unit of measure by its value: "1/2 kg". Without a
// unit it may be a date or a model, and "3/6 months" are two ages. It overwrites tokens.
func (l *lexicon) joinFractions(tokens []token) []token {
	out := tokens[:0]
	for i, t := range tokens {
		last := len(out) - 1
		isFraction := t.isNumber() && t.before == '/' && t.value > 1 && t.value <= maxDenominator && last >= 0 && out[last].isNumber() && out[last].value < t.value
		var name unitName
		if isFraction && i+1 < len(tokens) {
			name = l.units[tokens[i+1].text].name
		}
		if name != 0 && !l.roles["whole"][l.unitNames[name]] {
			out[last].value /= t.value
			out[last].written = out[last].value
			continue
		}
		out = append(out, t)
	}
	return out
}

// maxMarker is the largest number that can be the marker of a list item, such as 3 in "3)".
const maxMarker = 20

// removeMarkers removes whole numbers up to maxMarker that only number list items: "(1)" and "1)",
// "1." and "1 -" (not "3-tier") at the start of a line, "no. 1" and "#1". It overwrites tokens.
func removeMarkers(tokens []token) []token {
	out := tokens[:0]
	for i, t := range tokens {
		isSmall := t.isNumber() && t.value <= maxMarker && t.value == math.Trunc(t.value)
		if isSmall && isMarker(tokens, i) {
			if t.before == '.' && i+1 < len(tokens) {
				tokens[i+1].before = boundSign // so that "no" as in "no. 1" negates nothing
			}
			continue
		}
		out = append(out, t)
	}
	return out
}

// isMarker reports whether the signs around the number at i are those of a list item, such as "(1)"
// or "1.".
func isMarker(tokens []token, i int) bool {
	before := tokens[i].before
	after := byte('\n')
	hasNext := i+1 < len(tokens)
	if hasNext {
		after = tokens[i+1].before
	}
	switch {
	case after == ')':
		return strings.IndexByte("(\n ;:,.", before) >= 0
	case before == '\n' && hasNext:
		next := &tokens[i+1]
		return after == '.' || after == '-' && !next.isNumber() && next.isApart
	case before == '#':
		return true
	}
	return i > 0 && before == '.' && tokens[i-1].text == "no"
}

// replacePhrases replaces the phrases of the lexicon in a text, such as "at least", by their
// replacements. It returns a new slice, or tokens itself if there is no phrase in it.
func (l *lexicon) replacePhrases(tokens []token) []token {
	var out []token // nil until the first phrase
	for i := 0; i < len(tokens); {
		p, n := l.longestPhrase(tokens[i:])
		hasNumber := len(out) > 0 && l.isAmount(&out[len(out)-1]) || out == nil && i > 0 && l.isAmount(&tokens[i-1])
		isOther := n > 0 && (!hasNumber && p.isBoundAfter() || l.isOfNext(p, tokens, i+n))
		if n == 0 || isOther {
			if out != nil {
				out = append(out, tokens[i])
			}
			i++
			continue
		}
		if out == nil {
			out = append(make([]token, 0, len(tokens)+4), tokens[:i]...)
		}
		for _, w := range p.replacement {
			t := tokens[i]
			t.text = w
			out = append(out, t)
		}
		i += n
	}
	if out == nil {
		return tokens
	}
	return out
}

// isBoundAfter reports whether the phrase says how the number before it is meant, as "tops" does.
func (p phrase) isBoundAfter() bool { return strings.HasSuffix(p.replacement[0], afterSuffix) }

// isOfNext reports whether the last word of the phrase, which says for whom a thing is, belongs to
// the content word at i: "a shirt for men and women's sandals" are two things.
func (l *lexicon) isOfNext(p phrase, tokens []token, i int) bool {
	isFollowed := i < len(tokens) && tokens[i].isNextWord() && !tokens[i].isNumber() && !l.isStop(tokens[i].text, stem(tokens[i].text))
	return isFollowed && p.replacement[0] == "unisex"
}

// isAmount reports whether a token is a number, part of one in words, or a unit or currency after one.
func (l *lexicon) isAmount(t *token) bool {
	_, isUnit := l.units[t.text]
	return t.isNumber() || isUnit || l.base[t.text] || isCurrency(t.text) || l.numerals[t.text] > 0 || scales[t.text] > 0
}

// longestPhrase returns the phrase of the lexicon that matches the most tokens at the start of
// tokens, and the number of these tokens. The number is 0 if no phrase matches.
func (l *lexicon) longestPhrase(tokens []token) (best phrase, length int) {
	if tokens[0].isNumber() {
		return best, 0
	}
	for _, p := range l.phrases[tokens[0].text] {
		if n := p.match(tokens); n > length {
			best = p
			length = n
		}
	}
	return best, length
}

// match returns how many tokens at the start of tokens the phrase matches, 0 if it does not match
// there. It does not match across the end of a sentence.
func (p phrase) match(tokens []token) int {
	pos := 0
	for i, w := range p.words {
		if w == gapWord {
			continue
		}
		skip := 0
		if i > 0 && p.words[i-1] == gapWord {
			skip = maxGap
		}
		for ; pos < len(tokens) && tokens[pos].text != w && skip > 0; skip-- {
			pos++
		}
		if pos >= len(tokens) || tokens[pos].text != w {
			return 0
		}
		if pos > 0 && tokens[pos].before == '.' {
			return 0
		}
		pos++
	}
	return pos
}

// joinUnits removes each unit of measure after a number ("50 ml", "10w", "44 %") and converts the
// number to the base unit, so that lengths are in mm. It also removes a "%" that follows no number.
func (l *lexicon) joinUnits(tokens []token) []token {
	out := tokens[:0]
	for _, t := range tokens {
		u, isUnit := l.units[t.text]
		if last := len(out) - 1; isUnit && last >= 0 && out[last].takesUnit(&t) {
			out[last].value *= u.factor
			out[last].unit = u.name
			continue
		}
		if t.text == "%" {
			continue
		}
		out = append(out, t)
	}
	return out
}

// takesUnit reports whether unit, the token after t, is the unit of the number t: t has no unit
// yet, and between the two is nothing but white space or a hyphen. "in" must follow without either.
func (t *token) takesUnit(unit *token) bool {
	if !t.isNumber() || t.unit != 0 {
		return false
	}
	if unit.before == 0 {
		return true
	}
	return unit.isNextWord() && unit.text != "in" // "5 in" is rarely five inches
}

// boundSign is the sign before a token that followed a removed marker of a bound, such as "from".
const boundSign = '@'

// markBounds records before each token that follows a marker of a bound that the words around the
// marker are not adjacent: by the comma before the marker, or else by boundSign.
func markBounds(tokens []token) {
	for i := 1; i < len(tokens); i++ {
		t := &tokens[i]
		if marker := &tokens[i-1]; t.before == ' ' && strings.HasPrefix(marker.text, "@") {
			t.before = boundSign
			if marker.before == ',' {
				t.before = ','
			}
		}
	}
}

// markPrices marks the numbers next to a word of the base currency as prices: the number after it, or
// else the one before it.
func markPrices(tokens []token) {
	for i := range tokens {
		switch {
		case !isCurrency(tokens[i].text):
		case i+1 < len(tokens) && tokens[i+1].isNumber() && tokens[i+1].isBeside():
			tokens[i+1].isPrice = true
		case i > 0:
			tokens[i-1].isPrice = true
		}
	}
}
