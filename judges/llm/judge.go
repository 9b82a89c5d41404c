// Package llm judges reasoning with models behind OpenAI-compatible servers. It
// renders a trace within the subnet's limits, asks a panel, parses the replies, and
// records every exchange in a ledger: an answer is paid for once, and a failure of
// the instrument is never a grade.
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
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/batch"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/prices"
)

// Errors after which a run cannot go on. Each is final for its Judge, which still
// answers from the ledger.
var (
	// ErrAuth: a server does not accept its key, and never did in this run or is the
	// only one.
	ErrAuth = errors.New("the server does not accept the key")
	// ErrBudget: the next request would exceed the budget.
	ErrBudget = errors.New("the budget is spent")
	// ErrDeadline: the run's deadline has passed.
	ErrDeadline = errors.New("the run's deadline has passed")
)

// errAttempt is the cause of a context after the attempt's deadline. It ends the requests for one
// attempt, not the run.
var errAttempt = errors.New("the attempt's deadline has passed")

// Options are the dependencies of a judge.
type Options struct {
	// Prices are used for the cost of exchanges. The cost is unknown for a model
	// without a price.
	Prices prices.Table
	// Transport replaces the network.
	Transport http.RoundTripper
	// Now is the clock that measures latencies.
	Now func() time.Time
	// Payer names a budget that several processes spend one after another: the
	// exchanges of the ledger with this payer count as spent. It is empty for a
	// budget of this judge alone.
	Payer string
	// Batch is the folder of a batch, which then answers instead of the servers; nil
	// for none.
	Batch *batch.Folder
}

// Judge is an LLM judge for attempts of one domain. Its methods are safe for use by several
// goroutines.
type Judge struct {
	*asker
	// reasoning and steps are the types of question about attempts of the domain.
	reasoning *questionType
	steps     *questionType
}

// asker asks the panel. The judges of all domains share it.
type asker struct {
	cfg Config
	// anyReasoning and anySteps are the types of question without the instructions of a domain.
	anyReasoning *questionType
	anySteps     *questionType
	panel        *panel
	// clients are the clients of the panel's members, by index.
	clients []*model.Client
	ledger  *ledger.Ledger
	options Options
	budget  *budget
	flight  singleflight.Group
	// unanswered has, by question hash, the verdicts of this run that have no answer.
	unanswered sync.Map

	run  context.Context //nolint:containedctx // the deadline of all questions together
	stop context.CancelFunc
}

// New returns a judge that records its exchanges in l. It reads keys from the
// environment. The run's deadline starts now. Close must be called after use. The judge is that of
// the subnet's attempts; In returns those of other domains.
func New(
	cfg Config,
	l *ledger.Ledger,
	o Options,
) (*Judge, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	reasoning, err := newReasoningType(cfg)
	steps, stepsErr := newStepsType(cfg)
	if err = errors.Join(err, stepsErr); err != nil {
		return nil, err
	}
	j := &Judge{asker: &asker{
		cfg: cfg, anyReasoning: reasoning, anySteps: steps, panel: newPanel(cfg), ledger: l, options: o,
		budget: &budget{
			usd:     cfg.BudgetUSD,
			tokens:  cfg.BudgetTokens,
			changed: make(chan struct{}),
		},
	}}
	if o.Payer != "" {
		j.budget.addCost(l.Paid(o.Payer).Spent)
	}
	if err := j.openClients(); err != nil {
		return nil, err
	}
	j.run, j.stop = context.WithTimeoutCause(context.Background(), cfg.RunDeadline, ErrDeadline)
	return j.In((*domain.Set)(nil).ByName(domain.Shop)), nil
}

// In returns the judge for attempts of a domain, which is told the domain's rubric. It shares the
// panel, the ledger, the budget and the deadline of j.
func (j *Judge) In(d *domain.Domain) *Judge {
	rubric := d.CompleteRubric()
	return &Judge{
		asker:     j.asker,
		reasoning: j.anyReasoning.forDomain(d, rubric.Reasoning),
		steps:     j.anySteps.forDomain(d, rubric.Steps),
	}
}

// openClients opens one client for each endpoint of the panel. It returns an error if the budget is
// in dollars and the price of a model is unknown.
func (j *Judge) openClients() error {
	byEndpoint := map[string]*model.Client{}
	for _, m := range j.cfg.Panel {
		e := j.cfg.endpoint(m)
		if byEndpoint[e.Name] == nil {
			client, err := model.New(e, j.options.Transport, j.options.Now)
			if err != nil {
				return err
			}
			byEndpoint[e.Name] = client
		}
		j.clients = append(j.clients, byEndpoint[e.Name])
		if _, ok := j.options.Prices[m.Model]; j.cfg.BudgetUSD != nil && !ok {
			return fmt.Errorf("no price is known for %s: a budget in dollars needs one", m.Model)
		}
	}
	return nil
}

