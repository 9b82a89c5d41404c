package lexical

import (
	"math"
	"strings"
)

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
		at := cueBefore(tokens, i, taken)
		if after := cueAfter(tokens, i); after >= 0 {
			at, taken = after, after
		}
		if at >= 0 {
			tokens[i].direction = cues[tokens[at].text]
			if negated := negationOf(tokens, min(at, i), last); negated >= 0 {
				tokens[i].direction = opposite[tokens[i].direction]
				tokens[negated].text = "@not"
			}
		}
		if last >= 0 && isRange(tokens, last, i) {
			first, second := &tokens[last], &tokens[i]
			first.direction, second.direction = above, below
			if second.unit == money && first.unit == "" { // "between 14.75 and 49.95 USD"
				first.value, first.unit = first.written*second.value/second.written, money
			}
		}
		last = i
	}
	for i := range tokens {
		if tokens[i].direction == ranged {
			tokens[i].direction = undirected
		}
	}
}

// opposite is what a bound becomes beneath a negation: "not 190 or less".
var opposite = [...]direction{undirected: undirected, above: below, below: above, ranged: ranged}

// cueBefore looks back from a number to the nearest cue, not over another
// number, a cue that is taken, a comma or the end of a sentence; -1 for none.
func cueBefore(tokens []token, i, taken int) int {
	for at := i - 1; at > taken && at >= i-cueReach && at >= 0; at-- {
		t := tokens[at]
		if t.isNumber() || ends(tokens[at+1]) || tokens[at+1].before == ',' {
			break
		}
		if _, is := cues[t.text]; is && !strings.HasSuffix(t.text, afterSuffix) {
			return at
		}
	}
	return -1
}

// negationOf looks back from a bound at i to a negation of it, over words that
// say nothing else. Beneath an "or" the negation of the bound before, at last,
// holds for both: "nothing under 60 or over 90". -1 for none.
func negationOf(tokens []token, i, last int) int {
	l := words()
	or := strings.HasSuffix(tokens[i].text, eitherSuffix)
	for at := i - 1; at >= 0 && at >= i-cueReach && !ends(tokens[at+1]) && tokens[at+1].before != ','; at-- {
		w := tokens[at].text
		switch {
		case l.refusals[w], w == "@not":
			return at
		case or && at == last && last > 0:
			return negationOf(tokens, last, -1)
		case w == "or":
			or = true
		case isCurrency(w), strings.HasPrefix(w, "@"):
		case !l.stop[w]:
			return -1
		}
	}
	return -1
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

func isCurrency(w string) bool { return w == currency || w == "peso" || w == "pesos" || w == "piso" }

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
		case words().ranges[t.text]:
			joined = true
		case !isCurrency(t.text):
			return false
		}
	}
	return joined
}

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
