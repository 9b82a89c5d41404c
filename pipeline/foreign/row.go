package foreign

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// requestCluster names all requests that say the same but for case, width and
// white space.
func requestCluster(query string) string {
	folded := cases.Fold().String(norm.NFKC.String(query))
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(folded), " ")))
	return hex.EncodeToString(sum[:])
}

// What of a trace its row does not hold. docs/profiles.md says what each means.
const (
	lostSystemStep = "system_step"
	lostEnding     = "ending"
	lostTurnEnd    = "turn_end"
)

// losses names what of a trace a row cannot hold, although it is one.
func losses(t *arena.Trace, d *arena.Dialogue) []string {
	lost := append([]string{}, t.Lost...)
	if slices.ContainsFunc(t.Steps, func(s arena.Step) bool { return s.Role == arena.RoleSystem }) {
		lost = append(lost, lostSystemStep)
	}
	turns := d.Turns
	for len(turns) > 0 && turns[len(turns)-1].User != "" {
		turns = turns[:len(turns)-1]
	}
	answered := func(c arena.Call) bool { return c.Result.Kind() != arena.Absent }
	if len(turns) < len(d.Turns) || len(turns) > 0 && slices.ContainsFunc(turns[len(turns)-1].Calls, answered) {
		lost = append(lost, lostEnding)
	}
	before := arena.Turn{User: t.Query}
	for _, turn := range turns {
		if (turn.User == "") == (before.User == "") && len(before.Calls) == 0 {
			return append(lost, lostTurnEnd)
		}
		before = turn
	}
	return lost
}

// foreign makes the row of a trace as it is: in its own harness, ungraded. Its
// fate says why it can be none, and lost what the row lacks of the trace.
func (m *Import) foreign(a *record, protect *finish.Protection) (row rows.SFT, lost []string, f choose.Decision, err error) {
	t := a.trace
	if reason := cmp.Or(append([]string{a.leftOut}, t.Vetoes...)...); reason != "" {
		return row, nil, choose.Decision{Stage: stageRead, Reason: reason}, nil
	}
	rec := arena.Record{Trace: t, Dialogue: filters.Normalise(t)}
	if len(rec.Dialogue.Faults) > 0 {
		return row, nil, choose.Decision{Stage: stageRead, Reason: rec.Dialogue.Faults[0]}, nil
	}
	lost = losses(t, &rec.Dialogue)
	row, ms, err := rows.NewSFT(&rec, m.facts(&rec, lost))
	if unfit, is := errors.AsType[*chat.Unfit](err); is {
		return row, nil, choose.Decision{Stage: stageRow, Reason: unfit.Reason}, nil
	}
	if err != nil {
		return row, nil, f, err
	}
	if protect.Check(corpus.SplitTrain, finish.CandidateOf(&row, ms, finish.ToolTexts(row.Tools))).Drop {
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
		Origin:   rows.Origin{ProblemID: cmp.Or(t.ProblemID, cluster[:16]), Cluster: cluster},
		Metadata: map[string]any{"shape": t.Source.Shape, "declared_reward": t.Declared, "derived_tools": derived, "lost": lost},
	}
	if m.Redact != nil {
		f.IsSecret = func(id string) bool { return len(m.Redact.Scan(id)) > 0 }
	}
	return f
}

type imported struct {
	fate    choose.Decision
	attempt *rows.Attempt
	// row is nil where the record is none, and lost is what the row lacks.
	row  *corpus.Cleaned[rows.SFT]
	lost []string
}

func (m *Import) settle(a record, protect *finish.Protection) (*imported, error) {
	if f := a.fault; f != nil {
		out := choose.Decision{Stage: stageRead, Reason: string(f.Reason), Failed: true}
		return &imported{fate: out, attempt: &rows.Attempt{SourceSHA256: f.FileSHA256, SourceLine: int64(f.Line),
			Fate: rows.FateFailed, Stage: out.Stage, Reason: out.Reason}}, nil
	}
	row, lost, f, err := m.foreign(&a, protect)
	if err != nil {
		return nil, err
	}
	out := &imported{fate: f, lost: lost}
	if f.IsKept() {
		out.row, err = corpus.CleanSFT(&row, m.Redact, rows.Bytes4{})
	}
	out.attempt = attemptOf(a.trace, &row, f)
	return out, err
}

