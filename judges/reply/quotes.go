package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/text"
)

// minQuote is the least number of letters and digits of a quote that can be
// looked for: less stands anywhere.
const minQuote = 3

// Doubt says what is wrong with the quotes of an answer on a trajectory, as it
// was shown: a gate passed without one, or one that stands nowhere. Blanks, signs
// and case make no difference, and where dots leave something out each part is
// looked for.
func (a *Answer) Doubt(shown string) arena.JudgeDoubt {
	for gate, passed := range a.Gates() {
		if passed && !slices.ContainsFunc(a.Spans, func(s arena.Span) bool { return s.Gate == gate+1 }) {
			return arena.DoubtNoQuote
		}
	}
	letters := lettersOf(shown)
	for _, s := range a.Spans {
		for part := range strings.SplitSeq(strings.ReplaceAll(s.Quote, "...", "…"), "…") {
			if part = lettersOf(part); len(part) >= minQuote && !strings.Contains(letters, part) {
				return arena.DoubtUnfound
			}
		}
	}
	return ""
}

// Echoes reports whether the object of an answer stands in the trajectory as it
// was shown: then the model repeats what the agent wrote.
func Echoes(text, shown string) bool {
	object, _, outcome := find(text, scoreKey)
	return outcome == arena.JudgeScored && strings.Contains(lettersOf(shown), lettersOf(object))
}

// lettersOf are the letters and digits of a text, in lower case.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// maxRefusal is the longest text, in bytes, that is taken for a refusal: real
// ones are a sentence or three, a longer text is an answer gone astray.
const maxRefusal = 800

// refuses reports whether a reply is a refusal, conservatively: it is short,
// says so in its first words, and holds no object. A reply that says so anywhere
// else may be quoting the trajectory.
func refuses(said string) bool {
	said = strings.TrimSpace(said)
	return len(said) <= maxRefusal && !strings.ContainsRune(said, '{') && text.Refuses(said)
}
