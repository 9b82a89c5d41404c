package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/judges/ledger"
)

// answer returns the verdict on one question to the panel. It comes from the ledger, the record of
// earlier requests, or else from a model. Concurrent calls with the same question send it once. A
// question that no model could answer is not sent again in this run. voted are the panel members
// that have already voted on the attempt.
func (j *Judge) answer(
	ctx context.Context,
	q question,
	voted map[int]bool,
) (verdict, error) {
	result, err, _ := j.flight.Do(q.hash, func() (any, error) {
		return j.answerOnce(ctx, q, voted)
	})
	v, _ := result.(verdict)
	if v.outcome == "" {
		v.outcome = arena.JudgeFailed
	}
	return v, err
}

func (j *Judge) answerOnce(
	ctx context.Context,
	q question,
	voted map[int]bool,
) (verdict, error) {
	if v, ok := j.unanswered.Load(q.hash); ok {
		return v.(verdict), nil //nolint:forcetypeassert // only verdicts are stored
	}
	if v, ok, err := j.fromLedger(q); ok || err != nil {
		return v, err
	}
	release, err := j.ledger.Claim(ctx, q.hash)
	if err != nil {
		return j.failed(ctx, verdict{cost: ledger.Free()}, err)
	}
	defer release()
	// Another process may have recorded an answer before it released the question.
	v, ok, err := j.fromLedger(q)
	if ok || err != nil {
		return v, err
	}
	if j.options.Batch != nil {
		return j.batched(q)
	}
	v, err = j.ask(ctx, q, voted)
	if err == nil && v.outcome != arena.JudgeScored {
		repeated := v
		repeated.cost = ledger.Free()
		j.unanswered.Store(q.hash, repeated)
	}
	return v, err
}

// fromLedger finds the answer to a question in the ledger, the record of earlier requests and
// replies. ok is false if there is none, or none that can still be parsed.
func (j *Judge) fromLedger(q question) (v verdict, ok bool, err error) {
	v, _, ok, err = j.lookup(q, j.ledger.Answer, q.hash)
	return v, ok, err
}

// lookup finds an exchange (a recorded request with its reply) by calling find with id, and parses
// the reply again. ok is false if there is none or its reply can no longer be parsed.
func (j *Judge) lookup(
	q question, find func(id string) (ledger.Exchange, error), id string,
) (v verdict, e ledger.Exchange, ok bool, err error) {
	e, err = find(id)
	if errors.Is(err, ledger.ErrNotFound) {
		return v, e, false, nil
	}
	if err != nil {
		return v, e, false, err
	}
	r, err := model.Read(e.Reply)
	if err != nil {
		return v, e, false, nil //nolint:nilerr // as if there were no reply
	}
	a, outcome := q.parseExchange(r.Text(), e.Reply)
	v = verdict{
		outcome: outcome, answer: a, model: e.Model, cost: e.Total, cached: e.Cached, detail: a.Explanation,
	}
	for i, m := range j.cfg.Panel {
		if m.Model == e.Model {
			v.member = i
		}
	}
	return v, e, outcome == arena.JudgeScored, nil
}

// ask sends a question to one panel member after another until one of them answers, cfg.Tries
// requests were sent, or no member remains. Replies of earlier runs that were no answer count as
// tries. Without an answer, the verdict is that of the last try.
func (j *Judge) ask(
	ctx context.Context,
	q question,
	voted map[int]bool,
) (verdict, error) {
	r := &rotation{
		panel:      j.panel,
		order:      q.order,
		voted:      voted,
		unreadable: map[int]int{},
		doubted:    map[int]bool{},
		dropped:    map[int]bool{},
	}
	wait := backoff.ExponentialBackOff{
		InitialInterval: j.cfg.Backoff, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: j.cfg.BackoffCap,
	}
	wait.Reset()
	last := verdict{
		outcome: arena.JudgeFailed,
		cost:    ledger.Free(),
		detail:  "no model was left to ask",
	}
	earlier := j.ledger.Unread(q.hash)
	if earlier >= j.cfg.Tries {
		const format = "%d replies of earlier runs were no answer: raise tries (docs/judges-llm.md) to ask again"
		last.outcome = arena.JudgeUnparsed
		last.detail = fmt.Sprintf(format, earlier)
	}
	for try := earlier + 1; try <= j.cfg.Tries; try++ {
		member, ok := r.nextMember()
		if !ok {
			break
		}
		v, fault, err := j.try(ctx, q, member, try, last.cost)
		if fault != nil && fault.Kind == model.Withdrawn {
			try-- // not sent: the model was set aside meanwhile
			continue
		}
		if err != nil || v.outcome == arena.JudgeScored {
			return v, err
		}
		last = v
		pause := r.handleFailure(member, &v, fault, &wait)
		if pause == 0 || try == j.cfg.Tries {
			continue
		}
		if err := webclient.Sleep(ctx, min(pause, j.cfg.BackoffCap)); err != nil {
			return j.failed(ctx, last, err)
		}
	}
	return last, nil
}

// handleFailure records that a request to a panel member failed. It may drop the member, so that it
// is not asked this question again, or let the same member be asked next. It returns the pause
// before the next request, which is 0 if the next member can be asked at once.
func (r *rotation) handleFailure(
	member int, v *verdict, fault *model.Fault, wait *backoff.ExponentialBackOff,
) time.Duration {
	switch {
	case v.outcome == arena.JudgeRefused:
		r.dropped[member] = true
	case v.doubt != "":
		r.dropped[member] = r.doubted[member]
		r.doubted[member] = true
	case fault == nil, fault.Kind == model.Unreadable:
		r.panel.countUnreadable(member)
		// Most models repeat themselves at temperature 0, so a question is not sent to
		// one more often than it takes to set it aside.
		r.unreadable[member]++
		r.dropped[member] = r.unreadable[member] >= setAsideAfter
	case fault.Kind == model.Missing:
		r.dropped[member] = true
		r.panel.countUnreadable(member)
	case fault.Kind == model.Rejected, fault.Kind == model.Auth:
		r.dropped[member] = true
	case fault.Kind == model.Schema:
		r.next-- // the same member again
	case fault.RetryAfter > 0:
		// The endpoint's client waits; another endpoint need not.
	default:
		return wait.NextBackOff()
	}
	return 0
}

// failed returns v as the verdict on a question that could not be sent because of err. If the
// attempt's deadline has passed, only this attempt fails and the error is nil. Any other error is
// returned and ends the run.
func (j *Judge) failed(
	ctx context.Context,
	v verdict,
	err error,
) (verdict, error) {
	v.outcome = arena.JudgeFailed
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	v.detail = err.Error()
	if errors.Is(err, errAttempt) {
		return v, nil
	}
	return v, err
}
