package lexical

import (
	"math"
	"slices"
	"strings"
)

// parse returns the tokens of a request. It leaves out list markers, joins phrases
// and number words, and gives numbers their units and directions (at least, at
// most). It reuses the memory of out.
func parse(text string, out []token) []token {
	out = scan(foldText(text), out)
	out = removeMarkers(out)
	out = replacePhrases(out)
	out = joinNumerals(out)
	out = joinMoney(out)
	out = joinUnits(out)
	setDirections(out)
	// Currencies and cues have been applied to their numbers.
	return slices.DeleteFunc(out, func(t token) bool {
		return isCurrency(t.text) || strings.HasPrefix(t.text, "@")
	})
}

// maxMarker is the largest number that may be the marker of a list item.
const maxMarker = 20

// removeMarkers removes "(1)", "1)", "1." and "1 -" (not "3-tier") at the start of
// a line, and "no. 1", "#1": they number the constraints.
func removeMarkers(tokens []token) []token {
	out := tokens[:0]
	for i, t := range tokens {
		isSmall := t.isNumber() && t.value <= maxMarker && t.value == math.Trunc(t.value)
		if isSmall && isMarker(tokens, i) {
			continue
		}
		out = append(out, t)
	}
	return out
}

// isMarker reports whether the signs around the number at i are those of a marker.
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
		return after == '.' || after == '-' && !next.isNumber() && next.start > tokens[i].end+1
	case before == '#':
		return true
	}
	return i > 0 && before == '.' && tokens[i-1].text == "no"
}

// replacePhrases replaces phrases. It returns tokens itself if there are none.
func replacePhrases(tokens []token) []token {
	l := loadLexicon()
	var out []token // nil until the first phrase
	for i := 0; i < len(tokens); {
		p, n := l.longestPhrase(tokens[i:])
		if n == 0 {
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
			t.end = tokens[i+n-1].end
			out = append(out, t)
		}
		i += n
	}
	if out == nil {
		return tokens
	}
	return out
}

// longestPhrase returns the longest phrase at the start of tokens and the number
// of tokens that it matches, 0 if there is none.
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

// match returns the number of tokens at the start of tokens that p matches, 0 if
// it does not match. It does not match across the end of a sentence.
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

// joinUnits applies units to the numbers before them: "50 ml", "10w", "44 %".
func joinUnits(tokens []token) []token {
	l := loadLexicon()
	out := tokens[:0]
	for _, t := range tokens {
		u, isUnit := l.units[t.text]
		if last := len(out) - 1; isUnit && last >= 0 && out[last].takesUnit(&t) {
			out[last].value *= u.factor
			out[last].unit = u.name
			out[last].end = t.end
			continue
		}
		if t.text == "%" {
			continue
		}
		out = append(out, t)
	}
	return out
}

// takesUnit reports whether the unit after t applies to it.
func (t *token) takesUnit(unit *token) bool {
	if !t.isNumber() || t.unit != "" {
		return false
	}
	if unit.before == 0 {
		return true
	}
	return unit.isNextWord() && unit.text != "in" // "5 in" is rarely five inches
}
