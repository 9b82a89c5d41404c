package reply

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
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
	list.ForEach(func(_, v gjson.Result) bool {
		consistent = note(verdicts, v)
		return consistent
	})
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
	switch need {
	case arena.StepNeeded, arena.StepWaste, arena.StepUnclear:
	default:
		return false
	}
	if known.Need != "" {
		return known.Need == need
	}
	*known = arena.StepVerdict{
		Step: step, Need: need,
		Reason: clip(v.Get("reason").String(), maxReason), Quote: clip(v.Get("quote").String(), maxQuote),
	}
	return true
}
