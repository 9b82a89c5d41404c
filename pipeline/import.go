package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/redact"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/traces"
)

// Import makes a corpus of other people's traces as they are, each in the
// system prompt and with the tools that it records. Nothing is graded, judged
// or ranked: that takes problems and a catalogue, and is what a build does.
type Import struct {
	Inputs  []traces.Input
	RunID   string
	Out     string
	FS      corpora.FS
	Version string
	// HeldOut are files of problems that no row may ask for; none leaves the rows
	// unguarded, and the card says so.
	HeldOut []string
	// Redact takes out what must not be published; nil leaves texts as they are.
	Redact *redact.Redactor
	// Progress is told of every input that was read; may be nil.
	Progress func(Event)
}

// stageRow is where a trace is left out that trainers' templates cannot take.
const stageRow = "row"

// importStages are the stages of an import in order.
var importStages = []string{stageRead, stageGuard, stageRow}

// imported is an import under way.
type imported struct {
	*Import
	protect *guard.Guard
	part    *corpora.Part
	rows    *corpora.Shards[corpora.SFT]
	ledger  *ledger
	fates   []fate
	inputs  []corpora.Input
	records map[string]bool
	lost    map[string]int64
	refused map[string]int64
	// waiting are halves of records: prompts and answers that may be to them.
	waiting      []*arena.Trace
	waitingBytes int
}

// Run reads every input and writes the corpus, all of it or nothing. Without a
// single row it is ErrEmpty, and the summary has the funnel.
func (m *Import) Run(ctx context.Context) (*Summary, error) {
	if err := corpora.Replaceable(m.FS, m.Out); err != nil {
		return nil, err
	}
	work := filepath.Clean(m.Out) + ".parts"
	s, err := m.write(ctx, work)
	if rerr := m.FS.RemoveAll(work); err == nil && rerr != nil {
		err = fmt.Errorf("remove %s: %w", work, rerr)
	}
	return s, err
}

func (m *Import) write(ctx context.Context, work string) (*Summary, error) {
	protect, err := m.guard()
	if err != nil {
		return nil, err
	}
	part, err := corpora.NewPart(m.FS, work, corpora.DefaultLimits)
	if err != nil {
		return nil, err
	}
	part.Redact(m.Redact)
	w := &imported{
		Import: m, protect: protect, part: part, ledger: newLedger(part), records: map[string]bool{}, lost: map[string]int64{}, refused: map[string]int64{},
		rows: corpora.NewShards[corpora.SFT](part, stream(configSFT, corpora.SplitTrain)),
	}
	if err := w.readAll(ctx); err != nil {
		return nil, err
	}
	verdicts := corpora.NewShards[corpora.Verdict](part, table(tableVerdicts)) // nothing was judged: it stays empty
	for _, closing := range []func() error{w.rows.Close, w.ledger.close, verdicts.Close, part.Close} {
		if err := closing(); err != nil {
			return nil, err
		}
	}
	return w.assemble(ctx, work)
}

// guard indexes what the rows may not ask for; nil without held-out files.
func (m *Import) guard() (*guard.Guard, error) {
	var bank []guard.Entry
	for _, path := range m.HeldOut {
		entries, err := guard.ReadBank(path)
		if err != nil {
			return nil, err
		}
		bank = append(bank, entries...)
	}
	if len(m.HeldOut) == 0 {
		return nil, nil
	}
	g, err := guard.New(bank, guard.Config{})
	if err != nil {
		return nil, err
	}
	return g, g.Canary()
}

// readAll reads the inputs in an order that no path decides, each content once.
func (w *imported) readAll(ctx context.Context) error {
	inputs := slices.Clone(w.Inputs)
	for i := range inputs {
		if inputs[i].SHA256 != "" {
			continue
		}
		if err := inputs[i].Hash(ctx); err != nil {
			return err
		}
	}
	slices.SortStableFunc(inputs, func(a, b traces.Input) int {
		return cmp.Or(strings.Compare(a.SHA256, b.SHA256), strings.Compare(a.MetaSHA256, b.MetaSHA256))
	})
	opt := traces.Defaults()
	opt.RunID = cmp.Or(w.RunID, opt.RunID)
	if err := opt.Validate(); err != nil {
		return err
	}
	for i, in := range inputs {
		w.tell(Event{Stage: stageRead, Done: i, Total: len(inputs)})
		before := len(w.fates) + len(w.waiting)
		if _, err := traces.Read(ctx, in, opt, w.take); err != nil {
			return err
		}
		w.inputs = append(w.inputs, corpora.Input{Kind: "traces", SHA256: in.SHA256, Bytes: in.Bytes, Records: int64(len(w.fates) + len(w.waiting) - before)})
		w.tell(Event{Stage: stageRead, Done: i + 1, Total: len(inputs), Bytes: in.Bytes})
	}
	return w.join()
}

func (w *imported) tell(e Event) {
	if w.Progress != nil {
		w.Progress(e)
	}
}

// take enters one record, or keeps it back for its other half.
func (w *imported) take(item traces.Item) error {
	if f := item.Fault; f != nil {
		if f.Reason == traces.UnsupportedSchema {
			w.refused[f.Detail]++
		}
		out := fate{stage: stageRead, reason: string(f.Reason), failed: true}
		w.fates = append(w.fates, out)
		return w.ledger.attempts.Add(&corpora.Attempt{SourceSHA256: f.FileSHA256, SourceLine: int64(f.Line),
			Fate: corpora.FateFailed, Stage: out.stage, Reason: out.reason})
	}
	t := item.Trace
	if w.records[t.RecordSHA256] {
		return w.leaveOut(t, "copied_record")
	}
	w.records[t.RecordSHA256] = true
	if w.waits(t) {
		return nil
	}
	return w.decide(t)
}

