// Package checks lists the checks of single attempts: what each measures, and which values
// count against an attempt.
package checks

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/scripts"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Check is one check of an attempt. It compares a measured value with a limit.
type Check struct {
	// Name ends in a version: a check with a new formula gets a new name.
	Name string
	// Doc describes in one sentence what the check finds.
	Doc string
	// Value and Limit describe the measured value and its limit in words.
	Value string
	Limit string
	// Reason is the stable code of a rejection by this check.
	Reason string

	// Measure computes the value of an attempt and the limit.
	Measure func(a *evidence.Attempt, l Limits) (value, limit float64)
	// Above reports whether values above the limit fail the check. If it is false, values below
	// the limit do.
	Above bool
	// Mistake reports whether a failed check shows a mistake of the model in an attempt whose
	// record is complete and genuine, so that the attempt can serve as an example of what not to
	// do.
	Mistake bool
}

// Limits are the limits of the checks that a configuration or a domain sets.
type Limits struct {
	// MaxTokens is the maximum length of a dialogue in tokens.
	MaxTokens int
	// CallTurns is the smallest number of turns that call a tool.
	CallTurns int
	// Commit limits the commit calls of an attempt.
	Commit domain.Commit
	// LastEnds lets the last call lack a result whatever its tool is, since it is not known which tool
	// ends an attempt.
	LastEnds bool
}

// Fires reports whether a value fails the check. NaN means that the value could not be measured,
// and never fails.
func (c *Check) Fires(value, limit float64) bool {
	if c.Above {
		return value > limit
	}
	return value < limit
}

// All are the checks, in the order of their verdicts.
var All = []Check{
	{
		Name: "finished_v1", Reason: "attempt_failed",
		Doc:   "The attempt ended in an error, or left no dialogue.",
		Value: "1 if the sandbox reported success", Limit: "1", Measure: measureFinished,
	},
	{
		Name: "dialogue_v1", Reason: "empty_dialogue",
		Doc:   "The dialogue has no turn with a call.",
		Value: "turns that call a tool", Limit: "minimum number of turns", Measure: countCallTurns,
	},
	{
		Name: "call_count_v1", Reason: "too_many_calls",
		Doc:   "The attempt has too many calls to be examined.",
		Value: "calls of the dialogue or entries of the log", Limit: "maximum number",
		Above: true, Measure: countCalls,
	},
	{
		Name: "answered_calls_v1", Reason: "unanswered_call",
		Doc:   "A tool call has no result, and is no last call of a tool that ends the attempt.",
		Value: "calls without a result", Limit: "maximum number",
		Above: true, Measure: countUnanswered,
	},
	{
		Name: "one_recommendation_v1", Reason: "recommend_count",
		Doc:   "The attempt has no final answer, or more than one.",
		Value: "number of superfluous or missing answers", Limit: "largest allowed",
		Above: true, Mistake: true, Measure: countCommits,
	},
	{
		Name: "token_length_v1", Reason: "too_long",
		Doc:   "The dialogue is longer than the training context.",
		Value: "tokens, counted as bytes / 4", Limit: "max_tokens",
		Above: true, Measure: countTokens,
	},
	{
		Name: "ends_in_thought_v1", Reason: "ends_on_think",
		Doc:   "The last turn has only thinking.",
		Value: "1 if the last turn has only thinking", Limit: "0",
		Above: true, Measure: measureEndsInThought,
	},
	{
		Name: "judge_orders_v1", Reason: "orders_the_judge",
		Doc:   "The agent's own text gives orders to its judge.",
		Value: "passages that give orders to a judge", Limit: "maximum number",
		Above: true, Measure: countJudgeOrders,
	},
	{
		Name: "invented_id_v1", Reason: "invented_id",
		Doc:   "A call names an item that no earlier result contained.",
		Value: "such items", Limit: "maximum number",
		Above: true, Mistake: true, Measure: countInvented,
	},
}

