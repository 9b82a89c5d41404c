package rewrite

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// maxThought is the maximum length in bytes of the reasoning that a model writes for one step.
// The prompt allows five sentences, which are far shorter.
const maxThought = 4000

// maxOptions is the maximum number of steps between which a model chooses to check a reasoning. One
// of them is the step that was really taken; the reasoning passes if it leads the model to that
// one.
const maxOptions = 4

// Attempt is the result of rewriting one attempt.
type Attempt struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	// Reason is the reason why the attempt does not become a row, "" if it does.
	Reason string `json:"reason"`
	Steps  int    `json:"steps"`
	// Replayed counts the results that the log had truncated and the shop returned again.
	Replayed int `json:"replayed"`
	// Requests counts the requests to the model, cached or not. The following fields are their
	// cost.
	Requests         int      `json:"requests"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
	Model            string   `json:"model"`
}

// rewritten is the result of rewriting one attempt (having a model write its reasoning): the new
// row or the reason why there is none, and the cost.
type rewritten struct {
	Attempt
	row *rows.SFT // nil if the attempt is not a row
	// thoughts are the texts of the model's reasoning after the first result, without product
	// titles. They are compared with those of other rows.
	thoughts frames.Thoughts
}

// asking is the state of rewriting one attempt, for which a model is asked step by step, with the
// cost of these requests.
type asking struct {
	work    *work
	trace   *arena.Trace
	problem *arena.Problem
	out     *rewritten
	spent   ledger.Spent
}

// attempt rewrites one attempt: a model writes reasoning for each step. At the first step whose
// reasoning fails a check it stops, to save requests; the result then has the reason and no row.
func (w *work) attempt(ctx context.Context, t *arena.Trace) (*rewritten, error) {
	a := &asking{work: w, trace: t, problem: w.day.Problems.Get(w.day.Problems.IndexOf(t)), spent: ledger.Free(),
		out: &rewritten{Attempt: Attempt{
			ID:    t.ID,
			Agent: filters.AgentOf(t.Agent, t.RunID),
		}}}
	turns := steps(t)
	replayed, _, err := w.restoreResults(ctx, t, turns)
	if err != nil {
		return nil, err
	}
	a.out.Replayed = replayed
	p := past{request: t.Query}
	for i := range turns {
		thought, reason, thinkErr := a.think(ctx, p, turns[i:])
		if thinkErr != nil {
			return nil, thinkErr
		}
		a.out.Steps++
		if reason != "" {
			return a.end(reason), nil
		}
		p = p.next(thought, turns[i].Calls)
	}
	reason, err := a.finish(ctx, p, turns)
	return a.end(reason), err
}

// steps returns those turns of a trace that have tool calls; reasoning is rewritten for these only.
func steps(t *arena.Trace) []arena.Turn {
	d := filters.Normalise(t)
	return slices.DeleteFunc(d.Turns, func(t arena.Turn) bool {
		return len(t.Calls) == 0
	})
}

// end returns the result for an attempt whose rewriting has ended, with its cost in requests to the
// model. reason is why the attempt does not become a row. If reason is not "", the result has no
// row.
func (a *asking) end(reason string) *rewritten {
	a.out.Reason = reason
	a.out.PromptTokens = a.spent.Prompt
	a.out.CompletionTokens = a.spent.Completion
	a.out.CostUSD = a.spent.USD
	if reason != "" {
		a.out.row = nil
	}
	return a.out
}

// think returns the reasoning that the model writes for the first of the remaining turns, as an
// agent would before it acts; p has what precedes that turn. Further checks, one of them a second
// request to the model, test whether the reasoning fits the call that was really made. reason is
// the check that failed, "" if none did.
func (a *asking) think(
	ctx context.Context,
	p past,
	remaining []arena.Turn,
) (thought, reason string, err error) {
	next := newMove(remaining[0].Calls)
	r, err := a.ask(ctx, llm.Task{
		System:   writing,
		User:     p.toWrite(next),
		Key:      "reasoning",
		Expected: 90,
		StandIn:  strings.Repeat("so ", 90),
	})
	switch {
	case err != nil:
		return "", "", err
	case r.Outcome != arena.JudgeScored || len(r.Text) > maxThought:
		return "", reasonSilent, nil
	}
	if s, _ := a.work.filter.Check(&arena.Trace{}, &arena.Dialogue{Turns: []arena.Turn{{Think: r.Text}}}); slices.Contains(s.Reasons, reasonOrders) {
		return "", reasonOrders, nil
	}
	if reason = p.unsupportedReason(r.Text, next, remaining, a.problem); reason != "" {
		return "", reason, nil
	}
	moves, index := a.work.moves.options(a.trace.ProblemID, remaining[0].Calls)
	number := strconv.Itoa(index + 1)
	if len(moves) < 2 {
		return "", reasonSilent, nil
	}
	picked, err := a.ask(ctx, llm.Task{
		System:   choosing,
		User:     p.toChoose(r.Text, moves),
		Key:      "choice",
		Expected: 8,
		StandIn:  number,
	})
	if err == nil && strings.TrimSpace(picked.Text) != number {
		reason = reasonLeads
	}
	return r.Text, reason, err
}

func (a *asking) ask(ctx context.Context, t llm.Task) (llm.Reply, error) {
	r, err := a.work.Model.Do(ctx, t)
	a.out.Requests++
	a.spent = a.spent.Plus(r.Spent)
	a.out.Model = cmp.Or(a.out.Model, r.Model)
	return r, err
}

// finish creates the training row of the attempt from its turns and the new reasoning in p. It checks
// that the row still has the recorded calls and results and the recorded score. It returns the
// reason if a check fails, otherwise "".
func (a *asking) finish(
	ctx context.Context,
	p past,
	turns []arena.Turn,
) (string, error) {
	t := a.trace
	source, reason, err := a.newRow(turns)
	if reason != "" || err != nil {
		return reason, err
	}
	newTurns := slices.Clone(turns)
	for i := range newTurns {
		newTurns[i].Think = p.steps[i].Think
		newTurns[i].Text = ""
	}
	d := arena.Dialogue{Turns: newTurns}
	if reason = a.work.textReason(t, &d); reason != "" {
		return reason, nil
	}
	if a.out.row, reason, err = a.newRow(newTurns); reason != "" || err != nil {
		return reason, err
	}
	decoded, err := decode(t.ProblemID, a.out.row)
	if err != nil {
		return "", err
	}
	if reason, err = a.changedReason(ctx, source, decoded); reason != "" || err != nil {
		return reason, err
	}
	d = filters.Normalise(decoded)
	j := gates.Judge(decoded, &d)
	a.out.thoughts.Problem = t.ProblemID
	a.out.thoughts.Texts = slicesx.Map(p.steps[1:], func(s arena.Turn) string {
		return frames.WithoutTitles(withoutIDs(s.Think, s.Calls), turns)
	})
	a.out.thoughts.Decided = frames.DecidingPassage(&j, "", turns)
	if a.out.thoughts.Decided == "" && !a.work.Dry {
		return reasonNoDatum, nil
	}
	return "", nil
}

// withoutIDs returns a thought without the product IDs in the calls next. Thoughts are compared to find
// templates, and IDs, which all attempts at a problem have in common, would make them look alike.
func withoutIDs(thought string, next []arena.Call) string {
	for _, c := range next {
		for _, id := range strings.Split(gjson.Get(string(c.Arguments), "product_ids").String(), ",") {
			if id != "" {
				thought = strings.ReplaceAll(thought, id, "")
			}
		}
	}
	return thought
}

// newRow returns the training row of the attempt with these turns, or the reason why chat templates
// cannot represent them. The row is marked as scripted, because a program made its calls, so that
// it does not count as the work of a model.
func (a *asking) newRow(turns []arena.Turn) (row *rows.SFT, reason string, err error) {
	c := a.work.chosen[a.trace.ID]
	rec := &arena.Record{
		Trace:     a.trace,
		Dialogue:  arena.Dialogue{Turns: turns},
		Structure: arena.Structure{Axis: arena.AxisScripted},
	}
	sft, _, err := rows.NewSFT(rec, &rows.Facts{
		Harness: a.work.harness, Category: a.problem.Category, Split: corpus.SplitTrain, Origin: rows.Origin{
			ProblemID: c.ProblemID,
			Cluster:   c.Cluster,
		},
		PipelineVersion: a.work.Version, Counter: rows.Bytes4{}, IsSecret: a.work.secret,
		Metadata: map[string]any{"origin": Origin, "source_attempt": a.trace.ID, "replayed_results": a.out.Replayed, "rewriter": map[string]any{
			"model": a.out.Model, "prompt_sha256": digest.SHA256([]byte(writing)), "check_prompt_sha256": digest.SHA256([]byte(choosing)),
			"requests": a.out.Requests, "prompt_tokens": a.spent.Prompt, "completion_tokens": a.spent.Completion, "cost_usd": a.spent.USD,
		}},
	})
	if unfit, ok := errors.AsType[*chat.Unfit](err); ok {
		return nil, unfit.Reason, nil
	}
	sft.Reward = 1
	return &sft, "", err
}

// moves has the steps that all attempts took, by problem ID and then by the step's calls in
// canonical form. When reasoning is checked, a model chooses between the real step and other steps
// from here.
type moves map[string]map[string]move

// maxMoves is the maximum number of distinct steps that are stored for one problem.
const maxMoves = 64

func (m moves) add(problem string, turns []arena.Turn) {
	if m[problem] == nil {
		m[problem] = map[string]move{}
	}
	for _, t := range turns {
		if form := canonicalForm(t.Calls); m[problem][form] == "" && len(m[problem]) < maxMoves {
			m[problem][form] = newMove(t.Calls)
		}
	}
}

// options returns up to maxOptions steps, as text, between which a model chooses: the step with
// these calls, and other steps that were taken at the problem. index is the position of the step's
// own calls. The order is pseudo-random and reproducible, so that the position gives nothing away.
func (m moves) options(problem string, calls []arena.Call) (out []move, index int) {
	next := newMove(calls)
	form := canonicalForm(calls)
	for otherForm, other := range m[problem] {
		if otherForm != form {
			out = append(out, other)
		}
	}
	key := func(s move) string {
		return choose.Key(string(next) + "\x00" + string(s))
	}
	slicesx.SortByKey(out, key)
	out = append(out[:min(len(out), maxOptions-1)], next)
	slicesx.SortByKey(out, func(m move) string {
		return choose.Key(string(m))
	})
	return out, slices.Index(out, next)
}
