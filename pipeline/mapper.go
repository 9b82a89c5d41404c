package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
	"github.com/trajectory-arena/arena/traces/formats"
)

// mapper processes attempts by the stages read, normalise, filter, score, judge and guard. It is safe
// for concurrent use.
type mapper struct {
	session *session
	facts   rows.Facts
	// toolTexts are the texts in the definitions of the harness's tools, in which the guard
	// searches protected problems.
	toolTexts []string
	// skip is the number of records that are read and not processed, since an earlier run did so.
	skip int
}

func (s *session) newMapper() *mapper {
	facts := rows.Facts{
		Harness:         s.Harness,
		PipelineVersion: s.Version,
		Counter:         rows.Bytes4{},
		IsSecret: func(id string) bool {
			return len(s.idRedactor.Scan(id)) > 0
		},
	}
	if s.redactor != nil {
		facts.Redact = func(text string) string {
			return s.redactor.Text(text, redact.Counts{})
		}
	}
	return &mapper{
		session:   s,
		toolTexts: finish.ToolTexts(chat.Tools(s.Harness)),
		facts:     facts,
	}
}

// mapped is the result of all stages for one record.
type mapped struct {
	entry *block.Entry
	draft *block.Draft
	// reference is the attempt's problem, and problem its index among all of the run, -1 if it is
	// unknown. items are the ids that were looked up in the catalogue.
	reference block.Reference
	problem   int
	items     []string
}

func (r *mapped) addItem(id string) { r.items = append(r.items, id) }

// maxAhead is the maximum size in bytes of the records of one file that several workers process at
// once.
const maxAhead = 8 << 20

// readFile reads a trace file and passes to take the results of all stages for each attempt and for
// each unreadable record, in the order of the file. n is the index of the file within its input,
// which may have several files. workers is the number of attempts that are processed at once.
func (m *mapper) readFile(
	ctx context.Context,
	in traces.Input,
	n, workers int,
	take func(*mapped) error,
) error {
	options := traces.Options{
		Limits: m.session.Config.Reading,
		RunID:  m.session.Config.RunID,
	}
	work := func(ctx context.Context, item traces.Item) (*mapped, error) {
		if item.Fault != nil {
			return &mapped{entry: faultEntry(item.Fault, n)}, nil
		}
		r, err := m.attempt(ctx, m.session.day.halves.Join(item.Trace))
		if err == nil {
			r.entry.File = n
		}
		return r, err
	}
	read := func(ctx context.Context, emit func(item traces.Item, size int64) error) error {
		_, err := traces.Read(ctx, in, options, func(item traces.Item) error {
			size := 0
			if item.Trace != nil {
				size = item.Trace.Bytes
			}
			if m.skip > 0 {
				m.skip--
				return nil
			}
			return emit(item, int64(size))
		})
		return err
	}
	if workers == 1 {
		return read(ctx, func(item traces.Item, _ int64) error {
			r, err := work(ctx, item)
			if err != nil {
				return err
			}
			return take(r)
		})
	}
	s := inorder.Stream[traces.Item, *mapped]{Workers: workers, MaxWeight: maxAhead, Read: read, Work: work, Take: take}
	return s.Run(ctx)
}

func faultEntry(f *traces.Fault, file int) *block.Entry {
	return &block.Entry{Head: block.Head{
		File:    file,
		Attempt: rows.NewUnread(f.FileSHA256, f.Line),
		Fault: &block.Fault{
			Reason: string(f.Reason),
			Detail: f.Detail,
			Cut:    f.Cut,
		},
		Problem: -1,
	}}
}

