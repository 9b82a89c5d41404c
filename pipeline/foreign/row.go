package foreign

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// requestCluster returns the ID of the group of equal requests to which a request belongs, a
// SHA-256. Requests that differ only in case, character width and white space are in one group.
func requestCluster(query string) string {
	folded := cases.Fold().String(norm.NFKC.String(query))
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(folded), " ")))
	return hex.EncodeToString(sum[:])
}

// newRow returns the ungraded training row of a trace, with the trace's own system prompt and
// tools, and the codes of the parts of the trace that the row lacks. If the trace is dropped (by
// the reader, for a veto or a fault, because chat templates cannot represent it, or because the
// guard finds a held-out problem), the decision has the stage and the reason.
func (m *Import) newRow(a *record, rec *arena.Record, protection *finish.Protection) (row rows.SFT, lost []string, d choose.Decision, err error) {
	t := a.trace
	if reason := cmp.Or(append([]string{a.reason}, t.Vetoes...)...); reason != "" {
		return row, nil, choose.Decision{Stage: stageRead, Reason: reason}, nil
	}
	if len(rec.Dialogue.Faults) > 0 {
		return row, nil, choose.Decision{
			Stage:  stageRead,
			Reason: rec.Dialogue.Faults[0],
		}, nil
	}
	lost = finish.Losses(t, &rec.Dialogue)
	row, messages, err := rows.NewSFT(rec, m.facts(rec, lost))
	if unfit, ok := errors.AsType[*chat.Unfit](err); ok {
		return row, nil, choose.Decision{Stage: stageRow, Reason: unfit.Reason}, nil
	}
	if err != nil {
		return row, nil, d, err
	}
	candidate := finish.CandidateOf(&row, messages, finish.ToolTexts(row.Tools))
	if protection.Check(corpus.SplitTrain, candidate).Drop {
		return row, nil, choose.Decision{Stage: stageGuard, Reason: reasonHeldOut}, nil
	}
	if t.Declared != nil {
		row.Reward = *t.Declared
	}
	return row, lost, choose.Decision{Split: corpus.SplitTrain}, nil
}

func (m *Import) facts(rec *arena.Record, lost []string) *rows.Facts {
	t := rec.Trace
	cluster := requestCluster(t.Query)
	harness, derived := chat.SourceHarness(t, &rec.Dialogue)
	f := &rows.Facts{
		Harness: harness, Split: corpus.SplitTrain, PipelineVersion: m.Version, Counter: rows.Bytes4{},
		Origin: rows.Origin{
			ProblemID: cmp.Or(t.ProblemID, cluster[:16]),
			Cluster:   cluster,
		},
		Metadata: map[string]any{"shape": t.Source.Shape, "declared_reward": t.Declared, "derived_tools": derived, "lost": lost},
	}
	if m.Redact != nil {
		f.IsSecret = func(id string) bool {
			return len(m.Redact.Scan(id)) > 0
		}
	}
	return f
}

// imported is the result of processing one record.
type imported struct {
	decision choose.Decision
	attempt  *rows.Attempt
	// domain is nil if the record could not be read, or if its attempt fits several domains and
	// declares no outcome.
	domain *domain.Domain
	// declared is nil if the attempt's domain does not use outcomes that sources state, outcome if
	// the trace has no outcome of its own.
	declared *rows.Declared
	outcome  *rows.Outcome
	// row is nil if the record is not a row.
	row *corpus.Cleaned[rows.SFT]
	// lost are the codes of the parts of the trace that the row lacks.
	lost []string
}

func (m *Import) process(a record, protection *finish.Protection) (*imported, error) {
	if f := a.fault; f != nil {
		d := choose.Decision{
			Stage:  stageRead,
			Reason: string(f.Reason),
			Failed: true,
		}
		attempt := &rows.Attempt{
			SourceSHA256: f.FileSHA256,
			SourceLine:   int64(f.Line),
			Fate:         rows.FateFailed,
			Stage:        d.Stage,
			Reason:       d.Reason,
		}
		return &imported{decision: d, attempt: attempt}, nil
	}
	rec := arena.Record{Trace: a.trace, Dialogue: filters.Normalise(a.trace)}
	row, lost, d, err := m.newRow(&a, &rec, protection)
	if err != nil {
		return nil, err
	}
	out := &imported{attempt: newAttempt(a.trace, &row, d)}
	if err = m.addOutcome(out, &rec); err != nil {
		return nil, err
	}
	if d.IsKept() {
		if d, err = m.selected(out); err != nil {
			return nil, err
		}
	}
	out.decision = d
	out.attempt = newAttempt(a.trace, &row, d)
	if d.IsKept() {
		out.lost = lost
		out.row, err = corpus.CleanSFT(&row, m.Redact, rows.Bytes4{})
	}
	return out, err
}

// addOutcome sets in out the domain (kind of task) of an attempt, and the outcome (success or
// failure) that the trace itself states. It sets no outcome if the domain takes it from elsewhere,
// or if the attempt fits several domains and its trace states no outcome. If it fits several and
// states one, that is an error.
func (m *Import) addOutcome(out *imported, rec *arena.Record) error {
	t := rec.Trace
	d, err := m.Domains.Find(t, &rec.Dialogue, domain.Base)
	out.domain = d
	if err != nil && t.Declared == nil {
		return nil
	}
	if err != nil {
		return err
	}
	r := d.Ruled(t).Ruling
	if r == nil {
		return nil
	}
	outcome := arena.RuledOutcome(r)
	out.outcome = rows.NewOutcome(out.attempt, &outcome)
	if r.Declared {
		out.declared = &rows.Declared{
			TraceID:      t.ID,
			RecordSHA256: t.RecordSHA256,
			Domain:       d.Name,
			Reward:       t.Declared,
		}
	}
	return nil
}

// selected returns the decision on an attempt that may be a row: kept in the train split, or
// dropped if the expression m.Where does not select it.
func (m *Import) selected(out *imported) (choose.Decision, error) {
	kept := choose.Decision{Split: corpus.SplitTrain}
	if m.Where == nil {
		return kept, nil
	}
	line := &where.Line{Attempt: out.attempt, Outcome: out.outcome, Declared: out.declared}
	ok, err := m.Where.Match(line.Values())
	if ok || err != nil {
		return kept, err
	}
	return choose.Decision{Stage: stageRow, Reason: reasonUnselected}, nil
}

// newAttempt returns the row of table attempts on a trace. row is the training row, of which only
// the fields that were computed before the trace was dropped are set. d is the decision on the
// trace.
func newAttempt(
	t *arena.Trace,
	row *rows.SFT,
	d choose.Decision,
) *rows.Attempt {
	a := rows.NewAttempt(t)
	a.ProblemID = cmp.Or(row.ProblemID, t.ProblemID)
	a.Cluster = row.Cluster
	a.NSteps = row.NSteps
	a.NToolCalls = row.NToolCalls
	a.NTokens = row.NTokens
	a.Fate = d.Code()
	a.Stage = d.Stage
	a.Reason = d.Reason
	a.Split = d.Split
	return &a
}
