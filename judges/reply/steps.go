package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/text"
)

// stepsKey is the field with the verdicts, which every reply about steps must have.
const stepsKey = "steps"

// maxReason is the maximum number of characters of the reason for one verdict. The prompt demands
// at most twelve words.
const maxReason = 200

// ParseSteps parses the verdicts on n steps, counted from 1, by the rules of Parse: the
// only object with steps counts, also if it was cut off after the list. Every step needs
// one valid verdict. A reply that has none for a step, or two that differ, is unparsed:
// its step numbers would be a guess. Verdicts on steps that do not exist are ignored.
func ParseSteps(text string, n int) ([]arena.StepVerdict, arena.JudgeOutcome) {
	object, _, outcome := find(text, stepsKey)
	if outcome != arena.JudgeScored {
		return nil, outcome
	}
	list := gjson.Get(object, stepsKey)
	if !list.IsArray() {
		return nil, arena.JudgeUnparsed
	}
	verdicts := make([]arena.StepVerdict, n)
	for _, v := range list.ForEach {
		if !addVerdict(verdicts, v) {
			return nil, arena.JudgeUnparsed
		}
	}
	if slices.ContainsFunc(verdicts, func(v arena.StepVerdict) bool { return v.Need == "" }) {
		return nil, arena.JudgeUnparsed
	}
	return verdicts, arena.JudgeScored
}

// addVerdict parses the verdict on one step and stores it in verdicts. It reports false if the
// verdict is invalid or differs from an earlier one on the same step. A verdict on a step that does
// not exist is ignored and reports true.
func addVerdict(verdicts []arena.StepVerdict, v gjson.Result) bool {
	number := v.Get("step").Float()
	step := int(number)
	inRange := number >= 1 && number <= float64(len(verdicts))
	if !inRange || float64(step) != number {
		return true
	}
	need := arena.Need(strings.ToLower(strings.TrimSpace(v.Get("verdict").String())))
	if !slices.Contains([]arena.Need{arena.StepNeeded, arena.StepWaste, arena.StepUnclear}, need) {
		return false
	}
	verdict := &verdicts[step-1]
	if verdict.Need != "" {
		return verdict.Need == need
	}
	*verdict = arena.StepVerdict{
		Step:   step,
		Need:   need,
		Reason: clip(v.Get("reason").String(), maxReason),
		Quote:  clip(v.Get("quote").String(), maxQuote),
	}
	return true
}

// minQuote is the minimum number of bytes, letters and digits only, of a quote that is checked.
// Shorter ones are in almost any text.
const minQuote = 3

// Doubt returns what is wrong with the quotes of an answer on a rendered trajectory: a
// gate passed without a quote, or a quote that is not in the trajectory. Blanks, signs
// and case do not matter, and the parts between ellipses are checked one by one.
func (a *Answer) Doubt(trace string) arena.JudgeDoubt {
	for gate, passed := range a.Gates() {
		if passed && !slices.ContainsFunc(a.Spans, func(s arena.Span) bool { return s.Gate == gate+1 }) {
			return arena.DoubtNoQuote
		}
	}
	letters := onlyLetters(trace)
	for _, s := range a.Spans {
		for part := range strings.SplitSeq(strings.ReplaceAll(s.Quote, "...", "…"), "…") {
			part = onlyLetters(part)
			if len(part) >= minQuote && !strings.Contains(letters, part) {
				return arena.DoubtUnfound
			}
		}
	}
	return ""
}

// Echoes reports whether the object of an answer is in the rendered trajectory: then the
// model repeats what the agent wrote.
func Echoes(text, trace string) bool {
	object, _, outcome := find(text, scoreKey)
	return outcome == arena.JudgeScored && strings.Contains(onlyLetters(trace), onlyLetters(object))
}

// onlyLetters returns the letters and digits of a text, in lower case and without anything between
// them.
func onlyLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// maxRefusal is the maximum number of bytes of a refusal. Real ones are one to three sentences; a
// longer text is a failed answer.
const maxRefusal = 800

// isRefusal reports whether a reply, without its thinking, is a refusal. The reply must be short,
// refuse in its first words and contain no "{". A refusal elsewhere in a reply may be a quote from
// the trace.
func isRefusal(visible string) bool {
	visible = strings.TrimSpace(visible)
	return len(visible) <= maxRefusal && !strings.ContainsRune(visible, '{') && text.Refuses(visible)
}
