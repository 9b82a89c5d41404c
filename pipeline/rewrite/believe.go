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
	"github.com/trajectory-arena/arena/judges/gates"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// The reasons for which a rewritten attempt fails a check.
const (
	reasonSilent   = "no_reasoning"       // the model gave no readable reasoning for a step, or none can be told from others
	reasonGold     = "names_the_answer"   // a reasoning holds data of the right answer that nothing before it held
	reasonLater    = "knows_later"        // a reasoning holds data that only a later step brings
	reasonInvented = "invented_datum"     // a reasoning holds data that stand nowhere in the attempt
	reasonLeads    = "leads_elsewhere"    // a second asking, shown the reasoning, does not pick the call that was made
	reasonNoDatum  = "cites_no_result"    // no reasoning rests on anything that a result held
	reasonTemplate = "template_reasoning" // its reasoning is cut of one piece with that of many other rows
	reasonCalls    = "calls_changed"      // calls or results of the row are not those of the log
	reasonScore    = "score_changed"      // played by the subnet's rules the row has another score than the log
)

// unsupportedReason returns the reason why a thought is impossible at this point: it names a datum that
// is neither in an earlier result nor in the request nor in the next calls, whose IDs the filter has
// checked against the results. It is empty if there is no such datum.
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

// sourceReason returns the reason for the place where an unsupported datum occurs: the right answer,
// a later step, or nowhere.
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

// reasonOrders is the filter's reason for text that gives orders to its reader.
const reasonOrders = "orders_the_judge"

// rewritableReasons are the filter's reasons about the author of the calls, about the texts that are
// rewritten, and about results that are replayed. An attempt without other reasons has a sound log.
var rewritableReasons = []string{filters.ReasonScripted, filters.ReasonFixed, "no_inference", "unnamed_dispatches", "unnamed_recommendation", reasonOrders, chat.ReasonUnanswered}

// textReason returns a reason of the filter against the attempt with its new texts, such as their
// length. It is empty if there is none.
func (w *work) textReason(t *arena.Trace, d *arena.Dialogue) string {
	s, _ := w.filter.Check(t, d)
	others := slices.DeleteFunc(slices.Clone(s.Reasons), func(reason string) bool {
		return slices.Contains(rewritableReasons, reason)
	})
	return cmp.Or(others...)
}

// changedReason returns the difference between a finished row and the log: in calls or results, in their
// order, or in the score. decoded is the trace of the finished row. It is empty if they agree.
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
	logged, err := a.scorer.Score(ctx, a.trace, a.problem)
	if err != nil {
		return "", err
	}
	rescored, err := a.scorer.Score(ctx, decoded, a.problem)
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

// callsDigest returns the hash of the calls and results of a row in their order.
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

// decode decodes a row with the reader of foreign traces.
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

// maxShown limits the part of a result in a prompt, in bytes. A page of the shop's search has two
// thousand.
const maxShown = 6000

// past is the content of a prompt: the request and the steps before the current one. It grows step by
// step, so that it never has data of a later step.
type past struct {
	request string
	steps   []arena.Turn
}

// next returns the past of the next step. It is the only function that adds the result of a step.
func (p past) next(thought string, step []arena.Call) past {
	return past{p.request, append(p.steps[:len(p.steps):len(p.steps)], arena.Turn{
		Think: thought,
		Calls: step,
	})}
}

// move is the text of the calls of one step, without results.
type move string

// newMove returns the calls of one step as text, each as name(arguments) on a line.
func newMove(calls []arena.Call) move {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s(%s)\n", c.Name, c.Arguments)
	}
	return move(b.String())
}

// canonicalForm returns the form by which calls are compared. It does not depend on the order of the
// arguments' keys.
func canonicalForm(calls []arena.Call) (form string) {
	for _, c := range calls {
		form += c.Name + "(" + canonical.Form(string(c.Arguments)) + ")\n"
	}
	return form
}

// String returns the request, the calls, the results and the thoughts as text for a prompt.
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
