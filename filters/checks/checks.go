// Package checks is the catalogue of the filter: what is measured of an attempt, and
// when it speaks against it.
package checks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Check is one entry of the catalogue: what is measured, and when it speaks
// against an attempt.
type Check struct {
	// Name is versioned: another formula is another name.
	Name string
	// Doc says in one sentence what the check finds.
	Doc string
	// Value and Limit say what the two numbers of its verdict mean.
	Value string
	Limit string
	// Reason is the stable word that a reject by this check gives.
	Reason string

	Measure func(a *evidence.Attempt, maxTokens int) (value, limit float64)
	// Above is true where values over the limit fire, else those under it.
	Above bool
	// Mistake reports whether a reject tells of the model's own doing: the record is
	// whole and honest, and shows what not to do.
	Mistake bool
}

// Fires reports whether a value speaks against an attempt. NaN, which could not be
// measured, never does.
func (c *Check) Fires(value, limit float64) bool {
	return c.Above && value > limit || !c.Above && value < limit
}

// All is every check in the order in which it is reported.
var All = []Check{
	{Name: "finished_v1", Doc: "The attempt did not end well, or left no dialogue.", Reason: "attempt_failed",
		Value: "1 if the sandbox saw it succeed", Limit: "1",
		Measure: func(a *evidence.Attempt, _ int) (value, limit float64) {
			return evidence.Flag(a.Trace.Status == arena.StatusSuccess && a.Trace.HasDialogue), 1
		}},
	{Name: "dialogue_v1", Doc: "The dialogue has no turn with a call.", Reason: "empty_dialogue",
		Value: "turns that call a tool", Limit: "least turns",
		Measure: func(a *evidence.Attempt, _ int) (value, limit float64) { return float64(a.CallTurns), 1 }},
	{Name: "call_count_v1", Doc: "The attempt has more calls than are examined.", Reason: "too_many_calls",
		Value: "calls of the dialogue or entries of the log", Limit: "most calls", Above: true, Measure: size},
	{Name: "answered_calls_v1", Doc: "A tool call is without an answer.", Reason: "unanswered_call",
		Value: "calls without a result", Limit: "most such calls", Above: true, Measure: unanswered},
	{Name: "one_recommendation_v1", Doc: "There is no recommendation, or more than one.", Reason: "recommend_count",
		Value: "recommendations too many or missing", Limit: "farthest", Above: true, Mistake: true, Measure: recommendations},
	{Name: "token_length_v1", Doc: "The dialogue is longer than the training context.", Reason: "too_long",
		Value: "tokens, counted as bytes / 4", Limit: "max_tokens", Above: true,
		Measure: func(a *evidence.Attempt, maxTokens int) (value, limit float64) {
			return float64(a.Tokens), float64(maxTokens)
		}},
	{Name: "ends_in_thought_v1", Doc: "The last turn only thinks.", Reason: "ends_on_think",
		Value: "1 if the last turn only thinks", Limit: "0", Above: true, Measure: endsInThought},
	{Name: "judge_orders_v1", Doc: "The agent's own text orders its judge about.", Reason: "orders_the_judge",
		Value: "passages that order a judge", Limit: "most such passages", Above: true, Measure: judgeOrders},
	{Name: "invented_id_v1", Doc: "A call names a product that no result before it held.", Reason: "invented_id",
		Value: "such products", Limit: "most such products", Above: true, Mistake: true,
		Measure: func(a *evidence.Attempt, _ int) (value, limit float64) { return float64(a.Invented), 0 }},
}

// Bound says of a verdict's two numbers what they are and which side of the limit passes.
func (c *Check) Bound(value, limit float64) string {
	if c.Name == "" { // of another version's catalogue
		return fmt.Sprintf("%.4g measured, limit %.4g", value, limit)
	}
	if what, yes := strings.CutPrefix(c.Value, "1 if "); yes {
		word := map[bool]string{true: "yes", false: "no"}
		return fmt.Sprintf("%s: %s; passes: %s", what, word[value != 0], word[!c.Above])
	}
	return fmt.Sprintf("%s: %.4g; passes: %s %.4g", c.Value, value, map[bool]string{true: "at most", false: "at least"}[c.Above], limit)
}

// Mistake reports whether a reject with this reason tells of the model's own doing
// in an attempt that is whole: what it invented or did not recommend.
func Mistake(reason string) bool {
	return slices.ContainsFunc(All, func(c Check) bool { return c.Mistake && c.Reason == reason })
}

// size stops counting at the bound, so a value above the limit says "more".
func size(a *evidence.Attempt, _ int) (value, limit float64) {
	if a.Pad.Full {
		return evidence.MaxCalls, evidence.MaxCalls - 1
	}
	return float64(max(len(a.Claims), len(a.Log.Dispatches)+a.Log.Asked)), evidence.MaxCalls - 1
}

