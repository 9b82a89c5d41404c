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
	"github.com/trajectory-arena/arena/judges/gates"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// maxThought bounds the reasoning of one step in bytes, far above five sentences.
const maxThought = 4000

// options is how many calls the second asking chooses among, with the real one.
const options = 4

// Attempt is what became of one attempt that was rewritten.
type Attempt struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	// Reason is empty where the attempt is a row.
	Reason string `json:"reason"`
	Steps  int    `json:"steps"`
	// Replayed counts the results that the log cut and the shop answered again.
	Replayed int `json:"replayed"`
	// Requests counts what was asked of the model, held or not; the rest is what
	// that cost.
	Requests         int      `json:"requests"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
	Model            string   `json:"model"`
}

// made is a rewritten attempt; row is nil where it is none.
type made struct {
	Attempt
	row *rows.SFT
	// thoughts are those behind the first result, bare.
	thoughts frames.Thoughts
}

type asking struct {
	*work
	trace   *arena.Trace
	problem *arena.Problem
	out     *made
	spent   ledger.Spent
}

// attempt rewrites one attempt, and gives up at the first step that is not
// believed: what follows would be paid for in vain.
func (w *work) attempt(ctx context.Context, t *arena.Trace) (*made, error) {
	a := &asking{work: w, trace: t, problem: w.day.Problems.Get(w.day.Problems.IndexOf(t)), spent: ledger.Free(),
		out: &made{Attempt: Attempt{
			ID:    t.ID,
			Agent: filters.AgentOf(t.Agent, t.RunID),
		}}}
	turns := steps(t)
	played, _, err := w.whole(ctx, t, turns)
	if err != nil {
		return nil, err
	}
	a.out.Replayed = played
	p := past{request: t.Query}
	for i := range turns {
		thought, reason, lost := a.think(ctx, p, turns[i:])
		if lost != nil {
			return nil, lost
		}
		if a.out.Steps++; reason != "" {
			return a.end(reason), nil
		}
		p = p.then(thought, turns[i].Calls)
	}
	reason, err := a.finish(ctx, p, turns)
	return a.end(reason), err
}

func steps(t *arena.Trace) []arena.Turn {
	d := filters.Normalise(t)
	return slices.DeleteFunc(d.Turns, func(t arena.Turn) bool {
		return len(t.Calls) == 0
	})
}

func (a *asking) end(reason string) *made {
	a.out.Reason = reason
	a.out.PromptTokens, a.out.CompletionTokens, a.out.CostUSD = a.spent.Prompt, a.spent.Completion, a.spent.USD
	if reason != "" {
		a.out.row = nil
	}
	return a.out
}

// think gets the thought of the first of the turns that are left, or says why it is
// not believed.
func (a *asking) think(
	ctx context.Context,
	p past,
	rest []arena.Turn,
) (thought, reason string, err error) {
	next := moveOf(rest[0].Calls)
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
	if s, _ := a.filter.Check(&arena.Trace{}, &arena.Dialogue{Turns: []arena.Turn{{Think: r.Text}}}); slices.Contains(s.Reasons, orderly) {
		return "", orderly, nil
	}
	if reason = p.unheld(r.Text, next, rest, a.problem); reason != "" {
		return "", reason, nil
	}
	moves, at := a.moves.around(a.trace.ProblemID, rest[0].Calls)
	if len(moves) < 2 {
		return "", reasonSilent, nil
	}
	picked, err := a.ask(ctx, llm.Task{
		System:   choosing,
		User:     p.toChoose(r.Text, moves),
		Key:      "choice",
		Expected: 8,
		StandIn:  strconv.Itoa(at + 1),
	})
	if err == nil && strings.TrimSpace(picked.Text) != strconv.Itoa(at+1) {
		reason = reasonLeads
	}
	return r.Text, reason, err
}

func (a *asking) ask(ctx context.Context, t llm.Task) (llm.Reply, error) {
	r, err := a.Model.Do(ctx, t)
	a.out.Requests++
	a.spent = a.spent.Plus(r.Spent)
	a.out.Model = cmp.Or(a.out.Model, r.Model)
	return r, err
}

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
	again := slices.Clone(turns)
	for i := range again {
		again[i].Think, again[i].Text = p.steps[i].Think, ""
	}
	d := arena.Dialogue{Turns: again}
	if reason = a.spoken(t, &d); reason != "" {
		return reason, nil
	}
	if a.out.row, reason, err = a.newRow(again); reason != "" || err != nil {
		return reason, err
	}
	back, err := decode(t.ProblemID, a.out.row)
	if err != nil {
		return "", err
	}
	if reason, err = a.replayed(ctx, source, back); reason != "" || err != nil {
		return reason, err
	}
	d = filters.Normalise(back)
	j := gates.Judge(back, &d)
	a.out.thoughts.Problem = t.ProblemID
	a.out.thoughts.Texts = slicesx.Map(p.steps[1:], func(s arena.Turn) string {
		return bare(s.Think, s.Calls, turns)
	})
	if a.out.thoughts.Decided = bare(frames.DecidingPassage(&j), nil, turns); a.out.thoughts.Decided == "" && !a.Dry {
		return reasonNoDatum, nil
	}
	return "", nil
}

// bare is a thought with a figure for each title that a result holds and without
// the ids of its own calls: titles are alike by themselves, and so is "I open A, B".
func bare(
	thought string,
	next []arena.Call,
	turns []arena.Turn,
) string {
	for _, c := range next {
		for _, id := range strings.Split(gjson.Get(string(c.Arguments), "product_ids").String(), ",") {
			if id != "" {
				thought = strings.ReplaceAll(thought, id, "")
			}
		}
	}
	for _, t := range turns {
		for _, c := range t.Calls {
			for _, title := range gjson.Get(string(c.Result), "#.title").Array() {
				if title.Str != "" {
					thought = strings.ReplaceAll(thought, title.Str, "1")
				}
			}
		}
	}
	return thought
}

// newRow is the row of the attempt with these turns, or the reason why it is none. It is
// of the axis that the attempt had, so that nobody takes it for an agent's own.
func (a *asking) newRow(turns []arena.Turn) (made *rows.SFT, reason string, err error) {
	c := a.chosen[a.trace.ID]
	rec := &arena.Record{
		Trace:     a.trace,
		Dialogue:  arena.Dialogue{Turns: turns},
		Structure: arena.Structure{Axis: arena.AxisScripted},
	}
	row, _, err := rows.NewSFT(rec, &rows.Facts{
		Harness: a.harness, Category: a.problem.Category, Split: corpus.SplitTrain, Origin: rows.Origin{
			ProblemID: c.ProblemID,
			Cluster:   c.Cluster,
		},
		PipelineVersion: a.Version, Counter: rows.Bytes4{}, IsSecret: a.secret,
		Metadata: map[string]any{"origin": Origin, "source_attempt": a.trace.ID, "replayed_results": a.out.Replayed, "rewriter": map[string]any{
			"model": a.out.Model, "prompt_sha256": digest.SHA256([]byte(writing)), "check_prompt_sha256": digest.SHA256([]byte(choosing)),
			"requests": a.out.Requests, "prompt_tokens": a.spent.Prompt, "completion_tokens": a.spent.Completion, "cost_usd": a.spent.USD,
		}},
	})
	if unfit, is := errors.AsType[*chat.Unfit](err); is {
		return nil, unfit.Reason, nil
	}
	row.Reward = 1
	return &row, "", err
}

// moves are what was done at any step of the day's attempts, by problem and form.
type moves map[string]map[string]move

const maxMoves = 64

func (m moves) add(problem string, turns []arena.Turn) {
	if m[problem] == nil {
		m[problem] = map[string]move{}
	}
	for _, t := range turns {
		if form := formOf(t.Calls); m[problem][form] == "" && len(m[problem]) < maxMoves {
			m[problem][form] = moveOf(t.Calls)
		}
	}
}

// around gives a move among others that were made at its problem, in an order that
// tells nothing, and its place.
func (m moves) around(problem string, calls []arena.Call) (all []move, at int) {
	next := moveOf(calls)
	form := formOf(calls)
	for other, made := range m[problem] {
		if other != form {
			all = append(all, made)
		}
	}
	key := func(s move) string {
		return choose.Key(string(next) + "\x00" + string(s))
	}
	slices.SortFunc(all, func(a, b move) int {
		return strings.Compare(key(a), key(b))
	})
	all = append(all[:min(len(all), options-1)], next)
	slices.SortFunc(all, func(a, b move) int {
		return strings.Compare(choose.Key(string(a)), choose.Key(string(b)))
	})
	return all, slices.Index(all, next)
}
