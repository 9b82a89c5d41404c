package text

import "strings"

// refusals are how models begin when they decline.
var refusals = []string{
	"i can't", "i cannot", "i can not", "i won't", "i will not", "i'm unable", "i am unable",
	"i'm not able", "i am not able", "i must decline", "i have to decline", "i decline", "i refuse",
	"i'm sorry, but i", "i am sorry, but i", "sorry, but i", "sorry, i can", "i'm sorry, i can", "i'm sorry, but as",
	"i apologize, but i", "as an ai", "this request violates", "unfortunately, i can't", "unfortunately, i cannot",
}

// Refuses reports whether s begins as models do when they decline. Later in a
// text the same words may be quoted or be about something else.
func Refuses(s string) bool {
	s = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(s, "*_#>\"' \t\r\n"), "\u2019", "'"))
	for _, begin := range refusals {
		if strings.HasPrefix(s, begin) {
			return true
		}
	}
	return false
}
