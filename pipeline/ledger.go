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

// writeTables writes all tables of the ledger, which has rows about every record, kept or not. Only
// the table verdicts is written by another worker. It also sets w.reports.
func (w *unitWriter) writeTables(ctx context.Context) error {
	ledger := finish.NewLedger(w.part)
	places := finish.NewTable[rows.Place](w.part, finish.TablePlaces)
	set, err := w.session.makeReports(ctx, w.plan, w.lines, func(x *block.Entry, d choose.Decision) error {
		if err := w.addToLedger(ledger, x); err != nil || d.Place == 0 || w.session.Config.Recorded {
			return err
		}
		row := rows.Place{
			TraceID:      x.TraceID,
			RecordSHA256: x.RecordSHA256,
			Place:        int64(d.Place),
			Better:       d.Better,
		}
		if d.Better != "" {
			row.Similarity = &d.Similarity
		}
		return places.Add(&row)
	})
	if err != nil {
		return err
	}
	w.reports = set
	return finish.FirstError(ledger.Close, places.Close)
}

func (w *unitWriter) writeVerdicts(ctx context.Context) error {
	out := corpus.NewShards[rows.Verdict](w.part, w.unit.Stream)
	s := w.session
	if s.Config.Recorded { // nothing was filtered
		return out.Close()
	}
	err := s.eachEntry(ctx, block.PartStructure, func(pos ref, x *block.Entry) error {
		if x.Fault != nil {
			return nil
		}
		line, err := w.lines.of(w.plan, pos.Input)
		if err != nil {
			return err
		}
		structure := s.filterOf(x).Revise(
			x.Structure,
			line.Odds[pos.Entry],
			w.plan.Agents[x.Agent],
		)
		return out.Add(rows.NewVerdict(&x.Attempt, &structure))
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// addToLedger writes the rows on one record to the tables attempts, outcomes, judgements and leaks
// of l. An unreadable record has a row in attempts only. The judge's answer precedes that of the
// judge of steps, because readers take the score of an attempt from its first row of judgements.
func (w *unitWriter) addToLedger(l *finish.Ledger, x *block.Entry) error {
	if x.Fault != nil {
		return l.Add(&x.Attempt, nil, nil, nil)
	}
	leak := finish.LeakRow(x.TraceID, x.Query, &x.Leak)
	if err := l.Add(&x.Attempt, w.session.outcomeRow(x), leak, w.session.declaredRow(x)); err != nil {
		return err
	}
	if x.Judgement.Outcome != "" {
		row := rows.NewJudgement(&x.Attempt, &x.Judgement, w.weights.factor(x))
		if x.OneIn > 0 {
			row.OneIn = new(int64(x.OneIn))
		}
		if err := l.Judgements.Add(row); err != nil {
			return err
		}
	}
	if x.StepJudgement.Outcome != "" {
		return l.Judgements.Add(rows.NewJudgement(&x.Attempt, &x.StepJudgement, nil))
	}
	return nil
}

// outcomeRow returns the row of the table outcomes for an attempt. It returns nil for an attempt that
// is taken as it was recorded and states no outcome.
func (s *session) outcomeRow(x *block.Entry) *rows.Outcome {
	if s.Config.Recorded && x.Outcome.Ruling == nil {
		return nil
	}
	return rows.NewOutcome(&x.Attempt, &x.Outcome)
}

// declaredRow returns the row of the table declared for an attempt, with the reward that the
// trace's source itself states. It returns nil if the attempt's domain takes outcomes from
// elsewhere. The record must be readable.
func (s *session) declaredRow(x *block.Entry) *rows.Declared {
	return finish.DeclaredRow(&x.Attempt, s.domains[x.Domain].Domain, x.Reward)
}

// attemptRow returns the row of table attempts on one record: the stored row, completed by the
// number of tokens, the decision d, and the type and the group (of similar problems) of its
// problem.
func (s *session) attemptRow(x *block.Entry, d choose.Decision) *rows.Attempt {
	row := x.Attempt
	row.NTokens = int64(x.Body.Tokens)
	d.Record(&row)
	if x.Problem >= 0 {
		row.Cluster = s.protection.Clusters[x.Problem]
	}
	if s.Config.Recorded { // nothing is ranked, and each attempt has the type that it states
		return &row
	}
	if x.Problem >= 0 {
		row.TaskType = strings.ToLower(string(s.day.Problems.All[x.Problem].Category))
	}
	if d.Rank > 0 {
		row.Rank = new(int64(d.Rank))
	}
	return &row
}
