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

// answer gives one question's verdict: the ledger's, or a model's. Two that
// ask the same at once ask once, and what nobody could answer is left to the
// next run.
func (j *Judge) answer(ctx context.Context, q question, voted map[int]bool) (verdict, error) {
	v, err, _ := j.flight.Do(q.ask, func() (any, error) {
		if v, given := j.unanswered.Load(q.ask); given {
			return v, nil
		}
		if v, held, err := j.held(q); held || err != nil {
			return v, err
		}
		release, err := j.ledger.Claim(ctx, q.ask)
		if err != nil {
			return j.ended(ctx, verdict{spent: ledger.Free()}, err)
		}
		defer release()
		// Another process may have asked, and released the question, since it was looked for.
		if v, held, failed := j.held(q); held || failed != nil {
			return v, failed
		}
		v, err := j.live(ctx, q, voted)
		if err == nil && v.outcome != arena.JudgeScored {
			again := v
			again.spent = ledger.Free()
			j.unanswered.Store(q.ask, again)
		}
		return v, err
	})
	out, _ := v.(verdict)
	if out.outcome == "" {
		out.outcome = arena.JudgeFailed
	}
	return out, err
}

// held is the ledger's verdict.
func (j *Judge) held(q question) (verdict, bool, error) {
	v, _, ok, err := j.kept(q, j.ledger.Answer, q.ask)
	return v, ok, err
}

// kept looks up a reply and reads it again. Should it no longer be readable, it is as if
// it had never come.
func (j *Judge) kept(q question, find func(id string) (ledger.Exchange, error), id string) (v verdict, e ledger.Exchange, ok bool, err error) {
	e, err = find(id)
	if errors.Is(err, ledger.ErrNotHeld) {
		return v, e, false, nil
	}
	r, bad := model.Read(e.Reply)
	if err != nil || bad != nil {
		return v, e, false, err
	}
	a, outcome := q.readReply(r.Text())
	member := 0
	for i, m := range j.cfg.Panel {
		if m.Model == e.Model {
			member = i
		}
	}
	v = verdict{outcome: outcome, answer: a, member: member, model: e.Model, spent: e.Total, held: e.Held, detail: a.Explanation}
	return v, e, outcome == arena.JudgeScored, nil
}

// live asks one model after the other until one gives an answer, the tries are
// used up or nobody is left.
func (j *Judge) live(ctx context.Context, q question, voted map[int]bool) (verdict, error) {
	r := &rotation{panel: j.panel, order: q.order, voted: voted, spoilt: map[int]int{}, dropped: map[int]bool{}}
	wait := backoff.ExponentialBackOff{
		InitialInterval: j.cfg.Backoff, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: j.cfg.BackoffCap,
	}
	wait.Reset()
	last := verdict{outcome: arena.JudgeFailed, spent: ledger.Free(), detail: "no model was left to ask"}
	before := j.ledger.Unread(q.ask)
	if before >= j.cfg.Tries {
		last.outcome, last.detail = arena.JudgeUnparsed, fmt.Sprintf("%d replies of earlier runs were no answer: raise tries (docs/judges-llm.md) to ask again", before)
	}
	for try := before + 1; try <= j.cfg.Tries; try++ {
		member, left := r.member()
		if !left {
			break
		}
		v, fault, err := j.try(ctx, q, member, try, last.spent)
		if fault != nil && fault.Kind == model.Withdrawn {
			try-- // the model was set aside meanwhile, and not asked
			continue
		}
		if err != nil || v.outcome == arena.JudgeScored {
			return v, err
		}
		last = v
		if pause := r.react(member, v.outcome, fault, &wait); pause > 0 && try < j.cfg.Tries {
			if err = webclient.Sleep(ctx, min(pause, j.cfg.BackoffCap)); err != nil {
				return j.ended(ctx, last, err)
			}
		}
	}
	return last, nil
}

// react decides who is asked next and after what pause.
func (r *rotation) react(member int, outcome arena.JudgeOutcome, fault *model.Fault, wait *backoff.ExponentialBackOff) time.Duration {
	switch {
	case outcome == arena.JudgeRefused:
		r.dropped[member] = true
	case fault == nil, fault.Kind == model.Unreadable:
		r.panel.unreadable(member)
		// At temperature 0 most models repeat themselves, so after as many unreadable
		// replies as set it aside it is not asked again.
		r.spoilt[member]++
		r.dropped[member] = r.spoilt[member] >= setAsideAfter
	case fault.Kind == model.Missing, fault.Kind == model.Rejected, fault.Kind == model.Auth:
		if r.dropped[member] = true; fault.Kind == model.Missing {
			r.panel.unreadable(member)
		}
	case fault.Kind == model.Schema:
		r.next-- // the same one again
	case fault.RetryAfter > 0:
		// The endpoint's gate waits; another endpoint need not.
	default:
		return wait.NextBackOff()
	}
	return 0
}

// ended says what became of a question that could not be asked: the attempt's
// own deadline is its failure, anything else ends the run.
func (j *Judge) ended(ctx context.Context, v verdict, err error) (verdict, error) {
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
