package pipeline

import (
	"context"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

func (w *unitWriter) tables(ctx context.Context) error {
	out, places := finish.NewLedger(w.part), finish.NewTable[rows.Place](w.part, finish.TablePlaces)
	each := func(_ ref, x *block.Entry, f choose.Fate) error {
		err := w.enter(out, x)
		if err != nil || f.Place == 0 {
			return err
		}
		row := rows.Place{TraceID: x.TraceID, RecordSHA256: x.RecordSHA256, Place: int64(f.Place), Better: f.Better}
		if f.Better != "" {
			row.Similarity = &f.Alike
		}
		return places.Add(&row)
	}
	walk := func() (err error) {
		w.reports, err = w.account(ctx, w.plan, each)
		return err
	}
	return finish.InTurn(walk, out.Close, places.Close)
}

func (w *unitWriter) verdicts(ctx context.Context) error {
	out := corpus.NewShards[rows.Verdict](w.part, w.unit.Stream)
	each := func(at ref, x *block.Entry) error {
		if x.Fault != nil {
			return nil
		}
		s := w.filter.Revise(x.Structure, w.plan.Odds[at.Input][at.Entry], w.plan.Agents[x.Agent])
		return out.Add(rows.NewVerdict(&x.Attempt, &s))
	}
	return finish.InTurn(func() error { return w.entries(ctx, 1, block.PartStructure, each) }, out.Close)
}

// enter enters the judge's answer before the step judge's: of several rows on one
// attempt, readers of the ledger that want a score take the first.
func (w *unitWriter) enter(l *finish.Ledger, x *block.Entry) error {
	if err := l.Attempts.Add(&x.Attempt); err != nil || x.Fault != nil {
		return err
	}
	err := l.Outcomes.Add(outcomeRow(x))
	if err == nil && x.Judgement.Outcome != "" {
		err = l.Judgements.Add(rows.NewJudgement(&x.Attempt, &x.Judgement, w.weights.factor(x)))
	}
	if err == nil && x.StepJudgement.Outcome != "" {
		err = l.Judgements.Add(rows.NewJudgement(&x.Attempt, &x.StepJudgement, nil))
	}
	if found := leak(x); err == nil && found != nil {
		err = l.Leaks.Add(found)
	}
	return err
}

// leak is the row of what the guard found; nil where nothing is near.
func leak(x *block.Entry) *rows.Leak {
	if x.Leak.Match == "" {
		return nil
	}
	return &rows.Leak{
		ID: x.TraceID, TextSHA256: x.Query, Match: x.Leak.Match, Drop: x.Leak.Drop, Same: x.Leak.Same,
		Score: x.Leak.Score, Tier: string(x.Leak.Tier), Evidence: x.Leak.Evidence,
	}
}

func (s *session) attemptRow(x *block.Entry, f choose.Fate) *rows.Attempt {
	row := x.Attempt
	row.NTokens, row.Fate, row.Stage, row.Reason, row.Split = int64(x.Body.Tokens), f.Word(), f.Stage, f.Reason, f.Split
	if x.Problem >= 0 {
		row.TaskType = strings.ToLower(string(s.day.Problems.All[x.Problem].Category))
		row.Cluster = s.protect.Clusters[x.Problem]
	}
	if f.Rank > 0 {
		row.Rank = new(int64(f.Rank))
	}
	return &row
}

func outcomeRow(x *block.Entry) *rows.Outcome {
	o := &x.Outcome
	row := &rows.Outcome{
		TraceID: x.TraceID, RecordSHA256: x.RecordSHA256, Scored: o.Scored(), Error: o.Error, Success: o.Success, Titles: string(o.Titles),
	}
	if r := o.Ruling; r != nil {
		row.Paid, row.Category, row.Ending = r.Score, r.Category, r.Ending
		row.Passed, row.Failed, row.Flags = r.Passed, r.Failed, r.Flags
	}
	if o.Scores == nil {
		return row
	}
	row.Length, row.Format = &o.Scores.Length, &o.Scores.Format
	if a := o.Scores.Axes; a != nil {
		row.Product, row.GT, row.Rule, row.Title = &a.Product, &a.GT, &a.Rule, &a.Title
		row.Price, row.Service, row.SKUAttrs = &a.Price, &a.Service, &a.SKUAttrs
		row.Shop, row.Budget = wide(a.Shop), wide(a.Budget)
	}
	return row
}

func wide(v *int) *int64 {
	if v == nil {
		return nil
	}
	return new(int64(*v))
}
