package finish

import "github.com/trajectory-arena/arena/corpus"

// The tables of the ledger account for every record that was read.
const (
	TableAttempts   = "attempts"
	TableVerdicts   = "verdicts"
	TableOutcomes   = "outcomes"
	TableJudgements = "judgements"
	TableLeaks      = "leaks"
)

// Ledger writes the tables but verdicts.
type Ledger struct {
	Attempts   *corpus.Shards[corpus.Attempt]
	Outcomes   *corpus.Shards[corpus.Outcome]
	Judgements *corpus.Shards[corpus.Judgement]
	Leaks      *corpus.Shards[corpus.Leak]
}

// NewLedger starts the tables in a part.
func NewLedger(p *corpus.Part) *Ledger {
	return &Ledger{
		Attempts:   NewTable[corpus.Attempt](p, TableAttempts),
		Outcomes:   NewTable[corpus.Outcome](p, TableOutcomes),
		Judgements: NewTable[corpus.Judgement](p, TableJudgements),
		Leaks:      NewTable[corpus.Leak](p, TableLeaks),
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
