package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/text"
)

// stepsKey is the JSON key of the list of verdicts, which every reply on the steps of an attempt
// must have.
const stepsKey = "steps"

// maxReason is the maximum number of characters of the reason for a verdict. The prompt demands
// at most twelve words.
const maxReason = 200

// ParseSteps parses the verdicts on n steps, numbered from 1. As in Parse, the only object with
// the key counts, also if it was truncated after the list. Every step needs one valid verdict. A
// reply without a verdict for a step, or with two different ones, is unparsed, since its step
// numbers are unreliable. Verdicts on steps that do not exist are ignored.
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

// addVerdict parses the verdict on one step and stores it in verdicts. It returns false if the
// verdict is invalid or differs from an earlier one on the same step. It ignores a verdict on a
// step that does not exist and returns true.
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

// minQuote is the minimum length of a quotation for a check whether the attempt contains it, in
// bytes of its letters and digits. Shorter ones occur in almost any text.
const minQuote = 3

// Doubt returns what is wrong with the quotes of an answer about a rendered trajectory: a gate
// passed without a quote, or a quote is not in the trajectory. Blanks, punctuation and case are
// ignored, and the parts between ellipses are checked one by one. It returns the empty value if
// nothing is wrong.
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

// Echoes reports whether the answer's object is in the rendered trajectory, so that the model
// repeats what the agent wrote.
func Echoes(text, trace string) bool {
	object, _, outcome := find(text, scoreKey)
	return outcome == arena.JudgeScored && strings.Contains(onlyLetters(trace), onlyLetters(object))
}

// onlyLetters returns the letters and digits of a text in lower case. Everything else is
// removed.
func onlyLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// maxRefusal is the maximum number of bytes of a refusal. Real refusals have one to three
// sentences; a longer text is a failed answer.
const maxRefusal = 800

// isRefusal reports whether the visible text of a reply is a refusal. It must be short, refuse
// in its first words and contain no "{". A refusal elsewhere in a reply may be a quote from the
// trace.
func isRefusal(visible string) bool {
	visible = strings.TrimSpace(visible)
	return len(visible) <= maxRefusal && !strings.ContainsRune(visible, '{') && text.Refuses(visible)
}
