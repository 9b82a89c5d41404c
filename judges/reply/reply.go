// Package reply reads what a judge model wrote back: one score with its
// reasons, or a verdict on each step, out of whatever the model put around it. It is pure: the same text
// always gives the same answer, and no text makes it panic or run long.
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

// scoreKey is the one field every reply on an attempt must have.
const scoreKey = "reasoning_quality"

// Bounds on what is kept of a reply's reasons, so that a talkative judge
// cannot fill the ledger: a quote longer than a rendered passage of thinking
// is no longer a passage, and four gates need few quotes.
const (
	maxExplanation = 1000
	maxQuote       = 1000
	maxSpans       = 16
)

// Scores are the only scores on offer, by the first gate that fails.
var Scores = []float64{0.1, 0.3, 0.5, 0.7, 0.9}

// Answer is a judge's answer on one trajectory.
type Answer struct {
	// Score is one of Scores.
	Score       float64
	Explanation string
	// Spans are the passages that the judge cites, in its order.
	Spans []arena.Span
}

// Gates is the walk that a score stands for: every gate before the first that
// failed is true.
func (a Answer) Gates() []bool {
	passed := slices.Index(Scores, a.Score)
	gates := make([]bool, len(Scores)-1)
	for i := range gates {
		gates[i] = i < passed
	}
	return gates
}

// Parse reads text. The one object with a reasoning_quality counts, behind the
// model's thinking, or in it where nothing stands behind. It must have
// explanation and evidence, too, of which the explanation may have been cut off,
// and no key twice. A score that was not on offer, or that the explanation
// contradicts, is unparsed, and so is everything else unless it refuses.
func Parse(text string) (Answer, arena.JudgeOutcome) {
	object, whole, outcome := find(text, scoreKey)
	if outcome != arena.JudgeScored {
		return Answer{}, outcome
	}
	return read(object, whole)
}

// Text reads the one text that a reply has under a key, by the rules of Parse; one
// that was cut off is none.
func Text(text, key string) (string, arena.JudgeOutcome) {
	object, whole, outcome := find(text, key)
	said := strings.TrimSpace(gjson.Get(object, key).Str)
	switch {
	case outcome != arena.JudgeScored:
		return "", outcome
	case !whole || said == "":
		return "", arena.JudgeUnparsed
	}
	return said, outcome
}

// find gives the object with the key that counts, and whether it is whole;
// scored says that there is one. What stands in the thinking counts only where
// the model ended it and said nothing behind, a refusal included.
func find(text, key string) (object string, whole bool, outcome arena.JudgeOutcome) {
	said, thought := splitThinking(text)
	if object, whole, found := only(said, key); found {
		return object, whole, arena.JudgeScored
	}
	if refuses(said) {
		return "", false, arena.JudgeRefused
	}
	if object, whole, found := only(thought, key); found && strings.TrimSpace(said) == "" {
		return object, whole, arena.JudgeScored
	}
	return "", false, arena.JudgeUnparsed
}

// splitThinking parts what was said aloud from the think blocks before it. A
// block that was never closed is no thinking to look for an answer in: the model
// may not have come to one. Tags within an object are quoted, and part nothing.
func splitThinking(text string) (said, thought string) {
	bare := withoutObjects(text)
	if i := strings.LastIndex(bare, "</think>"); i >= 0 {
		return text[i+len("</think>"):], text[:i]
	}
	if i := strings.Index(bare, "<think>"); i >= 0 {
		return text[:i], ""
	}
	return text, ""
}

// withoutObjects blanks whole objects out of a text that has tags.
func withoutObjects(text string) string {
	if !strings.Contains(text, "think>") {
		return text
	}
	bare := []byte(text)
	objects(text, func(start int, m lenient.Mended) {
		if m.Complete {
			copy(bare[start:start+m.End], strings.Repeat(" ", m.End))
		}
	})
	return string(bare)
}

func read(object string, whole bool) (Answer, arena.JudgeOutcome) {
	var a Answer
	scored, keys := false, map[string]int{}
	for k, v := range gjson.Parse(object).ForEach {
		key := k.Str
		switch key {
		case scoreKey:
			a.Score, scored = score(v)
		case "explanation":
			a.Explanation = clip(v.String(), maxExplanation)
		case "evidence", "spans":
			key = "evidence"
			a.Spans = spans(v)
		}
		keys[key]++
	}
	complete := keys[scoreKey] == 1 && keys["evidence"] == 1 && (keys["explanation"] == 1 || keys["explanation"] == 0 && !whole)
	if !scored || !complete || a.contradicts() {
		return Answer{}, arena.JudgeUnparsed
	}
	return a, arena.JudgeScored
}

// gateSaid is what an explanation says of a gate in the words asked for.
var gateSaid = regexp.MustCompile(`(?i)\bgate\s*([1-4])\s*(?:is|was|has)?\s*(passe[ds]|fail(?:ed|s))\b`)

// contradicts reports whether the explanation says another walk through the
// gates than the score: a gate passed that comes after the score's, or one failed
// that is not the first to fail.
func (a *Answer) contradicts() bool {
	passed := slices.Index(Scores, a.Score)
	for _, m := range gateSaid.FindAllStringSubmatch(a.Explanation, -1) {
		gate := int(m[1][0] - '0')
		if failed := m[2][0]|0x20 == 'f'; failed && gate != passed+1 || !failed && gate > passed {
			return true
		}
	}
	return false
}

// score accepts a number on offer, also one written as a string.
func score(v gjson.Result) (float64, bool) {
	text := v.Raw
	if v.Type == gjson.String {
		text = strings.TrimSpace(v.Str)
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && slices.Contains(Scores, n)
}

func spans(v gjson.Result) []arena.Span {
	all := slicesx.FilterMap(v.Array(), func(e gjson.Result) (arena.Span, bool) {
		gate, step := e.Get("gate").Int(), e.Get("step").Int()
		quote := clip(e.Get("quote").String(), maxQuote)
		return arena.Span{Gate: int(gate), Step: int(max(0, min(step, 1<<30))), Quote: quote}, quote != "" && gate >= 1 && gate < int64(len(Scores))
	})
	return all[:min(len(all), maxSpans)]
}

// clip cuts s after n characters and mends what is not UTF-8.
func clip(s string, n int) string { return text.Clip(strings.ToValidUTF8(s, "\uFFFD"), n) }
