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

// The reasons for which a rewritten attempt is not believed.
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

// unheld says why a thought cannot be had at this point: what it names stands in
// no result before it, not in the request and not in the calls themselves, whose
// ids the filter held against the results; empty where all does.
func (p past) unheld(
	thought string,
	next move,
	rest []arena.Turn,
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
	all, _ := gates.Ground(&arena.Trace{Query: p.request + "\n" + string(next)}, &d)
	for _, g := range all {
		for _, datum := range g.Unsupported {
			return whence(datum, rest, problem)
		}
	}
	return ""
}

// whence says where a datum comes from that stands nowhere before.
func whence(datum string, rest []arena.Turn, problem *arena.Problem) string {
	in := func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(datum))
	}
	if slices.ContainsFunc(problem.Rewards, func(r arena.Reward) bool { return in(string(r.Raw)) }) {
		return reasonGold
	}
	for _, t := range rest {
		for _, c := range t.Calls {
			if in(string(c.Arguments)) || in(string(c.Result)) {
				return reasonLater
			}
		}
	}
	return reasonInvented
}

// orderly is the filter's reason against text that orders whoever reads it.
const orderly = "orders_the_judge"

// own are the filter's reasons that speak of who wrote the calls, of the words that
// are written anew, or of results that are played again: an attempt with no others
// has a log that holds.
var own = []string{filters.ReasonScripted, filters.ReasonFixed, "no_inference", "unnamed_dispatches", "unnamed_recommendation", orderly, chat.ReasonUnanswered}

// spoken is a reason of the filter against the attempt in its new words, such as
// their length; empty for none.
func (w *work) spoken(t *arena.Trace, d *arena.Dialogue) string {
	s, _ := w.filter.Check(t, d)
	others := slices.DeleteFunc(slices.Clone(s.Reasons), func(reason string) bool {
		return slices.Contains(own, reason)
	})
	return cmp.Or(others...)
}

// replayed says how a finished row, with its trace as it is read back, differs from
// the log: in calls or results, in their order, or in the score that the rules give.
func (a *asking) replayed(
	ctx context.Context,
	source *rows.SFT,
	back *arena.Trace,
) (string, error) {
	before, err := dealings(source)
	if err != nil {
		return "", err
	}
	after, err := dealings(a.out.row)
	if err != nil || before != after {
		return reasonCalls, err
	}
	was, err := a.scorer.Score(ctx, a.trace, a.problem)
	if err != nil {
		return "", err
	}
	is, err := a.scorer.Score(ctx, back, a.problem)
	if err != nil || was.Success != is.Success || was.Scores == nil || is.Scores == nil || !reflect.DeepEqual(was.Scores.Axes, is.Scores.Axes) {
		return reasonScore, err
	}
	return "", nil
}

// dealings names calls and results of a row, with their order, by one hash.
func dealings(r *rows.SFT) (string, error) {
	ms, err := chat.Decode(r.Messages)
	if err != nil {
		return "", err
	}
	for i := range ms {
		if ms[i].Role == chat.Assistant {
			ms[i].Content = ""
			ms[i].Reasoning = ""
		}
	}
	all, err := chat.Encode(ms)
	return finish.Digest(all...), err
}

// decode reads a row as the file of a stranger.
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

// maxShown bounds what a model is shown of one result, in bytes: a page of the
// shop's search has two thousand.
const maxShown = 6000

// past is all that a prompt can be built of: the request and the steps before. It
// grows step by step, so that nothing in it, nor anything that it leads to, is
// later than the step that is asked about.
type past struct {
	request string
	steps   []arena.Turn
}

// then is the past of the next step. The result of a step becomes part of the
// past here and nowhere else.
func (p past) then(thought string, step []arena.Call) past {
	return past{p.request, append(p.steps[:len(p.steps):len(p.steps)], arena.Turn{
		Think: thought,
		Calls: step,
	})}
}

// move is what an assistant does at one step: its calls, without results.
type move string

// moveOf takes the names and arguments of calls, and nothing else of them.
func moveOf(calls []arena.Call) move {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s(%s)\n", c.Name, c.Arguments)
	}
	return move(b.String())
}

// formOf is by what calls are compared: in which order a client writes keys makes no
// other move.
func formOf(calls []arena.Call) (form string) {
	for _, c := range calls {
		form += c.Name + "(" + canonical.Form(string(c.Arguments)) + ")\n"
	}
	return form
}

// String is all that was seen and done.
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
