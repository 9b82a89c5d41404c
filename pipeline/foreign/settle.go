package foreign

import (
	"cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// imported is a record whose fate is known.
type imported struct {
	fate    choose.Fate
	attempt *rows.Attempt
	// row is nil where the record is none, and lost is what the row lacks.
	row  *corpus.Cleaned[rows.SFT]
	lost []string
}

// settle makes a record's row of the ledger and, if it can be one, of the corpus.
func (m *Import) settle(a record, protect *finish.Protection) (*imported, error) {
	if f := a.fault; f != nil {
		out := choose.Fate{Stage: stageRead, Reason: string(f.Reason), Failed: true}
		return &imported{fate: out, attempt: &rows.Attempt{SourceSHA256: f.FileSHA256, SourceLine: int64(f.Line),
			Fate: rows.FateFailed, Stage: out.Stage, Reason: out.Reason}}, nil
	}
	if a.leftOut != "" {
		out := choose.Fate{Stage: stageRead, Reason: a.leftOut}
		return &imported{fate: out, attempt: attemptOf(a.trace, &rows.SFT{}, out)}, nil
	}
	row, lost, f, err := m.foreign(a.trace, protect)
	if err != nil {
		return nil, err
	}
	out := &imported{fate: f, lost: lost}
	if f.Kept() {
		out.row, err = corpus.CleanSFT(&row, m.Redact, rows.Bytes4{})
	}
	out.attempt = attemptOf(a.trace, &row, f)
	return out, err
}

// attemptOf is the ledger's row of a trace; row is empty where the trace
// was left out.
func attemptOf(t *arena.Trace, row *rows.SFT, f choose.Fate) *rows.Attempt {
	a := rows.NewAttempt(t)
	a.ProblemID, a.Cluster = cmp.Or(row.ProblemID, t.ProblemID), row.Cluster
	a.NSteps, a.NToolCalls, a.NTokens = row.NSteps, row.NToolCalls, row.NTokens
	a.Fate, a.Stage, a.Reason, a.Split = f.Word(), f.Stage, f.Reason, f.Split
	return &a
}