// leaveOut enters a record into the ledger alone.
func (w *imported) leaveOut(t *arena.Trace, reason string) error {
	return w.enter(t, &corpora.SFT{}, fate{stage: stageRead, reason: reason})
}

// decide enters a trace into the rows, if it can be one, and into the ledger.
func (w *imported) decide(t *arena.Trace) error {
	row, stage, reason, err := w.foreign(t, w.protect)
	if err != nil {
		return err
	}
	if stage != "" {
		return w.enter(t, &row, fate{stage: stage, reason: reason})
	}
	gjson.Get(row.Metadata, "lost").ForEach(func(_, word gjson.Result) bool {
		w.lost[word.Str]++
		return true
	})
	if err := w.rows.Add(&row); err != nil {
		return err
	}
	return w.enter(t, &row, fate{split: corpora.SplitTrain})
}

func (w *imported) enter(t *arena.Trace, row *corpora.SFT, f fate) error {
	w.fates = append(w.fates, f)
	return w.ledger.attempts.Add(importedAttempt(t, row, f))
}

// importedAttempt is the ledger's row of a trace; row is empty where the trace
// was left out.
func importedAttempt(t *arena.Trace, row *corpora.SFT, f fate) *corpora.Attempt {
	a := &corpora.Attempt{
		TraceID: t.ID, RunID: t.RunID, ProblemID: cmp.Or(row.ProblemID, t.ProblemID), AgentVersion: t.Agent.VersionID, AgentHotkey: t.Agent.Hotkey,
		Suite: t.Agent.Suite, RunDate: corpora.Milliseconds(t.Agent.StartedAt), SourceSHA256: t.Source.FileSHA256,
		SourceLine: int64(t.Source.Line), Shape: string(t.Source.Shape), RecordSHA256: t.RecordSHA256, Bytes: int64(t.Bytes),
		Status: string(t.Status), HasDialogue: t.HasDialogue, Seconds: finite(t.Seconds),
		InferenceTotal: counted(t.InferenceTotal), InferenceFailures: counted(t.InferenceFailures),
		NSteps: row.NSteps, NToolCalls: row.NToolCalls, NTokens: row.NTokens, TokenCounter: corpora.Bytes4{}.Name(),
		Fate: fateWord(storedFate{Stage: f.stage, Failed: f.failed}), Stage: f.stage, Reason: f.reason, Split: f.split, Cluster: row.Cluster,
	}
	if t.Error != nil {
		a.ErrorType = t.Error.Type
	}
	return a
}

func (w *imported) assemble(ctx context.Context, work string) (*Summary, error) {
	counts, err := funnel(importStages, w.fates)
	if err != nil {
		return nil, err
	}
	s := &Summary{Funnel: counts, Lost: w.lost, Refused: w.refused, Rows: map[string]int64{configSFT + "/" + corpora.SplitTrain: counts[len(counts)-1].Out}}
	if counts[len(counts)-1].Out == 0 {
		return s, ErrEmpty
	}
	config, err := w.configuration()
	if err != nil {
		return nil, err
	}
	return s, corpora.Assemble(ctx, w.FS, w.Out, corpora.Assembly{
		Parts:    []string{work},
		Redact:   w.Redact,
		Manifest: corpora.Manifest{Pipeline: w.Version, Configuration: config, ConfigurationSHA256: digest(config), Inputs: w.inputs, Funnel: counts},
		Card:     w.card(),
	})
}

// configuration names the bank by what is in it, never by a path.
func (w *imported) configuration() ([]byte, error) {
	var held []guard.Entry
	if w.protect != nil {
		held = w.protect.Bank()
	}
	bank, err := json.Marshal(held)
	if err != nil {
		return nil, fmt.Errorf("encode held-out entries: %w", err)
	}
	return json.Marshal(map[string]any{"import": map[string]any{"run_id": w.RunID, "held_out": len(held), "held_out_sha256": digest(bank)}})
}

func (w *imported) card() corpora.Card {
	guarded := "Nothing was held out: the requests were compared with no protected problem."
	if w.protect != nil {
		guarded = fmt.Sprintf("Every request was compared with %d protected problems; those that ask for one were left out.", len(w.protect.Bank()))
	}
	return corpora.Card{
		Title: "Imported trajectories", License: corpora.NoLicense, Tags: []string{"agent", "tool-use", "trajectories", "arena"}, Default: configSFT,
		Sections: []corpora.Section{
			{Heading: "What this is", Body: importAbout},
			{Heading: "What rows lack of their traces", Body: cmp.Or(corpora.Tallies(w.lost), "Nothing.") + "\n\ndocs/profiles.md says what each word means; a row's own are in its metadata under lost."},
			{Heading: "Held-out protection", Body: guarded},
		},
	}
}

const importAbout = `Trajectories that other tools recorded, each with the system prompt and the tools of its own source,
as OpenAI messages. Nothing was graded: reward is what the source itself declares, 0 where it declares none
(declared_reward in metadata is null then), and is_agentic is false because nothing was looked at. Tools that a source
calls and does not declare are declared from their calls, and named by derived_tools in metadata. The licence is that of
the source.`
