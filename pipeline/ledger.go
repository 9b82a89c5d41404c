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
	err := w.entries(ctx, 1, block.PartFound, func(at ref, x *block.Entry) error {
		f := w.plan.Fates[at.Input][at.Entry]
		if f.Place > 0 {
			row := rows.Place{TraceID: x.TraceID, RecordSHA256: x.RecordSHA256, Place: int64(f.Place), Better: f.Better}
			if f.Better != "" {
				row.Similarity = &f.Alike
			}
			if err := places.Add(&row); err != nil {
				return err
			}
		}
		return w.enter(out, x, f)
	})
	if err != nil {
		return err
	}
	return finish.Close(out.Close, places.Close)
}

func (w *unitWriter) verdicts(ctx context.Context) error {
	out := corpus.NewShards[rows.Verdict](w.part, w.unit.Stream)
	err := w.entries(ctx, 1, block.PartStructure, func(at ref, x *block.Entry) error {
		if x.Fault != nil {
			return nil
		}
		s := w.filter.Revise(x.Structure, w.plan.Odds[at.Input][at.Entry], w.plan.Agents[x.Agent])
		return out.Add(rows.VerdictOf(&x.Attempt, &s))
	})
	if err != nil {
		return err
	}
	return out.Close()
}

func (w *unitWriter) enter(l *finish.Ledger, x *block.Entry, f choose.Fate) error {
	if err := l.Attempts.Add(w.attemptRow(x, f)); err != nil || x.Fault != nil {
		return err
	}
	if err := l.Outcomes.Add(outcomeRow(x)); err != nil {
		return err
	}
	if err := w.enterJudgements(l, x); err != nil {
		return err
	}
	if found := leak(x); found != nil {
		return l.Leaks.Add(found)
	}
	return nil
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

// enterJudgements enters the judge's answer first: of several rows on one
// attempt, readers of the ledger that want a score take the first.
func (w *unitWriter) enterJudgements(l *finish.Ledger, x *block.Entry) error {
	if x.Judgement.Outcome != "" {
		if err := l.Judgements.Add(rows.JudgementOf(&x.Attempt, &x.Judgement, w.weights.factor(x))); err != nil {
			return err
		}
	}
	if x.StepJudgement.Outcome == "" {
		return nil
	}
	return l.Judgements.Add(rows.JudgementOf(&x.Attempt, &x.StepJudgement, nil))
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
		TraceID: x.TraceID, RecordSHA256: x.RecordSHA256, Error: o.Error, Success: o.Success, Titles: string(o.Titles),
	}
	row.Scored = o.Scored()
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
