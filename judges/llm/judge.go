// Package llm judges reasoning with models behind OpenAI-compatible servers.
// It renders a trace within the subnet's limits, asks a panel, reads whatever
// comes back, and keeps every exchange in a ledger: an answer is paid for
// once, and an instrument's failure is never a grade.
package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/prices"
)

// Why a run cannot go on. Each is final for this Judge; what the ledger holds
// is still answered.
var (
	// ErrAuth: a server does not accept its key, and never did in this run, or no
	// other is left.
	ErrAuth = errors.New("the server does not accept the key")
	// ErrBudget: the next request would pass the budget.
	ErrBudget = errors.New("the budget is spent")
	// ErrDeadline: the run's deadline has passed.
	ErrDeadline = errors.New("the run's deadline has passed")
)

// errAttempt ends the requests of one attempt, not the run.
var errAttempt = errors.New("the attempt's deadline has passed")

// Options are what a judge is given beside its configuration.
type Options struct {
	// Prices give exchanges their cost; without a model's price its cost is
	// unknown.
	Prices prices.Table
	// Transport replaces the network.
	Transport http.RoundTripper
	// Now is the clock that latencies are measured with.
	Now func() time.Time
	// Payer names the budget where processes spend it one after another: what the ledger
	// says it has paid is spent. Empty for a budget of this judge alone.
	Payer string
}

// Judge is an LLM judge. Its methods may be called from any goroutine.
type Judge struct {
	cfg     Config
	whole   *kind
	steps   *kind
	panel   *panel
	clients []*model.Client
	ledger  *ledger.Ledger
	options Options
	budget  *budget
	flight  singleflight.Group
	// unanswered are this run's verdicts without a score, by question.
	unanswered sync.Map

	run  context.Context //nolint:containedctx // the deadline of all questions together
	stop context.CancelFunc
}

// New makes a judge that keeps its exchanges in l. Keys are taken from the
// environment; the run's deadline begins now. Close the judge after use.
func New(cfg Config, l *ledger.Ledger, o Options) (*Judge, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	whole, err := reasoning(cfg)
	steps, bad := stepwise(cfg)
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	j := &Judge{
		cfg: cfg, whole: whole, steps: steps, ledger: l, options: o, panel: newPanel(cfg),
		budget: &budget{usd: cfg.BudgetUSD, tokens: cfg.BudgetTokens, changed: make(chan struct{})},
	}
	if o.Payer != "" {
		j.budget.spend(l.Paid(o.Payer).Spent)
	}
	shared := map[string]*model.Client{}
	for _, m := range cfg.Panel {
		e := cfg.endpoint(m)
		if shared[e.Name] == nil {
			if shared[e.Name], err = model.New(e, o.Transport, o.Now); err != nil {
				return nil, err
			}
		}
		j.clients = append(j.clients, shared[e.Name])
		if _, priced := o.Prices[m.Model]; cfg.BudgetUSD != nil && !priced {
			return nil, fmt.Errorf("no price is known for %s: a budget in dollars needs one", m.Model)
		}
	}
	j.run, j.stop = context.WithTimeoutCause(context.Background(), cfg.RunDeadline, ErrDeadline)
	return j, nil
}

// Close ends what is still being asked.
func (j *Judge) Close() { j.stop() }

// Name is the judge's versioned name: the way of judging, and which prompt.
func (j *Judge) Name() string { return "llm_v1_" + j.whole.prompt.sha256[:8] }

// Hash is the configuration's.
func (j *Judge) Hash() (string, error) { return j.cfg.hash(j.whole.prompt) }

// Judgeable says if an attempt left anything to judge. One that timed out or
// failed without a dialogue is no failure of the judge's.
func Judgeable(t *arena.Trace, d *arena.Dialogue) bool {
	return t.HasDialogue || len(d.Turns) > 0
}

// Judge judges one attempt in its normal form. The error is ErrAuth, ErrBudget,
// ErrDeadline, ctx's or the ledger's: the run cannot go on. Everything else
// that may go wrong is the judgement's Outcome.
func (j *Judge) Judge(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	v, err := j.ask(ctx, j.whole, t, d)
	out := judgement(j.Name(), j.whole, v)
	if v.outcome == arena.JudgeScored {
		out.Score = &v.Score
		out.Gates, out.Spans, out.Doubt = v.Gates(), v.Spans, v.doubt
	}
	return out, err
}

// ask puts all questions of a kind about an attempt, and joins what was said.
// Without all votes there is no answer.
func (j *Judge) ask(ctx context.Context, k *kind, t *arena.Trace, d *arena.Dialogue) (verdict, error) {
	if !k.judgeable(t, d) {
		return verdict{outcome: arena.JudgeFailed, spent: ledger.Free(), detail: "the attempt left no dialogue to judge"}, nil
	}
	ctx, end := j.bounded(ctx)
	defer end()
	questions, err := j.questions(k, t, d)
	if err != nil {
		return verdict{}, err
	}
	voted := map[int]bool{}
	var votes []verdict
	for _, samples := range questions {
		v, err := j.vote(ctx, samples, voted)
		if err != nil {
			return merge(append(votes, v), k.votes), err
		}
		votes = append(votes, v)
		if v.outcome != arena.JudgeScored {
			break
		}
		voted[v.member] = true
	}
	return merge(votes, k.votes), nil
}

// bounded ends with the deadlines of an attempt and of the run.
func (j *Judge) bounded(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeoutCause(ctx, j.cfg.AttemptDeadline, errAttempt)
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(j.run, func() { end(context.Cause(j.run)) })
	return ctx, func() { stop(); end(nil); cancel() }
}

func (j *Judge) vote(ctx context.Context, samples []question, voted map[int]bool) (verdict, error) {
	var said []verdict
	for _, q := range samples {
		v, err := j.answer(ctx, q, voted)
		if err != nil || v.outcome != arena.JudgeScored {
			return merge(append(said, v), q.samples), err
		}
		said = append(said, v)
	}
	return merge(said, samples[0].samples), nil
}

// judgement is an answer as it is kept, without what only its kind has.
func judgement(name string, k *kind, v verdict) arena.Judgement {
	return arena.Judgement{
		Judge: name, Outcome: v.outcome, Model: v.model, PromptSHA256: k.prompt.sha256,
		PromptTokens: v.spent.Prompt, CompletionTokens: v.spent.Completion, CostUSD: v.spent.USD,
		Cached: v.held, Detail: v.detail,
	}
}
