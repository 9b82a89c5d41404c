package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/text"
)

// stepsKey is the one field every reply on steps must have.
const stepsKey = "steps"

// maxReason bounds the reason for one verdict, in characters. It is asked for
// in twelve words.
const maxReason = 200

// ParseSteps reads the verdicts on n steps, counted from 1, by the rules of
// Parse: the one object with steps counts, also cut off behind its list. Every step needs one verdict on offer. A reply that leaves
// one out, or says two things of one, is unparsed: which steps it speaks of
// would be a guess. What is said of steps that do not exist is passed over.
func ParseSteps(text string, n int) ([]arena.StepVerdict, arena.JudgeOutcome) {
	object, _, outcome := find(text, stepsKey)
	if outcome != arena.JudgeScored {
		return nil, outcome
	}
	list := gjson.Get(object, stepsKey)
	verdicts := make([]arena.StepVerdict, n)
	consistent := true
	for _, v := range list.ForEach {
		consistent = consistent && note(verdicts, v)
	}
	if !consistent || !list.IsArray() || slices.ContainsFunc(verdicts, func(v arena.StepVerdict) bool { return v.Need == "" }) {
		return nil, arena.JudgeUnparsed
	}
	return verdicts, arena.JudgeScored
}

// note enters one verdict, and says if it is one on offer that contradicts no
// other.
func note(verdicts []arena.StepVerdict, v gjson.Result) bool {
	number := v.Get("step").Float()
	step := int(number)
	if !(number >= 1 && number <= float64(len(verdicts))) || float64(step) != number {
		return true
	}
	need := arena.Need(strings.ToLower(strings.TrimSpace(v.Get("verdict").String())))
	known := &verdicts[step-1]
	switch {
	case !slices.Contains([]arena.Need{arena.StepNeeded, arena.StepWaste, arena.StepUnclear}, need):
		return false
	case known.Need != "":
		return known.Need == need
	}
	*known = arena.StepVerdict{
		Step: step, Need: need,
		Reason: clip(v.Get("reason").String(), maxReason), Quote: clip(v.Get("quote").String(), maxQuote),
	}
	return true
}

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
