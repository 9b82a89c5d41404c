package rewrite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// The codes of the reasons why a rewritten attempt fails a check and does not become a row.
const (
	reasonSilent   = "no_reasoning"       // the model gave no readable reasoning for a step, or the problem has no other calls to choose from
	reasonGold     = "names_the_answer"   // a reasoning has data of the right answer that did not occur before it
	reasonLater    = "knows_later"        // a reasoning has data that occur only in a later step
	reasonInvented = "invented_datum"     // a reasoning has data that do not occur in the attempt
	reasonLeads    = "leads_elsewhere"    // a model that is shown the reasoning does not choose the real call
	reasonNoDatum  = "cites_no_result"    // no reasoning uses data of a result
	reasonTemplate = "template_reasoning" // its reasoning follows the same template as that of many other rows
	reasonCalls    = "calls_changed"      // calls or results of the row differ from the log
	reasonScore    = "score_changed"      // by the subnet's rules, the row has another score than the log
)

// unsupportedReason returns the reason why a thought is impossible at its step: it contains a
// datum, such as a price, that is neither in the request, nor in an earlier result, nor in the
// calls next. It returns "" if there is no such datum. The IDs in the next calls need no check,
// since the filter has compared them with the results.
func (p past) unsupportedReason(
	thought string,
	next move,
	remaining []arena.Turn,
	problem *arena.Problem,
) string {
	d := arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{{
		Name:      "begin",
		Arguments: "{}",
		Result:    "[]",
	}}}}}
	for i, s := range p.steps {
		d.Turns = append(d.Turns, arena.Turn{
			Step:  i + 1,
			Calls: s.Calls,
		})
	}
	d.Turns = append(d.Turns, arena.Turn{
		Step:  len(d.Turns),
		Think: thought,
	})
	grounds, _ := gates.Ground(&arena.Trace{Query: p.request + "\n" + string(next)}, &d)
	for _, g := range grounds {
		for _, datum := range g.Unsupported {
			return sourceReason(datum, remaining, problem)
		}
	}
	return ""
}

// sourceReason returns the reason for rejecting a thought with a datum that was unknown at its
// step: reasonGold if the datum is in the right answer, reasonLater if it is in one of the
// remaining steps, otherwise reasonInvented.
func sourceReason(datum string, remaining []arena.Turn, problem *arena.Problem) string {
	occursIn := func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(datum))
	}
	if slices.ContainsFunc(problem.Rewards, func(r arena.Reward) bool { return occursIn(string(r.Raw)) }) {
		return reasonGold
	}
	for _, t := range remaining {
		for _, c := range t.Calls {
			if occursIn(string(c.Arguments)) || occursIn(string(c.Result)) {
				return reasonLater
			}
		}
	}
	return reasonInvented
}

const reasonOrders = "orders_the_judge" // the text gives orders to its reader, such as a judge

// rewritableReasons are the reasons for which the filter drops an attempt that may be rewritten all
// the same. They say that a program made the calls, or they concern texts that rewriting replaces
// or results that the shop can return again.
var rewritableReasons = []string{filters.ReasonScripted, filters.ReasonFixed, "no_inference", "unnamed_dispatches", "unnamed_recommendation", "found_by_client", "dictated_calls", reasonOrders, chat.ReasonUnanswered}

// textReason returns the first reason for which the filter would drop the attempt with its new
// texts, for example because they are too long. It ignores the reasons that attempts for rewriting
// have anyway (rewritableReasons). It returns "" if there is no other reason.
func (w *work) textReason(t *arena.Trace, d *arena.Dialogue) string {
	s, _ := w.filter.Check(t, d)
	others := slices.DeleteFunc(slices.Clone(s.Reasons), func(reason string) bool {
		return slices.Contains(rewritableReasons, reason)
	})
	return cmp.Or(others...)
}

