package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// mapper takes attempts through read, normalise, filter, score, judge and
// guard. Each block has its own.
type mapper struct {
	*session
	facts rows.Facts
	// tools are the texts of the harness's tools.
	tools []string
	doc   []byte
}

func (m *mapper) file(ctx context.Context, in traces.Input, n int, opt traces.Options, w *block.Writer) error {
	_, err := traces.Read(ctx, in, opt, func(it traces.Item) error {
		if f := it.Fault; f != nil {
			return w.Add(&block.Entry{Head: block.Head{
				File:    n,
				Attempt: rows.Attempt{SourceSHA256: f.FileSHA256, SourceLine: int64(f.Line), TokenCounter: rows.Bytes4{}.Name()},
				Fault:   &block.Fault{Reason: string(f.Reason), Detail: f.Detail, Cut: f.Cut},
				Problem: -1,
			}}, nil)
		}
		entry, draft, err := m.attempt(ctx, it.Trace)
		if err != nil {
			return err
		}
		entry.File = n
		return w.Add(entry, draft)
	})
	return err
}

func (m *mapper) attempt(ctx context.Context, t *arena.Trace) (*block.Entry, *block.Draft, error) {
	rec := arena.Record{Trace: t, Dialogue: filters.Normalise(t)}
	structure, sample := m.filter.Check(t, &rec.Dialogue)
	rec.Structure = structure
	at := m.day.Problems.Of(t)
	var err error
	if rec.Outcome, err = m.scorer.Score(ctx, t, m.day.Problems.At(at)); err != nil {
		return nil, nil, err
	}
	passed := usable(m.filter, &structure, rec.Outcome.Success) && rec.Outcome.Scored()
	if t.HasDialogue && (passed || !m.Config.Judge.Sparing) {
		if rec.Judgement, err = m.Judge.Judge(ctx, t, &rec.Dialogue); err != nil {
			return nil, nil, err
		}
	}
	entry := newEntry(&rec, at)
	entry.Sample = sample
	if rec.Judgement.Outcome != "" && probe.Drawn(t.ID, m.Config.Judge.ProbeEvery) {
		if entry.Shifts, err = probe.Against(ctx, m.Judge.Judge, &rec.Judgement, t, &rec.Dialogue); err != nil {
			return nil, nil, err
		}
	}
	if at < 0 || !usable(m.filter, &structure, rec.Outcome.Success) {
		return entry, nil, nil
	}
	entry.Rank = filters.RankScore(&structure)
	draft, err := m.render(ctx, &rec, at, entry)
	return entry, draft, err
}

// usable reports whether an attempt may become a row: nothing speaks against it, or it
// failed by mistakes that the filter has use for.
func usable(f *filters.Filter, s *arena.Structure, success bool) bool {
	return s.Keep || !success && f.IsUnwanted(s)
}

func newEntry(rec *arena.Record, problem int) *block.Entry {
	t := rec.Trace
	a := rows.NewAttempt(t)
	a.NSteps, a.NToolCalls = int64(len(t.Steps)), rows.CountToolCalls(&rec.Dialogue)
	head := block.Head{
		Attempt: a, Agent: filters.AgentOf(t.Agent, t.RunID), Query: digest.SHA256([]byte(t.Query)), Problem: problem, Passage: frames.DecidingPassage(&rec.Judgement),
	}
	if rec.Judgement.Outcome == arena.JudgeScored {
		head.Score = rec.Judgement.Score
	}
	return &block.Entry{Head: head, Found: block.Found{Structure: rec.Structure, Outcome: rec.Outcome, Judgement: rec.Judgement}}
}

