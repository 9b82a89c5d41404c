package lexical

import (
	"math"
	"slices"
	"strings"
)

// parse reads a request: list markers out, phrases and number words put
// together, numbers with their units and directions.
func parse(text string, out []token) []token {
	out = scan(foldText(text), out)
	out = dropMarkers(out)
	out = replacePhrases(out)
	out = joinNumerals(out)
	out = joinMoney(out)
	out = joinUnits(out)
	direct(out)
	// Currency has given its unit, and what only said a direction its direction.
	return slices.DeleteFunc(out, func(t token) bool { return isCurrency(t.text) || strings.HasPrefix(t.text, "@") })
}

// maxMarker is the largest number that is taken for the mark of a list item.
const maxMarker = 20

// dropMarkers removes "(1)", "1)", "1." and "1 -" (not "3-tier") at the start of a line, and
// "no. 1", "#1": they count constraints and are none.
func dropMarkers(tokens []token) []token {
	out := tokens[:0]
	for i, t := range tokens {
		if t.isNumber() && t.value <= maxMarker && t.value == math.Trunc(t.value) && isMarker(tokens, i) {
			continue
		}
		out = append(out, t)
	}
	return out
}

func isMarker(tokens []token, i int) bool {
	after := byte('\n')
	if i+1 < len(tokens) {
		after = tokens[i+1].before
	}
	before := tokens[i].before
	switch {
	case after == ')':
		return before == '(' || before == '\n' || before == ' ' || before == ';' || before == ':' || before == ',' || before == '.'
	case before == '\n' && i+1 < len(tokens):
		return after == '.' || after == '-' && !tokens[i+1].isNumber() && tokens[i+1].start > tokens[i].end+1
	case before == '#':
		return true
	}
	return i > 0 && before == '.' && tokens[i-1].text == "no"
}

func replacePhrases(tokens []token) []token {
	l := words()
	var out []token
	for i := 0; i < len(tokens); {
		p, n := l.longestPhrase(tokens[i:])
		switch {
		case n > 0 && out == nil:
			out = append(make([]token, 0, len(tokens)+4), tokens[:i]...)
			fallthrough
		case n > 0:
			for _, w := range p.means {
				t := tokens[i]
				t.text, t.end = w, tokens[i+n-1].end
				out = append(out, t)
			}
		default:
			n = 1
			if out != nil {
				out = append(out, tokens[i])
			}
		}
		i += n
	}
	if out == nil {
		return tokens
	}
	return out
}

func (l *lexicon) longestPhrase(tokens []token) (best phrase, length int) {
	if tokens[0].isNumber() {
		return best, 0
	}
	for _, p := range l.phrases[tokens[0].text] {
		if n := p.match(tokens); n > length {
			best, length = p, n
		}
	}
	return best, length
}

// match returns how many tokens p covers at the start of tokens, 0 for none.
// It does not reach over the end of a sentence.
func (p phrase) match(tokens []token) int {
	at := 0
	for i, w := range p.words {
		if w == gapWord {
			continue
		}
		skip := 0
		if i > 0 && p.words[i-1] == gapWord {
			skip = maxGap
		}
		for ; at < len(tokens) && tokens[at].text != w && skip > 0; skip-- {
			at++
		}
		if at >= len(tokens) || tokens[at].text != w || at > 0 && tokens[at].before == '.' {
			return 0
		}
		at++
	}
	return at
}

// joinUnits gives numbers their unit: "50 ml", "10w", "44 %".
func joinUnits(tokens []token) []token {
	l := words()
	out := tokens[:0]
	for _, t := range tokens {
		n := len(out)
		if u, is := l.units[t.text]; is && n > 0 && out[n-1].isNumber() && out[n-1].unit == "" && (t.before == 0 || follows(t) && t.text != "in") { // apart from its number "in" is another word
			out[n-1].value *= u.factor
			out[n-1].unit = u.name
			out[n-1].end = t.end
			continue
		}
		if t.text == "%" {
			continue
		}
		out = append(out, t)
	}
	return out
}