func unanswered(a *evidence.Attempt, _ int) (value, limit float64) {
	return float64(slicesx.CountFunc(a.Claims, func(c *evidence.Claim) bool { return c.Call.Result.Kind() <= arena.Null })), 0
}

// recommendations is asked of the shop's attempts: an order in a pack is what its
// verifier says.
func recommendations(a *evidence.Attempt, _ int) (value, limit float64) {
	if a.Trace.Ruling != nil {
		return math.NaN(), 0
	}
	n := slicesx.CountFunc(a.Claims, func(c *evidence.Claim) bool { return c.Act.Tool == evidence.ToolRecommend })
	return math.Abs(float64(n - 1)), 0
}

func endsInThought(a *evidence.Attempt, _ int) (value, limit float64) {
	turns := a.Dialogue.Turns
	if len(turns) == 0 {
		return 0, 0
	}
	last := &turns[len(turns)-1]
	return evidence.Flag(last.User == "" && last.Text == "" && len(last.Calls) == 0), 0
}

func judgeOrders(a *evidence.Attempt, _ int) (value, limit float64) {
	texts := make([]string, 0, 2*len(a.Dialogue.Turns))
	for i := range a.Dialogue.Turns {
		texts = append(texts, a.Dialogue.Turns[i].Think, a.Dialogue.Turns[i].Text)
	}
	return float64(orders(strings.Join(texts, "\n"))), 0
}

// orders counts sentences that order whoever grades the text about: one that
// names a judge or its rubric together with a grade to give, or that tells its
// reader to forget earlier instructions. Single words of either kind are
// ordinary shopping talk ("the rating is 4.9", "give me a minute").
func orders(text string) (n int) {
	rest := strings.ToLower(text)
	if !anyOf(rest, stems) {
		return 0
	}
	for rest != "" {
		var sentence string
		sentence, rest = cutSentence(rest)
		if isOrder(sentence) {
			n++
		}
	}
	return n
}

// judgeWords name the reader who grades, in the languages whose speakers wrote
// such orders so far; gradeWords what it is to hand out, giveWords the handing
// out. forgetWords and rulesWords make up the other kind of order. Words that
// shoppers use of products (reviews, markers, top, rating) are left out.
var (
	judgeWords  = []string{"the judge", "judge:", "judges", "judge must", "judge should", "grader", "evaluator", "to the reviewer", "reviewer:", "scorer", "grading", "rubric", "assessor", "评委", "评分", "评审", "juez", "evaluador", "richter:", "bewerter", "gutachter", "évaluateur", "оценщик", "судья"}
	gradeWords  = []string{"score", "0.9", "0,9", "grade", "full marks", "full points", "highest", "maximum", "reward", "满分", "高分", "puntuación", "máxim", "punkte", "höchst", "la note", "балл", "оценк"}
	giveWords   = []string{"give", "assign", "award", "return", "output", "must", "should", "receive", "set ", "grant", "updated", "deserve", "给", "asigna", "dale", "gib", "vergib", "donne", "attribue", "поставь", "выстав"}
	forgetWords = []string{"ignore", "disregard", "forget", "override", "overrule", "忽略", "ignora", "ignoriere", "ignorez", "игнорир"}
	rulesWords  = []string{"previous instruction", "prior instruction", "earlier instruction", "above instruction", "all instruction", "your instruction", "instructions above", "system prompt", "rubric", "grading", "criteria of", "指令", "instruccion", "anweisung", "consigne", "инструкц"}
)

// stems are parts of all judgeWords and forgetWords: a text without them is read once.
var stems = []string{"judg", "grad", "valua", "reviewer", "scorer", "rubric", "assessor", "评", "juez", "richter:", "bewerter", "gutachter", "оценщик", "судья", "ignor", "disregard", "forget", "overr", "忽略", "игнорир", verdictKey}

// verdictKey is the key of the judge's own reply: no shopper has a use for it.
const verdictKey = "reasoning_quality"

func isOrder(s string) bool {
	return strings.Contains(s, verdictKey) ||
		anyOf(s, judgeWords) && anyOf(s, gradeWords) && anyOf(s, giveWords) ||
		anyOf(s, forgetWords) && anyOf(s, rulesWords)
}

func anyOf(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// cutSentence cuts at the signs that end a sentence; a point inside a number
// does not.
func cutSentence(s string) (sentence, rest string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '!' || c == '?':
			return s[:i], s[i+1:]
		case c == '.' && (i+1 == len(s) || s[i+1] == ' '):
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