// attempt processes one attempt by all stages that need no other attempt. It returns the results of
// the stages (the entry) and the training row, still without reward and split (the draft). The
// draft is nil if no row can be made. Only the guard's finding in the entry depends on which
// problems are protected; the rest can be reused when these change.
func (m *mapper) attempt(ctx context.Context, t *arena.Trace) (*mapped, error) {
	s := m.session
	out := &mapped{}
	rec := arena.Record{Dialogue: filters.Normalise(t)}
	d := s.domains[s.Domains.Recognise(t, &rec.Dialogue, s.fallbackDomain()).Name]
	rec.Trace = s.day.Problems.named(d.Ruled(t), &rec.Dialogue)
	out.reference, out.problem = s.day.Problems.lookUp(rec.Trace)
	if s.Config.Recorded {
		return out, m.recorded(ctx, out, d, &rec)
	}
	filter := d.filter(t.Source.HasProxyLog)
	sample := filter.CheckRecord(&rec)
	var err error
	rec.Outcome, err = s.scorer.Noting(out.addItem).Score(ctx, rec.Trace, s.day.Problems.Get(out.problem))
	if err != nil {
		return nil, err
	}
	isUsable := usable(filter, &rec.Structure, rec.Outcome.Success)
	drawnFrom, err := m.judge(ctx, d, &rec, isUsable && rec.Outcome.Scored())
	if err != nil {
		return nil, err
	}
	entry := newEntry(&rec, d)
	out.entry = entry
	entry.OneIn = drawnFrom
	entry.Sample = sample
	if entry.Shifts, err = m.probe(ctx, d, &rec); err != nil {
		return nil, err
	}
	if out.problem < 0 || !isUsable {
		return out, nil
	}
	entry.Rank = filters.RankScore(&rec.Structure)
	if rec.Structure.ThinkingStripped {
		rec.Dialogue = filters.WithoutThinking(&rec.Dialogue)
	}
	out.draft, err = m.render(ctx, &rec, out.problem, entry)
	return out, err
}

// recorded sets in out the results for an attempt that is taken as its source recorded it: a row with
// the prompt and the tools of the source, and the outcome if the trace states one.
func (m *mapper) recorded(ctx context.Context, out *mapped, d *runDomain, rec *arena.Record) (err error) {
	reasons := slices.Concat(rec.Trace.Vetoes, rec.Dialogue.Faults)
	rec.Structure = arena.Structure{Keep: len(reasons) == 0, Reasons: reasons}
	if r := rec.Trace.Ruling; r != nil {
		rec.Outcome = arena.RuledOutcome(r)
	}
	out.entry = newEntry(rec, d)
	out.entry.TaskType = strings.ToLower(d.Family(rec.Trace))
	if rec.Structure.Keep {
		out.draft, err = m.render(ctx, rec, out.problem, out.entry)
	}
	return err
}

// usable reports whether an attempt may become a row: if the filter keeps it, or if it failed and
// the filter objects to nothing but mistakes of the model. Failed attempts with such mistakes are
// useful as examples of what not to do.
func usable(f *filters.Filter, s *arena.Structure, success bool) bool {
	return s.Keep || !success && f.IsUnwanted(s)
}

func newEntry(rec *arena.Record, d *runDomain) *block.Entry {
	t := rec.Trace
	decisive := cmp.Or(rec.Low, &rec.Judgement)
	head := block.Head{
		Attempt: rows.NewAttempt(rec),
		Agent:   filters.AgentOf(t.Agent, t.RunID),
		Domain:  d.Name,
		Logged:  t.Source.HasProxyLog,
		Reward:  t.Declared,

		Disputed: slices.Contains(t.Lost, formats.LostOpposite),

		Query:   digest.SHA256([]byte(t.Query)),
		Passage: frames.DecidingPassage(decisive, t.Query, rec.Dialogue.Turns),
		Origin:  rec.Origin,
	}
	if rec.Judgement.Outcome == arena.JudgeScored {
		head.Score = rec.Judgement.Score
	}
	if rec.Low != nil {
		head.Withheld = rec.Low.Score
	}
	results := block.Found{
		Structure: rec.Structure,
		Outcome:   rec.Outcome,
		Judgement: rec.Judgement,
	}
	return &block.Entry{Head: head, Found: results}
}

