package llm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/prices"
)

// try asks one member once and keeps the exchange. The fault is nil where a
// completion came, readable or not. The verdict's cost is all that the
// question has cost so far.
func (j *Judge) try(ctx context.Context, q question, member, try int, before ledger.Spent) (verdict, *model.Fault, error) {
	cq := j.to(q, member)
	key, err := j.clients[member].Key(cq)
	if err != nil {
		return verdict{}, nil, err
	}
	e := ledger.Exchange{
		Key: key, Ask: q.ask, Model: cq.Model, PromptSHA256: q.prompt.sha256, Try: try, PromptBytes: q.bytes, Verdicts: q.verdicts,
		Outcome: arena.JudgeFailed, Tokens: ledger.Free(), Total: before, Payer: j.options.Payer,
	}
	v, found, err := j.sameRequest(q, e, member)
	if found || err != nil {
		return v, nil, err
	}
	hold, err := j.budget.reserve(ctx, func() amount { return j.most(q, member) })
	if err != nil {
		v, err = j.ended(ctx, verdict{spent: before}, err)
		return v, nil, err
	}
	r, asking := j.clients[member].Chat(ctx, cq)
	v, fault := j.judgeReply(q, &e, r, asking)
	v.member = member
	if len(e.Request) > 0 {
		err = j.ledger.Add(e)
	}
	// After the ledger, so that whoever waits for room knows what this cost.
	j.budget.settle(hold, e.Tokens)
	if asking == nil {
		j.panel.answered(member, v.outcome == arena.JudgeScored, cq.Model, e.Served)
	}
	switch {
	case err != nil:
	case fault != nil && fault.Kind == model.Auth && !j.panel.lock(member):
		err = fmt.Errorf("ask %s: %w: %s", cq.Model, ErrAuth, fault.Detail)
	case asking != nil && fault == nil:
		v, err = j.ended(ctx, v, asking)
	}
	return v, fault, err
}

// sameRequest looks for the same request under another question, such as an
// earlier run's with another panel, and notes it under this one.
func (j *Judge) sameRequest(q question, e ledger.Exchange, member int) (verdict, bool, error) {
	v, same, ok, err := j.kept(q, j.ledger.Reply, e.Key)
	if !ok {
		return verdict{}, false, err
	}
	v.member = member
	same.Ask, same.Try, same.Tokens, same.Held = e.Ask, e.Try, ledger.Free(), false
	same.Total = same.Total.Plus(e.Total)
	v.spent = same.Total
	return v, true, j.ledger.Add(same)
}

// judgeReply reads what came back into the exchange and the verdict.
func (j *Judge) judgeReply(q question, e *ledger.Exchange, r model.Exchange, asking error) (verdict, *model.Fault) {
	e.Status, e.Request, e.Reply, e.Served = r.Status, r.Request, r.Body, r.Model
	e.LatencyMS = r.Latency.Milliseconds()
	v := verdict{outcome: arena.JudgeFailed, model: e.Model}
	if asking == nil || r.Counted() {
		e.Tokens = j.spent(e, r)
	}
	var fault *model.Fault
	switch {
	case errors.As(asking, &fault):
		e.Error = fault.Error()
		if fault.Kind == model.Unreadable {
			v.outcome = arena.JudgeUnparsed
		}
	case asking != nil:
		e.Error = asking.Error()
	default:
		v.answer, v.outcome = q.readReply(r.Text())
		if v.outcome != arena.JudgeScored && (r.Refusal != "" || r.Finish == "content_filter") {
			v.outcome = arena.JudgeRefused
		}
		e.Error = q.explain(v.outcome, r.Reply)
	}
	e.Outcome = v.outcome
	e.Total = e.Total.Plus(e.Tokens)
	v.spent, v.detail = e.Total, e.Error
	if v.outcome == arena.JudgeScored {
		v.detail = v.Explanation
	}
	return v, fault
}

// spent is what a reply cost. Where the server does not count, four bytes
// are taken for a token, so that a budget still holds.
func (j *Judge) spent(e *ledger.Exchange, r model.Exchange) ledger.Spent {
	n := prices.Tokens{Prompt: tokensOf(e.PromptBytes), Completion: tokensOf(len(r.Text()))}
	if r.Counted() {
		n = prices.Tokens{Prompt: int(r.Usage.Prompt), Cached: int(r.Usage.Cached), Completion: int(r.Usage.Completion)}
	}
	return ledger.Spent{Prompt: n.Prompt, Completion: n.Completion, USD: j.options.Prices.Cost(e.Model, n)}
}

func tokensOf(bytes int) int { return int(math.Ceil(float64(bytes) / bytesPerToken)) }

func (q question) explain(outcome arena.JudgeOutcome, r model.Reply) string {
	switch {
	case outcome == arena.JudgeScored:
		return ""
	case outcome == arena.JudgeRefused:
		return "the model refused"
	case r.Text() == "":
		return "the reply is empty"
	case r.Finish == "length":
		return "the reply was cut off before " + q.wanted
	default:
		return "the reply has not " + q.wanted
	}
}
