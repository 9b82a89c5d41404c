// Package reply reads what a judge model wrote back: one score with its
// reasons, or a verdict on each step, out of whatever the model put around it. It is pure: the same text
// always gives the same answer, and no text makes it panic or run long.
package reply

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/lenient"
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

// Parse reads text. The last complete object with a reasoning_quality counts,
// first of all behind the model's thinking; without one, an object that was
// cut off or broken after its score counts if it is the only one. A score that
// was not on offer is unparsed, and so is everything else unless it refuses.
func Parse(text string) (Answer, arena.JudgeOutcome) {
	object, outcome := find(text, scoreKey)
	if outcome != arena.JudgeScored {
		return Answer{}, outcome
	}
	return read(object)
}

// find gives the object with the key that counts; scored says that there is
// one. What stands in the thinking counts only where the model said nothing that
// is an answer, a refusal included.
func find(text, key string) (object string, outcome arena.JudgeOutcome) {
	said, thought := splitThinking(text)
	if object, found := lastObject(said, key); found {
		return object, arena.JudgeScored
	}
	if refuses(said) {
		return "", arena.JudgeRefused
	}
	if object, found := lastObject(thought, key); found {
		return object, arena.JudgeScored
	}
	return "", arena.JudgeUnparsed
}

// splitThinking parts what was said aloud from the think blocks before it. A
// block that was never closed is thinking up to the end. Tags within an object
// are quoted, and part nothing.
func splitThinking(text string) (said, thought string) {
	bare := withoutObjects(text)
	if i := strings.LastIndex(bare, "</think>"); i >= 0 {
		return text[i+len("</think>"):], text[:i]
	}
	if i := strings.Index(bare, "<think>"); i >= 0 {
		return text[:i], text[i:]
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

func read(object string) (Answer, arena.JudgeOutcome) {
	var a Answer
	scored := false
	gjson.Parse(object).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case scoreKey:
			a.Score, scored = score(v)
		case "explanation":
			a.Explanation = clip(v.String(), maxExplanation)
		case "evidence", "spans":
			a.Spans = append(a.Spans, spans(v)...)
		}
		return true
	})
	if !scored {
		return Answer{}, arena.JudgeUnparsed
	}
	a.Spans = a.Spans[:min(len(a.Spans), maxSpans)]
	return a, arena.JudgeScored
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
	var out []arena.Span
	for _, e := range v.Array() {
		gate, step := e.Get("gate").Int(), e.Get("step").Int()
		quote := clip(e.Get("quote").String(), maxQuote)
		if quote == "" || gate < 1 || gate > int64(len(Scores)-1) || len(out) == maxSpans {
			continue
		}
		out = append(out, arena.Span{Gate: int(gate), Step: int(max(0, min(step, 1<<30))), Quote: quote})
	}
	return out
}

// clip cuts s after n characters and mends what is not UTF-8.
func clip(s string, n int) string { return text.Clip(strings.ToValidUTF8(s, "\uFFFD"), n) }
