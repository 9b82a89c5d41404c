package lexical

import "strings"

// cues are the words that phrases of direction were replaced by. Those with
// -after belong to the number before them, those with -either to the number
// before them unless another follows at once.
var cues = map[string]direction{
	"@above": above, "@below": below, "@range": ranged, "@above-either": above, "@below-either": below,
	"@above-after": above, "@below-after": below,
}

const (
	afterSuffix  = "-after"
	eitherSuffix = "-either"
)

// rangeWords stand between the two ends of a range.
var rangeWords = map[string]bool{
	"to": true, "and": true, "a": true, "y": true, "bis": true, "und": true, "sampai": true, "hingga": true,
	"dan": true, "hanggang": true, "at": true, "et": true, "until": true, "@below": true, "e": true,
}

// cueReach is how many words may lie between a cue and its number: "above the
// price of 168".
const cueReach = 4

// direct gives each number the direction that the words around it say.
func direct(tokens []token) {
	last, taken := -1, -1
	for i := range tokens {
		if !tokens[i].isNumber() {
			continue
		}
		tokens[i].direction = cueBefore(tokens, i, taken)
		if at := cueAfter(tokens, i); at >= 0 {
			tokens[i].direction, taken = cues[tokens[at].text], at
		}
		if last >= 0 && isRange(tokens, last, i) {
			tokens[last].direction, tokens[i].direction = above, below
		}
		last = i
	}
	for i := range tokens {
		if tokens[i].direction == ranged {
			tokens[i].direction = undirected
		}
	}
}

// cueBefore looks back from a number to the nearest cue, not over another
// number, a cue that is taken, a comma or the end of a sentence.
func cueBefore(tokens []token, i, taken int) direction {
	for at := i - 1; at > taken && at >= i-cueReach && at >= 0; at-- {
		t := tokens[at]
		if t.isNumber() || ends(tokens[at+1]) || tokens[at+1].before == ',' {
			break
		}
		if d, is := cues[t.text]; is && !strings.HasSuffix(t.text, afterSuffix) {
			return d
		}
	}
	return undirected
}

func ends(t token) bool { return strings.IndexByte(".;\n!?", t.before) >= 0 && t.before != 0 }

// cueAfter returns the position of "or more" or its like behind a number and
// its currency, -1 where there is none.
func cueAfter(tokens []token, i int) int {
	at := i + 1
	for at < len(tokens) && isCurrency(tokens[at].text) {
		at++
	}
	if at >= len(tokens) {
		return -1
	}
	w := tokens[at].text
	numberFollows := at+1 < len(tokens) && (tokens[at+1].isNumber() || isCurrency(tokens[at+1].text)) && !ends(tokens[at+1])
	if strings.HasSuffix(w, afterSuffix) || strings.HasSuffix(w, eitherSuffix) && !numberFollows {
		return at
	}
	return -1
}

func isCurrency(w string) bool { return w == currency || isPeso(w) }

func isPeso(w string) bool { return w == "peso" || w == "pesos" || w == "piso" }

// isRange reports whether nothing but a range word, a dash or currency lies
// between two numbers, and one of them opens or closes a range.
func isRange(tokens []token, i, j int) bool {
	if j-i > 4 {
		return false
	}
	joined := false
	for k := i + 1; k <= j; k++ {
		t := tokens[k]
		joined = joined || t.before == '-'
		if k == j {
			break
		}
		switch {
		case t.text == "and" || t.text == "y" || t.text == "und" || t.text == "dan" || t.text == "at" || t.text == "a" || t.text == "e":
			joined = joined || tokens[i].direction == ranged || tokens[i].direction == above
		case rangeWords[t.text]:
			joined = true
		case !isCurrency(t.text):
			return false
		}
	}
	return joined
}

// dropCues removes currency and the words that only said a direction.
func dropCues(tokens []token) []token {
	out := tokens[:0]
	for _, t := range tokens {
		if !isCurrency(t.text) && !strings.HasPrefix(t.text, "@") {
			out = append(out, t)
		}
	}
	return out
}
