package lexical

import (
	"strings"
)

// cues maps markers to kinds of bounds. A marker is the token that replaced a phrase such as "at
// least" in a text. A marker that ends in -after applies to the number before it. One that ends in
// -either applies to the number after it or, if neither a number nor a currency follows directly,
// to the number before it. Any other applies to a number after it.
var cues = map[string]direction{
	"@above": above, "@below": below, "@range": ranged, "@above-either": above, "@below-either": below,
	"@above-after": above, "@below-after": below,
}

const (
	afterSuffix  = "-after"
	eitherSuffix = "-either"
)

// cueReach is the maximum distance in tokens between the marker of a bound, such as "above", and
// its number: "above the price of 168".
const cueReach = 4

// setDirections sets for each number whether it is a lower bound, an upper bound or neither, by the
// words around it ("at least", "between … and"). Where a word negates a bound, as in "not more than
// 5", it reverses the bound and replaces the negating word by "@not", by which findNegation
// recognises it again. A range that is denied keeps the word.
func setDirections(tokens []token) {
	lastNumber := -1
	lastCue := -1 // the last marker after a number, which applies to that number only
	// reversed is the last number whose bound a word negates, denied that word and text what it was.
	reversed := -1
	var denied *token
	var text string
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
			if negation := findNegation(tokens, min(cue, i), lastNumber); negation >= 0 && tokens[i].direction != ranged {
				tokens[i].direction = opposite[tokens[i].direction]
				reversed = i
				denied = &tokens[negation]
				text = denied.text
				denied.text = "@not"
			}
		}
		if lastNumber >= 0 && isRange(tokens, lastNumber, i) {
			setRange(&tokens[lastNumber], &tokens[i])
			if reversed >= lastNumber {
				denied.text = text // "not from 10 to 20" turns no bound
			}
		}
		lastNumber = i
	}
	for i := range tokens {
		if tokens[i].direction == ranged {
			tokens[i].direction = undirected
		}
	}
}

// setRange marks two numbers as the lower and the upper end of a range. If only the second one has
// a currency, it converts the first one at the same rate: "between 14.75 and 49.95 USD".
func setRange(first, second *token) {
	first.direction = above
	second.direction = below
	if second.unit == money && first.unit == 0 {
		first.value = first.written * second.value / second.written
		first.unit = money
	}
}

// opposite maps each kind of bound (at least, at most) to the kind that its negation expresses:
// "not 190 or less" is a lower bound.
var opposite = [...]direction{undirected: undirected, above: below, below: above, ranged: ranged}

// cueBefore returns the index of the nearest marker of a bound, such as "above", among the cueReach
// tokens before the number at i. It returns -1 if there is none up to another number, a comma, the
// start of the sentence, or the marker at lastCue, which applies to an earlier number.
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

// findNegation returns the index of a word that negates the bound (at least, at most) at token i,
// or -1 if no word does. It searches the cueReach tokens before i and skips stop words, currencies
// and markers of bounds. In "nothing under 60 or over 90" the negation of the first bound also
// applies to the second: lastNumber is the index of the number before the "or".
func findNegation(tokens []token, i, lastNumber int) int {
	l := loadLexicon()
	or := strings.HasSuffix(tokens[i].text, eitherSuffix)
	for j := i - 1; j >= 0 && j >= i-cueReach; j-- {
		next := &tokens[j+1]
		if next.startsSentence() || next.before == ',' || next.before == boundSign {
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

// startsSentence reports whether the token is the first of a sentence or of a line: directly before
// it is one of . ; ! ? or a line end.
func (t *token) startsSentence() bool {
	return strings.IndexByte(".;\n!?", t.before) >= 0
}

// cueAfter returns the index of a marker such as "or more" that applies to the number at i, which
// is before it. Only currencies may be between the two. It returns -1 if there is no such marker.
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

// amountFollows reports whether the token after tokens[i] is a number or a currency, and in the
// same sentence.
func amountFollows(tokens []token, i int) bool {
	if i+1 >= len(tokens) || tokens[i+1].startsSentence() {
		return false
	}
	return tokens[i+1].isNumber() || isCurrency(tokens[i+1].text)
}

// baseCurrency is the text of a token that names the base currency.
const baseCurrency = "\u00a4"

func isCurrency(w string) bool { return w == baseCurrency }

// markBase replaces each word for the base currency by baseCurrency.
func (l *lexicon) markBase(tokens []token) {
	for i := range tokens {
		if l.base[tokens[i].text] {
			tokens[i].text = baseCurrency
		}
	}
}

// isAnd reports whether w is the word for "and" in one of the supported languages. Such a word
// joins the two numbers of a range if a word such as "between" precedes them.
func isAnd(w string) bool {
	switch w {
	case "and", "y", "und", "dan", "at", "a", "e":
		return true
	}
	return false
}

// isRange reports whether the numbers at i and j are the two ends of a range. At most three tokens
// are between them: range words such as "to", "and", or currencies. A range word or a dash must
// join the numbers, or an "and" if the first is a lower bound or follows "between".
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
