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

// try sends a question to one panel member once and records the exchange in the ledger, unless the
// ledger has a reply to the same request already, which it then uses. The fault says why no
// completion arrived. It is nil if one did, even one that is no answer, or if nothing was sent.
// earlier is the cost of the question's tries so far, which the verdict's cost includes.
func (j *Judge) try(
	ctx context.Context,
	q question,
	member, try int,
	earlier ledger.Spent,
) (verdict, *model.Fault, error) {
	request := j.request(q, member)
	key, err := j.clients[member].Key(request)
	if err != nil {
		return verdict{}, nil, err
	}
	e := ledger.Exchange{
		Key: key, Ask: q.hash, Model: request.Model, PromptSHA256: q.prompt.sha256, Try: try,
		PromptBytes: q.bytes, Verdicts: q.verdicts, Outcome: arena.JudgeFailed,
		Tokens: ledger.Free(), Total: earlier, Payer: j.options.Payer,
	}
	v, ok, err := j.reuseReply(q, e, member)
	if ok || err != nil {
		return v, nil, err
	}
	reserved, err := j.budget.reserve(ctx, func() amount {
		return j.maxCost(q, member)
	})
	if err != nil {
		v, err = j.failed(ctx, verdict{cost: earlier}, err)
		return v, nil, err
	}
	r, chatErr := j.clients[member].Chat(ctx, request)
	v, fault := j.readExchange(q, &e, r, chatErr)
	v.member = member
	if len(e.Request) > 0 {
		err = j.ledger.Add(e)
	}
	// Settle after the ledger has the exchange, so that waiting requests can estimate
	// their cost from it.
	j.budget.settle(reserved, e.Tokens)
	if chatErr == nil {
		j.panel.recordAnswer(member, v.outcome == arena.JudgeScored, request.Model, e.Served)
	}
	if err != nil {
		return v, fault, err
	}
	v, err = j.checkFault(ctx, v, fault, chatErr)
	return v, fault, err
}

// checkFault returns an error if the run cannot continue after a failed request: the server refused
// the key and no other endpoint may replace it, or the request failed for a reason outside the
// server.
func (j *Judge) checkFault(
	ctx context.Context,
	v verdict,
	fault *model.Fault,
	chatErr error,
) (verdict, error) {
	switch {
	case fault != nil && fault.Kind == model.Auth && !j.panel.lock(v.member):
		return v, fmt.Errorf(
			"ask %s: %w: %s",
			j.cfg.Panel[v.member].Model,
			ErrAuth,
			fault.Detail,
		)
	case fault == nil && chatErr != nil:
		return j.failed(ctx, v, chatErr)
	default:
		return v, nil
	}
}

// reuseReply finds a recorded reply to the same request that was sent for another question, such as
// one of an earlier run with another panel. It records the reply for this question, at no cost, and
// returns its verdict. ok is false if there is no such reply.
func (j *Judge) reuseReply(
	q question,
	e ledger.Exchange,
	member int,
) (v verdict, ok bool, err error) {
	v, reused, ok, err := j.lookup(q, j.ledger.Reply, e.Key)
	if !ok {
		return verdict{}, false, err
	}
	reused.Ask = e.Ask
	reused.Try = e.Try
	reused.Tokens = ledger.Free()
	reused.Cached = false
	reused.Total = reused.Total.Plus(e.Total)
	v.member = member
	v.cost = reused.Total
	return v, true, j.ledger.Add(reused)
}

// readExchange sets the fields of e, the record of a request, from its reply r or its error
// chatErr, and returns the verdict. The fault is that of chatErr; it is nil if there is none.
func (j *Judge) readExchange(
	q question,
	e *ledger.Exchange,
	r model.Exchange,
	chatErr error,
) (verdict, *model.Fault) {
	e.Status = r.Status
	e.Request = r.Request
	e.Reply = r.Body
	e.Served = r.Model
	e.LatencyMS = r.Latency.Milliseconds()
	if chatErr == nil || r.Counted() {
		e.Tokens = j.exchangeCost(e, r)
	}
	v := verdict{outcome: arena.JudgeFailed, model: e.Model}
	var fault *model.Fault
	switch {
	case errors.As(chatErr, &fault):
		e.Error = fault.Error()
		if fault.Kind == model.Unreadable {
			v.outcome = arena.JudgeUnparsed
		}
	case chatErr != nil:
		e.Error = chatErr.Error()
	default:
		v.answer, v.outcome = q.parseExchange(r.Text(), r.Body)
		isRefusal := r.Refusal != "" || r.Finish == "content_filter"
		if v.outcome != arena.JudgeScored && isRefusal {
			v.outcome = arena.JudgeRefused
		}
		e.Error = q.explain(v, r.Reply)
	}
	e.Outcome = v.outcome
	e.Total = e.Total.Plus(e.Tokens)
	v.cost = e.Total
	v.detail = e.Error
	if v.outcome == arena.JudgeScored {
		v.detail = v.Explanation
	}
	return v, fault
}

// exchangeCost returns the tokens and dollars of a request and its reply. If the server does not
// count tokens, they are estimated from the lengths of prompt and reply, so that a budget still
// limits the run.
func (j *Judge) exchangeCost(e *ledger.Exchange, r model.Exchange) ledger.Spent {
	n := prices.Tokens{
		Prompt:     estimateTokens(e.PromptBytes),
		Completion: estimateTokens(len(r.Text())),
	}
	if r.Counted() {
		n = prices.Tokens{
			Prompt:     int(r.Usage.Prompt),
			Cached:     int(r.Usage.Cached),
			Completion: int(r.Usage.Completion),
		}
	}
	return ledger.Spent{
		Prompt:     n.Prompt,
		Completion: n.Completion,
		USD:        j.options.Prices.Cost(e.Model, n),
	}
}

func estimateTokens(bytes int) int { return int(math.Ceil(float64(bytes) / bytesPerToken)) }

// explain returns the reason why a reply with the given verdict is no answer to the question, such
// as "the reply is empty", or "" if it is one.
func (q question) explain(v verdict, r model.Reply) string {
	switch {
	case v.outcome == arena.JudgeScored:
		return ""
	case v.outcome == arena.JudgeRefused:
		return "the model refused"
	case v.doubt == arena.DoubtNoQuote:
		return "the reply lacks the quote of a gate that it calls passed"
	case v.doubt == arena.DoubtUnfound:
		return "the reply quotes what the attempt does not hold"
	case r.Text() == "":
		return "the reply is empty"
	case r.Finish == "length":
		return "the reply was cut off before " + q.requirement
	default:
		return "the reply has not " + q.requirement
	}
}
