package lexical

import "strings"

// cues are the words that the lexicon replaces phrases of direction by. Those with
// -after apply to the number before them, those with -either to the number before
// them unless another one follows immediately.
var cues = map[string]direction{
	"@above": above, "@below": below, "@range": ranged, "@above-either": above, "@below-either": below,
	"@above-after": above, "@below-after": below,
}

const (
	afterSuffix  = "-after"
	eitherSuffix = "-either"
)

// cueReach is the maximum number of words between a cue and its number: "above the
// price of 168".
const cueReach = 4

// setDirections sets the direction of each number from the words around it.
func setDirections(tokens []token) {
	lastNumber := -1
	lastCue := -1 // the last cue after a number, which applies to that number only
	for i := range tokens {
		if !tokens[i].isNumber() {
			continue
		}
		cue := cueBefore(tokens, i, lastCue)
		if after := cueAfter(tokens, i); after >= 0 {
			cue = after
			lastCue = after
		}
		if cue >= 0 {
			tokens[i].direction = cues[tokens[cue].text]
			if negation := findNegation(tokens, min(cue, i), lastNumber); negation >= 0 {
				tokens[i].direction = opposite[tokens[i].direction]
				tokens[negation].text = "@not"
			}
		}
		if lastNumber >= 0 && isRange(tokens, lastNumber, i) {
			setRange(&tokens[lastNumber], &tokens[i])
		}
		lastNumber = i
	}
	for i := range tokens {
		if tokens[i].direction == ranged {
			tokens[i].direction = undirected
		}
	}
}

// setRange sets the directions of the two ends of a range. A currency after the second one
// applies to both: "between 14.75 and 49.95 USD".
func setRange(first, second *token) {
	first.direction = above
	second.direction = below
	if second.unit == money && first.unit == "" {
		first.value = first.written * second.value / second.written
		first.unit = money
	}
}

// opposite maps a bound to its negation: "not 190 or less".
var opposite = [...]direction{undirected: undirected, above: below, below: above, ranged: ranged}

// cueBefore returns the position of the nearest cue before the number at i, -1 if
// there is none. It does not search past another number, a comma, the start of the
// sentence, or the cue at lastCue, which belongs to an earlier number.
func cueBefore(tokens []token, i, lastCue int) int {
	for j := i - 1; j > lastCue && j >= i-cueReach && j >= 0; j-- {
		t := &tokens[j]
		next := &tokens[j+1]
		if t.isNumber() || next.startsSentence() || next.before == ',' {
			break
		}
		if _, ok := cues[t.text]; ok && !strings.HasSuffix(t.text, afterSuffix) {
			return j
		}
	}
	return -1
}

// findNegation returns the position of a word that negates the bound at i, -1 if
// there is none. Only stop words and currencies may be between them. A negation of
// the previous bound, at lastNumber, applies to both after an "or": "nothing under
// 60 or over 90".
func findNegation(tokens []token, i, lastNumber int) int {
	l := loadLexicon()
	or := strings.HasSuffix(tokens[i].text, eitherSuffix)
	for j := i - 1; j >= 0 && j >= i-cueReach; j-- {
		next := &tokens[j+1]
		if next.startsSentence() || next.before == ',' {
			break
		}
		w := tokens[j].text
		switch {
		case l.refusals[w], w == "@not":
			return j
		case or && j == lastNumber && lastNumber > 0:
			return findNegation(tokens, lastNumber, -1)
		case w == "or":
			or = true
		case isCurrency(w), strings.HasPrefix(w, "@"):
		case !l.stop[w]:
			return -1
		}
	}
	return -1
}

// startsSentence reports whether a sentence or a line ends before the token.
func (t *token) startsSentence() bool {
	return strings.IndexByte(".;\n!?", t.before) >= 0
}

// cueAfter returns the position of a cue such as "or more" after a number and its
// currency, -1 if there is none.
func cueAfter(tokens []token, i int) int {
	j := i + 1
	for j < len(tokens) && isCurrency(tokens[j].text) {
		j++
	}
	if j >= len(tokens) {
		return -1
	}
	w := tokens[j].text
	if strings.HasSuffix(w, afterSuffix) {
		return j
	}
	if strings.HasSuffix(w, eitherSuffix) && !amountFollows(tokens, j) {
		return j
	}
	return -1
}

// amountFollows reports whether a number or a currency follows the token at i in
// the same sentence.
func amountFollows(tokens []token, i int) bool {
	if i+1 >= len(tokens) || tokens[i+1].startsSentence() {
		return false
	}
	return tokens[i+1].isNumber() || isCurrency(tokens[i+1].text)
}

func isCurrency(w string) bool { return w == currency || w == "peso" || w == "pesos" || w == "piso" }

// isAnd reports whether w joins the two ends of a range if a cue opens it.
func isAnd(w string) bool {
	switch w {
	case "and", "y", "und", "dan", "at", "a", "e":
		return true
	}
	return false
}

// isRange reports whether the numbers at i and j are the ends of a range: only
// range words, dashes or currencies are between them, and one of these opens or
// closes a range.
func isRange(tokens []token, i, j int) bool {
	if j-i > 4 {
		return false
	}
	opened := tokens[i].direction == ranged || tokens[i].direction == above
	joined := false
	for k := i + 1; k < j; k++ {
		t := &tokens[k]
		joined = joined || t.before == '-'
		switch {
		case isAnd(t.text):
			joined = joined || opened
		case loadLexicon().ranges[t.text]:
			joined = true
		case !isCurrency(t.text):
			return false
		}
	}
	return joined || tokens[j].before == '-'
}
