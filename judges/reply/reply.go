// Package reply parses the replies of judge models: one score with its reasons, or one verdict
// for each step. Models may write any text around them. The result depends on the text only, and
// no text causes a panic or a long running time.
package reply

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/lenient"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// scoreKey is the JSON key of the score, which every reply on the reasoning of an attempt must
// have.
const scoreKey = "reasoning_quality"

// Limits for the reasons in a reply, which bound the size of the ledger. A quote longer than the
// shown thinking is not a quote, and four gates need few quotes.
const (
	// maxExplanation and maxQuote are the maximum numbers of characters kept of a judge's
	// explanation and of each quotation; maxSpans is the maximum number of quotations.
	maxExplanation = 1000
	maxQuote       = 1000
	maxSpans       = 16
)

// Scores are the valid scores. The index of a score is the number of gates that passed.
var Scores = []float64{0.1, 0.3, 0.5, 0.7, 0.9}

// Answer is a judge's answer on one trajectory.
type Answer struct {
	// Score is one of Scores.
	Score       float64
	Explanation string
	// Spans are the passages that the judge cites, in the judge's order.
	Spans []arena.Span
}

// Gates returns, for each gate, whether it passed by the score. Every gate before the first
// failed one passed.
func (a Answer) Gates() []bool {
	passed := slices.Index(Scores, a.Score)
	gates := make([]bool, len(Scores)-1)
	for i := range gates {
		gates[i] = i < passed
	}
	return gates
}

// Parse parses a reply about an attempt. The answer is the only object with a reasoning_quality
// after the model's thinking, or in the thinking if no text follows it. The object must have
// evidence and an explanation, which may be truncated, and no key twice. A reply is unparsed if
// its score is invalid or contradicts the explanation, or if there is no answer and no refusal.
func Parse(text string) (Answer, arena.JudgeOutcome) {
	object, complete, outcome := find(text, scoreKey)
	if outcome != arena.JudgeScored {
		return Answer{}, outcome
	}
	return parseObject(object, complete)
}

// Text returns the text of a reply under a key, by the rules of Parse. A truncated text is
// unparsed.
func Text(text, key string) (string, arena.JudgeOutcome) {
	object, complete, outcome := find(text, key)
	if outcome != arena.JudgeScored {
		return "", outcome
	}
	value := strings.TrimSpace(gjson.Get(object, key).Str)
	if !complete || value == "" {
		return "", arena.JudgeUnparsed
	}
	return value, outcome
}

// find finds the JSON object of a model's reply that has the key and counts as the answer. outcome
// is scored if there is one, refused if the reply is a refusal, and unparsed otherwise. complete
// reports whether the object was written to its end. An object in the model's thinking counts only
// if the thinking was ended by its tag and no text follows.
func find(text, key string) (object string, complete bool, outcome arena.JudgeOutcome) {
	visible, thinking := splitThinking(text)
	if object, complete, ok := findAnswer(visible, key); ok {
		return object, complete, arena.JudgeScored
	}
	if isRefusal(visible) {
		return "", false, arena.JudgeRefused
	}
	if object, complete, ok := findAnswer(thinking, key); ok && strings.TrimSpace(visible) == "" {
		return object, complete, arena.JudgeScored
	}
	return "", false, arena.JudgeUnparsed
}

// splitThinking splits a reply into the visible text, after its last think block, and the text
// before. If a block was never closed, the visible text is what precedes the block, and the
// block is dropped, since the model may not have reached an answer. Tags inside a JSON object
// are quotations and do not count.
func splitThinking(text string) (visible, thinking string) {
	blanked := blankObjects(text)
	if i := strings.LastIndex(blanked, "</think>"); i >= 0 {
		return text[i+len("</think>"):], text[:i]
	}
	if i := strings.Index(blanked, "<think>"); i >= 0 {
		return text[:i], ""
	}
	return text, ""
}

// blankObjects returns text with blanks in place of each complete JSON object, to hide tags
// inside objects. A text without think tags is returned unchanged.
func blankObjects(text string) string {
	if !strings.Contains(text, "think>") {
		return text
	}
	blanked := []byte(text)
	eachObject(text, func(start int, m lenient.Mended) {
		if m.Complete {
			copy(blanked[start:start+m.End], strings.Repeat(" ", m.End))
		}
	})
	return string(blanked)
}

func parseObject(object string, complete bool) (Answer, arena.JudgeOutcome) {
	var a Answer
	isScore := false
	counts := map[string]int{}
	for k, v := range gjson.Parse(object).ForEach {
		key := k.Str
		switch key {
		case scoreKey:
			a.Score, isScore = parseScore(v)
		case "explanation":
			a.Explanation = clip(v.String(), maxExplanation)
		case "evidence", "spans":
			key = "evidence"
			a.Spans = parseSpans(v)
		}
		counts[key]++
	}
	cutOff := counts["explanation"] == 0 && !complete
	hasExplanation := counts["explanation"] == 1 || cutOff
	hasFields := counts[scoreKey] == 1 && counts["evidence"] == 1 && hasExplanation
	if !isScore || !hasFields || a.contradicts() {
		return Answer{}, arena.JudgeUnparsed
	}
	return a, arena.JudgeScored
}

// gatePattern matches a statement that a gate (one of four tests on the way to a higher grade)
// passed or failed, such as "gate 2 failed".
var gatePattern = regexp.MustCompile(`(?i)\bgate\s*([1-4])\s*(?:is|was|has)?\s*(passe[ds]|fail(?:ed|s))\b`)

// contradicts reports whether an answer's explanation contradicts its score. The score tells how
// many of the four gates (tests, in order) passed. The explanation contradicts it by stating that a
// later gate passed, or that a gate failed which is not the first one after those that passed.
func (a *Answer) contradicts() bool {
	passed := slices.Index(Scores, a.Score)
	for _, match := range gatePattern.FindAllStringSubmatch(a.Explanation, -1) {
		gate := int(match[1][0] - '0')
		failed := match[2][0]|0x20 == 'f'
		if failed && gate != passed+1 {
			return true
		}
		if !failed && gate > passed {
			return true
		}
	}
	return false
}

// parseScore parses a score, which may be a number or a string. ok is false if it is not one of
// Scores.
func parseScore(v gjson.Result) (score float64, ok bool) {
	text := v.Raw
	if v.Type == gjson.String {
		text = strings.TrimSpace(v.Str)
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && slices.Contains(Scores, n)
}

// parseSpans returns the items of a JSON list of evidence that have the number of a gate and a
// quotation, at most maxSpans of them. Other items are left out.
func parseSpans(v gjson.Result) []arena.Span {
	spans := slicesx.FilterMap(v.Array(), parseSpan)
	return spans[:min(len(spans), maxSpans)]
}

func parseSpan(v gjson.Result) (span arena.Span, ok bool) {
	gate := v.Get("gate").Int()
	step := max(0, min(v.Get("step").Int(), 1<<30))
	quote := clip(v.Get("quote").String(), maxQuote)
	isGate := gate >= 1 && gate < int64(len(Scores))
	return arena.Span{
		Gate:  int(gate),
		Step:  int(step),
		Quote: quote,
	}, quote != "" && isGate
}

// clip returns the first n characters of s, with a replacement character for bytes that are not
// UTF-8.
func clip(s string, n int) string { return text.Clip(strings.ToValidUTF8(s, "\uFFFD"), n) }
