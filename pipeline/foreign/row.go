package foreign

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// imported is what the import made of one record: its decision, its rows in the tables and its
// training row.
type imported struct {
	decision choose.Decision
	attempt  *rows.Attempt
	// domain is nil if the record could not be read.
	domain *domain.Domain
	// declared is nil if the attempt's domain does not use outcomes that sources state, outcome if
	// the trace has no outcome of its own, leak if the guard found nothing.
	declared *rows.Declared
	outcome  *rows.Outcome
	leak     *rows.Leak
	// row is the training row. It is only used if the record is kept.
	row *corpus.Cleaned[rows.SFT]
}

func (m *Import) process(a record, protection *finish.Protection) (*imported, error) {
	if f := a.fault; f != nil {
		attempt := rows.NewUnread(f.FileSHA256, f.Line)
		out := &imported{attempt: &attempt}
		out.decide(choose.Decision{
			Stage:  stageRead,
			Reason: string(f.Reason),
			Failed: true,
		})
		return out, nil
	}
	rec := arena.Record{Trace: a.trace, Dialogue: filters.Normalise(a.trace)}
	attempt := rows.NewAttempt(&rec)
	attempt.Cluster = guard.SpecHash(arena.Problem{Query: a.trace.Query})
	out := &imported{attempt: &attempt}
	m.addOutcome(out, &rec)
	d, err := m.addRow(out, a.reason, &rec, protection)
	out.decide(d)
	return out, err
}

// decide stores the decision on the record.
func (out *imported) decide(d choose.Decision) {
	out.decision = d
	d.Record(out.attempt)
}

// addOutcome sets in out the domain (kind of task) of an attempt, the category of its problem and,
// if the domain accepts it, the outcome (success or failure) that the trace states.
func (m *Import) addOutcome(out *imported, rec *arena.Record) {
	t := rec.Trace
	d := m.Domains.Recognise(t, &rec.Dialogue, domain.Base)
	out.domain = d
	ruled := d.Ruled(t)
	out.attempt.TaskType = strings.ToLower(d.Family(ruled))
	out.declared = finish.DeclaredRow(out.attempt, d, t.Declared)
	if r := ruled.Ruling; r != nil {
		outcome := arena.RuledOutcome(r)
		out.outcome = rows.NewOutcome(out.attempt, &outcome)
	}
}

// addRow sets in out the ungraded training row of a trace, with the trace's own system prompt and
// tools, and the guard's finding in it. It returns the decision on the trace: reason is not empty
// if the reader drops it, and it is also dropped for a veto or a fault, if chat templates cannot
// represent it, if the guard finds a held-out problem, or if m.Where does not select it.
func (m *Import) addRow(
	out *imported,
	reason string,
	rec *arena.Record,
	protection *finish.Protection,
) (choose.Decision, error) {
	t := rec.Trace
	reasons := slices.Concat([]string{reason}, t.Vetoes, rec.Dialogue.Faults)
	if first := cmp.Or(reasons...); first != "" {
		return choose.Decision{Stage: stageRead, Reason: first}, nil
	}
	row, messages, err := rows.NewSFT(rec, m.facts(out, rec))
	if unfit, ok := errors.AsType[*chat.Unfit](err); ok {
		return choose.Decision{Stage: stageRow, Reason: unfit.Reason}, nil
	}
	if err != nil {
		return choose.Decision{}, err
	}
	if t.Declared != nil {
		row.Reward = *t.Declared
	}
	candidate := finish.CandidateOf(&row, messages, finish.ToolTexts(row.Tools))
	leak := protection.Check(corpus.SplitTrain, candidate)
	if out.leak = finish.LeakRow(t.ID, digest.SHA256([]byte(t.Query)), &leak); out.leak != nil {
		row.LeakMaxScore = &leak.Score
	}
	if out.row, err = corpus.CleanSFT(&row, m.Redact); err != nil {
		return choose.Decision{}, err
	}
	out.attempt.NTokens = row.NTokens
	if leak.Drop {
		return choose.Decision{Stage: stageGuard, Reason: reasonHeldOut}, nil
	}
	return m.selected(out)
}

func (m *Import) facts(out *imported, rec *arena.Record) *rows.Facts {
	a := out.attempt
	f := &rows.Facts{
		Category: arena.Category(a.TaskType), Split: corpus.SplitTrain, PipelineVersion: m.Version, Counter: rows.Bytes4{},
		Origin: rows.Origin{
			ProblemID: cmp.Or(a.ProblemID, a.Cluster),
			Cluster:   a.Cluster,
		},
	}
	f.Harness, f.Metadata = finish.SourceFacts(rec, out.domain)
	if m.Redact != nil {
		f.IsSecret = func(id string) bool {
			return len(m.Redact.Scan(id)) > 0
		}
	}
	return f
}

// selected returns the decision on an attempt that no stage dropped: it is kept in the train split,
// unless the expression m.Where, which the user gave, does not select it.
func (m *Import) selected(out *imported) (choose.Decision, error) {
	kept := choose.Decision{Split: corpus.SplitTrain}
	if m.Where == nil {
		return kept, nil
	}
	kept.Record(out.attempt)
	line := &where.Line{Attempt: out.attempt, Outcome: out.outcome, Leak: out.leak, Declared: out.declared}
	ok, err := m.Where.Match(line.Values())
	if ok || err != nil {
		return kept, err
	}
	return choose.Decision{Stage: stageRow, Reason: reasonUnselected}, nil
}