// attemptOf is the ledger's row of a trace; row is empty where the trace
// was left out.
func attemptOf(t *arena.Trace, row *rows.SFT, f choose.Decision) *rows.Attempt {
	a := rows.NewAttempt(t)
	a.ProblemID, a.Cluster = cmp.Or(row.ProblemID, t.ProblemID), row.Cluster
	a.NSteps, a.NToolCalls, a.NTokens = row.NSteps, row.NToolCalls, row.NTokens
	a.Fate, a.Stage, a.Reason, a.Split = f.Code(), f.Stage, f.Reason, f.Split
	return &a
}

// maxWaiting bounds the bytes of the records that wait for their other half.
// Prompts are a few KB: it holds those of 50,000 attempts.
const maxWaiting = 256 << 20

// Why a record is no row: half ones, and those that ask for what is held out.
const (
	reasonHeldOut = "protected_problem"         // it asks for a problem that is held out
	reasonJoined  = "joined_prompt"             // the prompt is in the row of its answer
	reasonAlone   = "answer_without_prompt"     // the prompt that it answers is not there
	reasonSeveral = "answer_to_several_prompts" // more than one prompt could be the one that it answers
)

// promptAlone reports whether a record is a request in which the model has not spoken.
func promptAlone(t *arena.Trace) bool {
	return t.Query != "" && !slices.ContainsFunc(t.Steps, func(s arena.Step) bool { return s.Role == arena.RoleAgent })
}

// answerAlone reports whether a record is what a model said to a request that it does not
// hold.
func answerAlone(t *arena.Trace) bool {
	other := func(s arena.Step) bool { return s.Role != arena.RoleAgent }
	return t.Query == "" && t.System == "" && len(t.Steps) > 0 && !slices.ContainsFunc(t.Steps, other)
}

// waits keeps back half a record with an id until all have been read: data sets
// hold prompts and predictions in files of their own.
func (r *reader) waits(t *arena.Trace) bool {
	if t.ProblemID == "" || !promptAlone(t) && !answerAlone(t) || r.waitingBytes+t.Bytes > maxWaiting {
		return false
	}
	r.waitingBytes += t.Bytes
	r.waiting = append(r.waiting, t)
	return true
}

// join enters the records that waited, each answer behind the prompt of its id.
// An id under which different things are asked names none of them.
func (r *reader) join() error {
	prompts, several := map[string]*arena.Trace{}, map[string]bool{}
	answered := map[string]bool{}
	for _, t := range r.waiting {
		if first := prompts[t.ProblemID]; promptAlone(t) && first == nil {
			prompts[t.ProblemID] = t
		} else if promptAlone(t) {
			several[t.ProblemID] = several[t.ProblemID] || first.Query != t.Query || first.System != t.System
		} else {
			answered[t.ProblemID] = true
		}
	}
	for _, t := range r.waiting {
		reason := ""
		switch prompt := prompts[t.ProblemID]; {
		case promptAlone(t) && answered[t.ProblemID] && !several[t.ProblemID]:
			reason = reasonJoined
		case promptAlone(t):
		case prompt == nil:
			reason = reasonAlone
		case several[t.ProblemID]:
			reason = reasonSeveral
		default:
			t = joined(prompt, t)
		}
		if err := r.pass(t, reason); err != nil {
			return err
		}
	}
	return nil
}

// joined is an answer with the prompt that it answers. Its record stays the
// answer's.
func joined(prompt, answer *arena.Trace) *arena.Trace {
	t := *answer
	t.System, t.Query, t.Tools = prompt.System, prompt.Query, prompt.Tools
	t.Steps = slices.Concat(prompt.Steps, answer.Steps)
	t.Vetoes = slices.Concat(prompt.Vetoes, answer.Vetoes)
	return &t
}
