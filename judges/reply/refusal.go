package reply

import "strings"

// refusals are how models begin when they decline. A reply that says so
// anywhere else may be quoting the trajectory.
var refusals = []string{
	"i can't", "i cannot", "i can not", "i won't", "i will not", "i'm unable", "i am unable",
	"i'm not able", "i am not able", "i must decline", "i have to decline", "i decline",
	"i'm sorry, but i", "i am sorry, but i", "sorry, but i", "sorry, i can", "i apologize, but i",
	"as an ai", "this request violates", "unfortunately, i can't", "unfortunately, i cannot",
}

// maxRefusal is the longest text, in bytes, that is taken for a refusal: real
// ones are a sentence or three, a longer text is an answer gone astray.
const maxRefusal = 800

// refuses tells a refusal from noise, conservatively: it is short, says so in
// its first words, and holds no object.
func refuses(text string) bool {
	text = strings.TrimLeft(strings.TrimSpace(text), "*_#>\"' \n")
	if len(text) > maxRefusal || strings.ContainsRune(text, '{') {
		return false
	}
	text = strings.ToLower(strings.ReplaceAll(text, "\u2019", "'"))
	for _, begin := range refusals {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}