// Close cancels all open requests.
func (j *Judge) Close() { j.stop() }

// Name returns the judge's versioned name: the method and the prompt.
func (j *Judge) Name() string { return "llm_v1_" + j.reasoning.prompt.sha256[:8] }

// Hash returns the hash of the configuration.
func (j *Judge) Hash() (string, error) { return j.cfg.hash(j.reasoning.prompt) }

// Judgeable reports whether an attempt has anything to judge. An attempt that timed
// out or failed without a dialogue is no failure of the judge.
func Judgeable(t *arena.Trace, d *arena.Dialogue) bool {
	return t.HasDialogue || len(d.Turns) > 0
}

// Judge returns the judgement of one attempt in its normal form. The error is
// ErrAuth, ErrBudget, ErrDeadline, ctx's or the ledger's: the run cannot go on. Any
// other failure is the judgement's Outcome.
func (j *Judge) Judge(
	ctx context.Context,
	t *arena.Trace,
	d *arena.Dialogue,
) (arena.Judgement, error) {
	v, err := j.judge(ctx, j.reasoning, t, d)
	out := newJudgement(j.Name(), j.reasoning, v)
	out.Doubt = v.doubt
	if v.outcome == arena.JudgeScored {
		out.Score = &v.Score
		out.Expected = v.expected
		out.Votes = v.votes
		out.Gates = v.Gates()
		out.Spans = v.Spans
	}
	return out, err
}

// judge collects the votes of the panel on an attempt and joins them into one verdict. The
// questions are of type k: on reasoning, or on steps. If a vote has no answer, the verdict has
// none.
func (j *Judge) judge(
	ctx context.Context,
	k *questionType,
	t *arena.Trace,
	d *arena.Dialogue,
) (verdict, error) {
	if !k.judgeable(t, d) {
		const detail = "the attempt left no dialogue to judge"
		return verdict{
			outcome: arena.JudgeFailed,
			cost:    ledger.Free(),
			detail:  detail,
		}, nil
	}
	ctx, cancel := j.withDeadlines(ctx)
	defer cancel()
	questions, err := j.questions(k, t, d)
	if err != nil {
		return verdict{}, err
	}
	voted := map[int]bool{}
	var votes []verdict
	for _, samples := range questions {
		v, err := j.vote(ctx, samples, voted)
		if err != nil {
			return merge(append(votes, v), k.joinVotes), err
		}
		votes = append(votes, v)
		if v.outcome != arena.JudgeScored {
			break
		}
		voted[v.member] = true
	}
	joined := merge(votes, k.joinVotes)
	if len(votes) > 1 {
		joined.votes = slicesx.Map(votes, func(v verdict) arena.Vote {
			return arena.Vote{Model: v.model, Score: v.Score}
		})
	}
	return joined, nil
}

// withDeadlines returns a context that ends at the deadline of the attempt, counted from now, or
// when the run ends, whichever is earlier. The function releases the context.
func (j *Judge) withDeadlines(ctx context.Context) (context.Context, func()) {
	ctx, cancelAttempt := context.WithTimeoutCause(ctx, j.cfg.AttemptDeadline, errAttempt)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(j.run, func() {
		cancel(context.Cause(j.run))
	})
	return ctx, func() {
		stop()
		cancel(nil)
		cancelAttempt()
	}
}

// vote returns one vote on an attempt. A vote is joined from the answers to its samples, the same
// prompt asked several times. If a sample has no answer, the vote has none. voted are the panel
// members that have already voted.
func (j *Judge) vote(
	ctx context.Context,
	samples []question,
	voted map[int]bool,
) (verdict, error) {
	var verdicts []verdict
	for _, q := range samples {
		v, err := j.answer(ctx, q, voted)
		if err != nil || v.outcome != arena.JudgeScored {
			return merge(append(verdicts, v), q.joinSamples), err
		}
		verdicts = append(verdicts, v)
	}
	return merge(verdicts, samples[0].joinSamples), nil
}

// newJudgement returns the judgement, the record of how an attempt was judged, of a verdict by the
// panel: outcome, model, cost and so on. Score, gates and spans are left unset, since only verdicts
// on reasoning have them.
func newJudgement(name string, k *questionType, v verdict) arena.Judgement {
	return arena.Judgement{
		Judge: name, Outcome: v.outcome, Model: v.model, PromptSHA256: k.prompt.sha256,
		PromptTokens: v.cost.Prompt, CompletionTokens: v.cost.Completion, CostUSD: v.cost.USD,
		Cached: v.cached, Detail: v.detail,
	}
}
