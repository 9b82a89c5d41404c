package finish

import (
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// The tables of the ledger account for every record that was read.
const (
	TableAttempts   = "attempts"
	TableVerdicts   = "verdicts"
	TableOutcomes   = "outcomes"
	TableJudgements = "judgements"
	TableLeaks      = "leaks"
	// TablePlaces is of builds alone: only they rank attempts.
	TablePlaces = "places"
)

// Ledger writes the tables but verdicts.
type Ledger struct {
	Attempts   *corpus.Shards[rows.Attempt]
	Outcomes   *corpus.Shards[rows.Outcome]
	Judgements *corpus.Shards[rows.Judgement]
	Leaks      *corpus.Shards[rows.Leak]
}

// NewLedger starts the tables in a part.
func NewLedger(p *corpus.Part) *Ledger {
	return &Ledger{
		Attempts:   NewTable[rows.Attempt](p, TableAttempts),
		Outcomes:   NewTable[rows.Outcome](p, TableOutcomes),
		Judgements: NewTable[rows.Judgement](p, TableJudgements),
		Leaks:      NewTable[rows.Leak](p, TableLeaks),
	}
}

// Close ends the tables.
func (l *Ledger) Close() error {
	return Close(l.Attempts.Close, l.Outcomes.Close, l.Judgements.Close, l.Leaks.Close)
}

// NewTable starts one table in a part.
func NewTable[T any](p *corpus.Part, name string) *corpus.Shards[T] {
	return corpus.NewShards[T](p, corpus.Stream{Table: name})
}
