package reply

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// scorePattern matches, in a model's JSON reply, the key of the score and the score up to its
// point, such as `"reasoning_quality": 0.`. The possible scores differ in the first digit after the
// point, so the next token tells which one it is.
var scorePattern = regexp.MustCompile(`"reasoning_quality"\s*:\s*"?0?\.`)

// minMass is the minimum total probability, 0 to 1, of the scores that a server names as
// alternatives for the token of the score. If they have less, most of the probability is unknown,
// and no mean score is computed.
const minMass = 0.5

// Expected returns the mean of the scores by the probabilities of the tokens that could stand in place
// of the score in a chat completion. ok is false if the completion has no log-probabilities there.
func Expected(completion []byte) (score float64, ok bool) {
	tokens := gjson.GetBytes(completion, "choices.0.logprobs.content").Array()
	var text strings.Builder
	starts := make([]int, len(tokens))
	for i, t := range tokens {
		starts[i] = text.Len()
		text.WriteString(t.Get("token").String())
	}
	matches := scorePattern.FindAllStringIndex(text.String(), -1)
	if len(matches) == 0 {
		return 0, false
	}
	digit := matches[len(matches)-1][1]
	k := len(tokens) - 1
	for k > 0 && starts[k] > digit {
		k--
	}
	prefix := text.String()[starts[k]:digit]
	mass := 0.0
	for _, alternative := range tokens[k].Get("top_logprobs").Array() {
		rest, hasPrefix := strings.CutPrefix(alternative.Get("token").String(), prefix)
		p := math.Exp(min(alternative.Get("logprob").Float(), 0))
		if s := scoreOf(rest); hasPrefix && s > 0 {
			score += s * p
			mass += p
		}
	}
	if mass < minMass {
		return 0, false
	}
	return score / mass, true
}

// scoreOf returns the score that a token completes after "0.", such as 0.7 for "7" or "70". It
// returns 0 if that number is none of Scores, as for "75".
func scoreOf(token string) float64 {
	digits := token[:len(token)-len(strings.TrimLeft(token, "0123456789"))]
	for _, s := range Scores {
		if strings.TrimRight(digits, "0") == strconv.Itoa(int(math.Round(s*10))) {
			return s
		}
	}
	return 0
}