// render returns the training row of an attempt without its reward and split (the draft). It adds
// to entry the row's number of tokens, its signature for near-duplicates, the step judge's verdicts
// and the guard's finding. If chat templates cannot represent the attempt, render returns nil, and
// the cause becomes the first of the filter's reasons. It also returns nil for an attempt without a
// problem.
func (m *mapper) render(
	ctx context.Context,
	rec *arena.Record,
	problem int,
	entry *block.Entry,
) (*block.Draft, error) {
	s := m.session
	facts := m.facts
	facts.Category = arena.Category(entry.TaskType)
	if !s.Config.Recorded {
		facts.Category = s.day.Problems.All[problem].Category
	}
	shown := rec
	hasSource := s.hasSourcePrompt(&rec.Outcome)
	if hasSource {
		shown = finish.WithSource(rec, &facts, s.domains[entry.Domain].Domain, s.Config.Recorded)
	}
	row, messages, err := rows.NewSFT(shown, &facts)
	if unfit, ok := errors.AsType[*chat.Unfit](err); ok {
		entry.Structure.Keep = false
		entry.Structure.Reasons = slices.Insert(entry.Structure.Reasons, 0, unfit.Reason)
		return nil, nil
	}
	if err != nil || problem < 0 {
		return nil, err
	}
	draft := &block.Draft{
		Scalars:  row.Scalars,
		Messages: row.Messages,
		Metadata: row.Metadata,
		Goal:     row.Goal,
	}
	if hasSource {
		draft.Tools = row.Tools
	}
	entry.Leak = m.findLeak(entry, draft, messages, problem)
	entry.Body.Tokens = int(row.NTokens)
	signature := minhash.Sign(appendCompletion(nil, &rec.Dialogue))
	entry.Body.Signature = signature.Pack()
	draft.Verdicts, err = m.judgeSteps(ctx, rec, entry)
	return draft, err
}

// hasSourcePrompt reports whether the row of an attempt with this outcome gets the system prompt and
// the tools of its trace, and not those of the run's harness.
func (s *session) hasSourcePrompt(o *arena.Outcome) bool {
	return o.Ruling != nil || s.Config.Recorded
}

// appendCompletion appends the texts and calls that the model wrote to dst, for the comparison with
// other attempts. It leaves out the results of tools: equal searches have equal results, which
// would make different attempts look similar.
func appendCompletion(dst []byte, d *arena.Dialogue) []byte {
	for _, t := range d.Turns {
		dst = append(dst, t.Think...)
		dst = append(dst, ' ')
		dst = append(dst, t.Text...)
		for _, c := range t.Calls {
			dst = append(dst, ' ')
			dst = append(dst, c.Name...)
			dst = append(dst, ' ')
			dst = append(dst, c.Arguments...)
		}
		dst = append(dst, ' ')
	}
	return dst
}

// findLeak returns the worse of two findings of the guard (which searches for protected problems):
// the one in the attempt's problem, and the one in the texts of the attempt. A finding that drops
// the attempt is worse than one that does not; otherwise the higher score is worse. messages are
// those of the draft d (the rendered row), and problem is the index of the attempt's problem among
// all of the run.
func (m *mapper) findLeak(
	x *block.Entry,
	d *block.Draft,
	messages []chat.Message,
	problem int,
) guard.Finding {
	p := m.session.protection
	worst := p.Problems[problem]
	g := p.guardFor(problem)
	if g == nil || worst.Drop && worst.Score >= 1 { // nothing is worse
		return worst
	}
	c := m.candidate(x, d, messages)
	if c.Text == m.session.day.Problems.All[problem].Query {
		c.Text = "" // it was checked with the problem
	}
	f := g.Check(c)
	isWorse := f.Drop && !worst.Drop || f.Drop == worst.Drop && f.Score > worst.Score
	if isWorse {
		return f
	}
	return worst
}

// candidate returns the texts of an attempt that the guard compares with the protected problems.
// They are from its stored results x, its draft d (the rendered row) and the draft's messages.
func (m *mapper) candidate(
	x *block.Entry,
	d *block.Draft,
	messages []chat.Message,
) guard.Candidate {
	row := rows.SFT{Scalars: d.Scalars, Goal: d.Goal}
	toolTexts := m.toolTexts
	if m.session.hasSourcePrompt(&x.Outcome) { // otherwise the metadata has only hashes and codes of this program
		row.Metadata = d.Metadata
		toolTexts = finish.ToolTexts(d.Tools)
	}
	return finish.CandidateOf(&row, messages, toolTexts)
}