// render makes the draft. An attempt that trainers' templates cannot take
// is rejected with the reason, which goes before mistakes: those alone would not
// have kept it out.
func (m *mapper) render(ctx context.Context, rec *arena.Record, problem int, entry *block.Entry) (*block.Draft, error) {
	facts := m.facts
	facts.Category = m.day.Problems.All[problem].Category
	row, ms, err := rows.NewSFT(ruled(rec, &facts), &facts)
	if unfit, is := errors.AsType[*chat.Unfit](err); is {
		entry.Structure.Keep = false
		entry.Structure.Reasons = slices.Insert(entry.Structure.Reasons, 0, unfit.Reason)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	draft, tools := &block.Draft{Scalars: row.Scalars, Messages: row.Messages, Metadata: row.Metadata, Goal: row.Goal}, m.tools
	if rec.Trace.Ruling != nil {
		draft.Tools, tools = row.Tools, finish.ToolTexts(row.Tools)
	}
	if facts.Metadata == nil { // all of it is this program's: hashes, and words for what it did
		row.Metadata = ""
	}
	entry.Leak = m.leak(finish.CandidateOf(&row, ms, tools), problem)
	entry.Body.Tokens = int(row.NTokens)
	m.doc = appendCompletion(m.doc[:0], &rec.Dialogue)
	signature := minhash.Sign(m.doc)
	entry.Body.Signature = signature.Pack()
	draft.Verdicts, err = m.judgeSteps(ctx, rec, entry)
	if entry.Leak.Drop || splitOf(m.protect.Pools[problem]) == "" { // no file will hold it
		entry.Body.Bytes = draft.Size()
		return nil, err
	}
	return draft, err
}

// appendCompletion is what the model did and said, without what the tools answered:
// two attempts that search alike get the same answers, which says nothing of
// the attempts.
func appendCompletion(dst []byte, d *arena.Dialogue) []byte {
	for _, t := range d.Turns {
		dst = append(append(append(dst, t.Think...), ' '), t.Text...)
		for _, c := range t.Calls {
			dst = append(append(append(append(dst, ' '), c.Name...), ' '), c.Arguments...)
		}
		dst = append(dst, ' ')
	}
	return dst
}

// leak holds an attempt against the bank of the split that its problem would be in.
func (m *mapper) leak(c guard.Candidate, problem int) guard.Finding {
	best, g := m.protect.Problems[problem], m.protect.guardOf(problem)
	if g == nil {
		return best
	}
	if c.Text == m.day.Problems.All[problem].Query {
		c.Text = "" // it is checked once, with the problem
	}
	if f := g.Check(c); f.Drop && !best.Drop || f.Drop == best.Drop && f.Score > best.Score {
		return f
	}
	return best
}

// judgeSteps gives a verdict on every assistant message of an attempt that may
// become a row, and notes what the judge said; none where it gave no answer.
func (m *mapper) judgeSteps(ctx context.Context, rec *arena.Record, entry *block.Entry) ([]arena.StepVerdict, error) {
	if !m.Config.Steps || m.StepJudge == nil || entry.Leak.Drop {
		return nil, nil
	}
	j, err := m.StepJudge.Steps(ctx, rec.Trace, &rec.Dialogue)
	if err != nil {
		return nil, err
	}
	for _, v := range j.Steps {
		entry.StepNeeds.Add(v.Need)
		if v.Quote != "" {
			j.Spans = append(j.Spans, arena.Span{Step: v.Step, Quote: v.Quote})
		}
	}
	entry.StepJudgement = j.Judgement
	if j.Outcome != arena.JudgeScored {
		return nil, nil
	}
	return perMessage(j.Steps, &rec.Dialogue), nil
}

// perMessage joins the verdicts on turns of the model without a call between
// them, which are one message (chat.Render): it is needed if any of them is,
// and waste if all are.
func perMessage(verdicts []arena.StepVerdict, d *arena.Dialogue) []arena.StepVerdict {
	out := make([]arena.StepVerdict, 0, len(verdicts))
	goesOn := false
	for i := range d.Turns {
		if d.Turns[i].User != "" {
			goesOn = false
			continue
		}
		v := verdicts[0]
		verdicts = verdicts[1:]
		switch last := len(out) - 1; {
		case !goesOn:
			out = append(out, v)
		case v.Need == arena.StepNeeded && out[last].Need != v.Need, v.Need == arena.StepUnclear && out[last].Need == arena.StepWaste:
			out[last] = v
		}
		goesOn = len(d.Turns[i].Calls) == 0
	}
	return out
}
