package pipeline

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"path/filepath"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/records"
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

// writeVerdicts writes the table verdicts. The encoded rows of each batch of inputs are stored in the
// work folder, so that a build with more days copies those that did not change.
func (w *unitWriter) writeVerdicts(ctx context.Context) error {
	out := corpus.NewShards[rows.Verdict](w.part, w.unit.Stream)
	if w.session.Config.Recorded { // nothing was filtered
		return out.Close()
	}
	used := map[string]bool{}
	for _, b := range w.session.batches(w.plan) {
		key, err := w.batchKey(b)
		if err != nil {
			return err
		}
		used[key] = true
		g, err := w.verdictsOf(ctx, out, b, key)
		if err != nil {
			return err
		}
		if err = out.Append(g); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return w.session.removeUnused(batchesFolder, used)
}

// verdictsOf returns the encoded rows of the table verdicts on a batch, those that are stored or new
// ones, which it then stores.
func (w *unitWriter) verdictsOf(ctx context.Context, out *corpus.Shards[rows.Verdict], b batch, key string) (*corpus.Group[rows.Verdict], error) {
	s := w.session
	path := filepath.Join(s.Work, batchesFolder, key, "verdicts")
	g, err := out.Stored(path)
	if !errors.Is(err, corpus.ErrDamaged) {
		return g, err
	}
	g = out.Group()
	for i := b.first; i < b.end; i++ {
		line, err := w.lines.of(w.plan, i)
		if err != nil {
			return nil, err
		}
		err = s.eachEntryOf(ctx, i, block.PartStructure, func(pos records.Position, x *block.Entry) error {
			if x.Fault != nil {
				return nil
			}
			structure := s.filterOf(x).Revise(
				x.Structure,
				line.Odds[pos.Entry],
				w.plan.Agents[x.Agent],
			)
			return g.Add(rows.NewVerdict(&x.Attempt, &structure))
		})
		if err != nil {
			return nil, err
		}
	}
	if err := g.Close(); err != nil {
		return nil, err
	}
	staged := filepath.Join(s.staging.Dir, key)
	if err := g.Store(s.FS, staged); err != nil {
		return nil, err
	}
	return g, s.staging.Install(ctx, staged, path, func() (bool, error) { return false, nil })
}

// batch is a range of inputs, first <= i < end, whose rows of a table are encoded together.
type batch struct{ first, end int }

const (
	// minBatch is the minimum number of records of a batch, unless it is the last: readers read small
	// groups of rows slowly. maxBatch is the number at which a batch ends within a date.
	minBatch = 512
	maxBatch = 1 << 16
	// maxBatches is the maximum number of batches. A Parquet file has at most 32,767 groups of rows.
	maxBatches = 1 << 14
)

// batches divides the inputs into batches, each of which has the inputs of one date or of several small
// ones. Inputs of a later date change at most the last batch.
func (s *session) batches(p *plan) []batch {
	least := max(cmp.Or(s.minBatch, minBatch), 1<<bits.Len(uint(p.Read.Records/maxBatches))) //nolint:gosec // a count
	var out []batch
	b := batch{}
	size := 0
	for i, files := range p.Records {
		for _, n := range files {
			size += int(n)
		}
		b.end = i + 1
		isLast := b.end == len(p.Records)
		endsDate := isLast || s.inputs[i].date != s.inputs[b.end].date
		isFull := size >= least && (endsDate || size >= maxBatch)
		if isLast || isFull {
			out = append(out, b)
			b.first = b.end
			size = 0
		}
	}
	return out
}

// batchKey returns the hash of all that the verdicts on a batch depend on.
func (w *unitWriter) batchKey(b batch) (string, error) {
	s := w.session
	parts := []string{"arena.verdicts.v1", string(s.Config.JSON())}
	for i := b.first; i < b.end; i++ {
		item := &s.inputs[i]
		content, err := block.Content(s.FS, item.dir)
		if err != nil {
			return "", err
		}
		parts = append(parts, item.key.Config, content, w.plan.Evidence[i])
	}
	return finish.Digest(parts...), nil
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
	if x.Body.Bytes == 0 { // nothing was counted
		row.TokenCounter = ""
	}
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
