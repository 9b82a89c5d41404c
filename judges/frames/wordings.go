package frames

import (
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// runLen is the number of adjacent letters that the frames of two passages must share for the
// passages to be similar. A frame has one letter for each figure and each listed word (see
// gates.Frame).
const runLen = 5

// passageRuns returns a set of strings for a passage. Two passages are similar if their sets have a
// string in common. The set has each run of runLen adjacent letters of the passage's frame (one
// letter for each figure and each listed word, see gates.Frame), the whole frame if it is longer
// than one letter, and the text as withoutFigures returns it. The last finds two copies of one
// template even if the word lists know none of its words.
func passageRuns(text string) map[string]bool {
	runs := map[string]bool{}
	frame := gates.Frame(text)
	if len(frame) > 1 {
		runs[frame] = true
	}
	addRuns(runs, frame, runLen)
	runs[withoutFigures(text)] = true
	return runs
}

// withoutFigures returns the words of a text, joined by blanks, with "0" in place of each word with
// a digit: "612 costs PHP90" → "0 costs 0".
func withoutFigures(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			words[i] = "0"
		}
	}
	return strings.Join(words, " ")
}

// wordingsOf returns the wordings of a passage: the words that remain of it and of its sentences
// without names and figures (see gates.Wordings). If it has none, as a short one, the result is its
// text as withoutFigures returns it.
func wordingsOf(text string) []string {
	if wordings := gates.Wordings(text); len(wordings) > 0 {
		return wordings
	}
	return []string{withoutFigures(text)}
}

// addRuns adds to the set runs every run of n adjacent letters of a frame, the string with one
// letter for each figure and listed word of a text (see gates.Frame).
func addRuns(runs map[string]bool, frame string, n int) {
	for i := 0; i+n <= len(frame); i++ {
		runs[frame[i:i+n]] = true
	}
}