// Bound describes a verdict in words: what was measured and which values pass.
func (c *Check) Bound(value, limit float64) string {
	if c.Name == "" { // of another version's list
		return fmt.Sprintf("%.4g measured, limit %.4g", value, limit)
	}
	if condition, ok := strings.CutPrefix(c.Value, "1 if "); ok {
		return fmt.Sprintf("%s: %s; passes: %s", condition, yesOrNo(value != 0), yesOrNo(!c.Above))
	}
	bound := "at least"
	if c.Above {
		bound = "at most"
	}
	return fmt.Sprintf("%s: %.4g; passes: %s %.4g", c.Value, value, bound, limit)
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// Mistake reports whether a rejection with this reason shows a mistake of the model in a
// complete attempt: it invented an item, or did not commit exactly once.
func Mistake(reason string) bool {
	return slices.ContainsFunc(All, func(c Check) bool {
		return c.Mistake && c.Reason == reason
	})
}

func measureFinished(a *evidence.Attempt, _ Limits) (value, limit float64) {
	if a.Trace.Status == arena.StatusSuccess && a.Trace.HasDialogue {
		return 1, 1
	}
	return 0, 1
}

func countCallTurns(a *evidence.Attempt, l Limits) (value, limit float64) {
	return float64(a.CallTurns), float64(l.CallTurns)
}

// countCalls returns the number of calls in the dialogue or of entries in the proxy's log,
// whichever is larger, and the limit for it. For an attempt that is too large to be examined it
// returns evidence.MaxCalls, one above the limit.
func countCalls(a *evidence.Attempt, _ Limits) (value, limit float64) {
	if a.Truncated() {
		return evidence.MaxCalls, evidence.MaxCalls - 1
	}
	logged := len(a.Log.Dispatches) + a.Log.Requested
	return float64(max(len(a.Claims), logged)), evidence.MaxCalls - 1
}

// countUnanswered returns the number of calls without a result, but for a last call that ends the
// attempt or may end it, since many harnesses stop there without a result; the limit is 0.
func countUnanswered(a *evidence.Attempt, l Limits) (value, limit float64) {
	claims := a.Claims
	if n := len(claims); n > 0 && (l.LastEnds || claims[n-1].Act.Tool == evidence.ToolTerminate) {
		claims = claims[:n-1]
	}
	n := slicesx.CountFunc(claims, func(c *evidence.Claim) bool {
		return c.Call.Result.Kind() <= arena.Null
	})
	return float64(n), 0
}

// countCommits returns by how many the number of commit calls (calls that end an attempt with the
// chosen items) differs from the right one; the limit is 0. The value is NaN, so that the check
// passes, if a verifier already graded the attempt or if none of its tools can commit.
func countCommits(a *evidence.Attempt, l Limits) (value, limit float64) {
	if a.Trace.Ruling != nil || !a.CanCommit() {
		return math.NaN(), 0
	}
	n := slicesx.CountFunc(a.Claims, func(c *evidence.Claim) bool {
		return c.Act.Tool == evidence.ToolCommit
	})
	switch {
	case l.Commit.Needed && n == 0:
		return 1, 0
	case l.Commit.AtMost > 0 && n > l.Commit.AtMost:
		return float64(n - l.Commit.AtMost), 0
	}
	return 0, 0
}

func countTokens(a *evidence.Attempt, l Limits) (value, limit float64) {
	return float64(a.Tokens), float64(l.MaxTokens)
}

func measureEndsInThought(a *evidence.Attempt, _ Limits) (value, limit float64) {
	turns := a.Dialogue.Turns
	if len(turns) == 0 {
		return 0, 0
	}
	last := &turns[len(turns)-1]
	if last.User == "" && last.Text == "" && len(last.Calls) == 0 {
		return 1, 0
	}
	return 0, 0
}

func countInvented(a *evidence.Attempt, _ Limits) (value, limit float64) {
	return float64(a.Invented), 0
}

func countJudgeOrders(a *evidence.Attempt, _ Limits) (value, limit float64) {
	texts := make([]string, 0, 2*len(a.Dialogue.Turns))
	for i := range a.Dialogue.Turns {
		texts = append(
			texts,
			a.Dialogue.Turns[i].Think,
			a.Dialogue.Turns[i].Text,
		)
	}
	return float64(countOrders(strings.Join(texts, "\n"))), 0
}

// countOrders counts the sentences of text that try to influence its grader. Such a sentence
// mentions a judge together with a grade to give, contains the key of the judge's reply, or
// tells the reader to ignore earlier instructions. One suspicious word alone is ordinary ("the
// rating is 4.9").
func countOrders(text string) int {
	text = strings.ToLower(text)
	if !containsAny(text, orders.Stems) {
		return 0
	}
	n := 0
	for text != "" {
		var sentence string
		sentence, text = cutSentence(text)
		if isOrder(sentence) {
			n++
		}
	}
	return n
}

// orders has the words of sentences that try to influence a grader, in the languages seen so far. A
// sentence counts if it has at least one word each of Judge (the grader), Grade (the grade) and Give
// (the giving), or of Forget and Rules. Words that shoppers use about items, such as rating, are left
// out. Stems has a part of each word in Judge and Forget, and verdictKey. A text that contains none
// of these parts gives no orders to a grader, so that its sentences are not examined.
var orders = asjson.Parse[struct{ Judge, Grade, Give, Forget, Rules, Stems []string }](ordersFile)

//go:embed orders.json
var ordersFile []byte

// verdictKey is the name of the grade in the JSON reply of a judge. A trace that contains it tries
// to answer in the judge's place: customers do not use this word.
const verdictKey = "reasoning_quality"

func isOrder(sentence string) bool {
	if strings.Contains(sentence, verdictKey) {
		return true
	}
	if beginsAny(sentence, orders.Judge) && beginsAny(sentence, orders.Grade) && beginsAny(sentence, orders.Give) {
		return true
	}
	return beginsAny(sentence, orders.Forget) && beginsAny(sentence, orders.Rules)
}

// beginsAny reports whether a word of s begins with at least one of words: "upgrading" does not
// begin with "grading". Chinese has no space between words, so that its words may begin anywhere.
func beginsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		first, _ := utf8.DecodeRuneInString(word)
		head, tail, isFound := strings.Cut(s, word)
		for isFound {
			last, _ := utf8.DecodeLastRuneInString(head)
			if unicode.Is(unicode.Han, first) || !unicode.IsLetter(last) {
				return true
			}
			head, tail, isFound = strings.Cut(tail, word)
		}
		return false
	})
}

// containsAny reports whether s contains at least one of the words, also as part of a longer
// word.
func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return strings.Contains(s, word)
	})
}

// cutSentence splits text after its first sentence. A sentence ends at a line break, an
// exclamation or question mark or full stop of any script, or a point before a space or the end of
// the text. The mark itself is in neither part.
func cutSentence(text string) (sentence, tail string) {
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		isPoint := r == '.' && end < len(text) && text[end] != ' '
		if r == '\n' || scripts.EndsSentence(r) && !isPoint {
			return text[:i], text[end:]
		}
	}
	return text, ""
}
