package disguise

import "strings"

// Reading is one way to read a text that is disguised.
type Reading struct {
	Text string
	// How says what was undone: "base64", "spaced letters".
	How string
}

// Disguise in disguise (reversed, then spaced, then base64) is undone to
// maxDepth, and a text read in maxReadings ways.
const (
	maxDepth    = 3
	maxReadings = 24
)

// Readings returns what text, in plain letters, says beneath a disguise; none for
// most texts. known reports whether a word in lower case is one of the language:
// where it is nil, only encodings are undone.
func Readings(text string, known func(word string) bool) []Reading {
	var out []Reading
	seen, level := map[string]bool{text: true}, []Reading{{Text: text}}
	for range maxDepth {
		var next []Reading
		for _, r := range level {
			for _, u := range undoOnce(r, known) {
				if !seen[u.Text] && len(seen) <= maxReadings {
					next, seen[u.Text] = append(next, u), true
				}
			}
		}
		out, level = append(out, next...), next
	}
	return out
}

func undoOnce(r Reading, known func(string) bool) []Reading {
	var out []Reading
	note := func(text, how string) {
		if text != r.Text {
			out = append(out, Reading{Plain(text), strings.TrimPrefix(r.How+", "+how, ", ")})
		}
	}
	decoded, how := decode(r.Text)
	note(decoded, how)
	if known == nil {
		return out
	}
	note(together(r.Text, known), "letters set apart")
	for _, e := range exchanges {
		for _, text := range e.undo(r.Text, known) {
			note(text, e.how)
		}
	}
	return out
}