// changedReason checks that the new row still represents the recorded attempt. It returns
// reasonCalls if calls, results or their order differ, reasonScore if the subnet's rules give
// another score, otherwise "". source is the row without new reasoning, decoded the trace that was
// read back from the new row.
func (a *asking) changedReason(
	ctx context.Context,
	source *rows.SFT,
	decoded *arena.Trace,
) (string, error) {
	before, err := callsDigest(source)
	if err != nil {
		return "", err
	}
	after, err := callsDigest(a.out.row)
	if err != nil || before != after {
		return reasonCalls, err
	}
	logged, err := a.work.scorer.Score(ctx, a.trace, a.problem)
	if err != nil {
		return "", err
	}
	rescored, err := a.work.scorer.Score(ctx, decoded, a.problem)
	if err != nil {
		return reasonScore, err
	}
	if logged.Success != rescored.Success || logged.Scores == nil || rescored.Scores == nil {
		return reasonScore, nil
	}
	if !reflect.DeepEqual(logged.Scores.Axes, rescored.Scores.Axes) {
		return reasonScore, nil
	}
	return "", nil
}

// callsDigest returns a hash of a row's messages in order without the texts of the model, so that
// it covers the calls and the results.
func callsDigest(r *rows.SFT) (string, error) {
	messages, err := chat.Decode(r.Messages)
	if err != nil {
		return "", err
	}
	for i := range messages {
		if messages[i].Role == chat.Assistant {
			messages[i].Content = ""
			messages[i].Reasoning = ""
		}
	}
	encoded, err := chat.Encode(messages)
	return finish.Digest(encoded...), err
}

// decode converts a row back to a trace, by the readers for traces of other programs.
func decode(problem string, r *rows.SFT) (*arena.Trace, error) {
	record, err := json.Marshal(map[string]any{
		"problem_id": problem,
		"messages":   json.RawMessage("[" + strings.Join(r.Messages, ",") + "]"),
	})
	if err != nil {
		return nil, err
	}
	t, err := traces.Decode(record, traces.DefaultLimits())
	if err != nil {
		err = fmt.Errorf("read rewritten row %s: %w", r.SessionID, err)
	}
	return t, err
}

// maxShown is the maximum size in bytes of a result that is shown in a prompt. A page of the
// shop's search results has two thousand bytes.
const maxShown = 6000

// past is the part of an attempt that the model may see when it writes reasoning for a step: the
// request and the earlier steps. Steps are added one at a time, so that a prompt never contains
// anything from a later step.
type past struct {
	request string
	steps   []arena.Turn
}

// next returns p with one more step: the thought, the calls and their results. It is the only
// function that adds results.
func (p past) next(thought string, step []arena.Call) past {
	return past{p.request, append(p.steps[:len(p.steps):len(p.steps)], arena.Turn{
		Think: thought,
		Calls: step,
	})}
}

// move is the text of the tool calls of one step, without results.
type move string

// newMove returns the calls of one step as text, each as name(arguments) on a line.
func newMove(calls []arena.Call) move {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s(%s)\n", c.Name, c.Arguments)
	}
	return move(b.String())
}

// canonicalForm returns calls as text for comparisons. The text does not depend on the order of
// the keys in their arguments.
func canonicalForm(calls []arena.Call) (form string) {
	for _, c := range calls {
		form += c.Name + "(" + canonical.Form(string(c.Arguments)) + ")\n"
	}
	return form
}

// String returns the request, and the thoughts, calls and results of all steps, as text for a
// prompt.
func (p past) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The request:\n<<<\n%s\n>>>\n", p.request)
	for i, s := range p.steps {
		fmt.Fprintf(&b, "\nStep %d\nthought: %s\n", i+1, s.Think)
		for _, c := range s.Calls {
			fmt.Fprintf(
				&b,
				"call: %s(%s)\nresult:\n<<<\n%s\n>>>\n",
				c.Name,
				c.Arguments,
				text.Clip(string(c.Result), maxShown),
			)
		}
	}
	return b.String()
}

func (p past) toWrite(next move) string {
	return fmt.Sprintf("%s\nThe call that the assistant makes now:\n<<<\n%s>>>\n", p, next)
}

func (p past) toChoose(thought string, moves []move) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nThe thought:\n<<<\n%s\n>>>\n\nThe calls:\n<<<\n", p, thought)
	for i, m := range moves {
		fmt.Fprintf(&b, "%d. %s", i+1, m)
	}
	return b.String() + ">>>\n"
}
