package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/traces"
)

// Import makes a corpus of other people's traces as they are, each in the
// system prompt and with the tools that it records. Nothing is graded, judged
// or ranked: that takes problems and a catalogue, and is what a build does.
type Import struct {
	Inputs  []traces.Input
	RunID   string
	Out     string
	FS      corpus.FS
	Version string
	// HeldOut are files of problems that no row may ask for; none leaves the rows
	// unguarded, and the card says so.
	HeldOut []string
	// Redact takes out what must not be published; nil leaves texts as they are.
	Redact *redact.Redactor
	// Workers is how many records are worked on at once, at least 1. The corpus is
	// the same for any number.
	Workers int
	// Push and License are those of corpus.Card; empty where nobody named any.
	Push, License string
	// Progress is told of every input that was read; may be nil.
	Progress func(Event)
}

// aheadBytes bounds the records under way between reading and writing: a few
// hundred of the usual size.
const aheadBytes = 16 << 20

// stageRow is where a trace is left out that trainers' templates cannot take.
const stageRow = "row"

// importStages are the stages of an import in order.
var importStages = []string{stageRead, stageGuard, stageRow}

// importer is what was written of an import under way. It belongs to one
// goroutine.
type importer struct {
	*Import
	part   *corpus.Part
	rows   *corpus.Shards[corpus.SFT]
	ledger *ledger
	fates  []choose.Fate
	lost   map[string]int64
}

// Run reads every input and writes the corpus, all of it or nothing. Without a
// single row it is choose.ErrEmpty, and the summary has the funnel.
func (m *Import) Run(ctx context.Context) (*Summary, error) {
	if m.Workers < 1 {
		return nil, fmt.Errorf("workers is %d: want at least 1", m.Workers)
	}
	if err := corpus.Replaceable(m.FS, m.Out); err != nil {
		return nil, err
	}
	work := corpus.Beside(m.Out, "parts")
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
	part, err := corpus.NewPart(m.FS, work, corpus.DefaultLimits)
	if err != nil {
		return nil, err
	}
	part.Redact(m.Redact)
	w := &importer{Import: m, part: part, ledger: newLedger(part), lost: map[string]int64{}, rows: corpus.NewShards[corpus.SFT](part, stream(configSFT, corpus.SplitTrain))}
	in := &recordReader{Import: m, records: map[string]bool{}, refused: map[string]int64{}}
	through := inorder.Stream[record, *imported]{
		Workers: m.Workers, Ahead: aheadBytes, Read: in.read, Take: w.enter,
		Work: func(a record) (*imported, error) { return m.settle(a, protect) },
	}
	if err := through.Run(ctx); err != nil {
		return nil, err
	}
	verdicts := corpus.NewShards[corpus.Verdict](part, table(tableVerdicts)) // nothing was judged: it stays empty
	for _, closing := range []func() error{w.rows.Close, w.ledger.close, verdicts.Close, part.Close} {
		if err := closing(); err != nil {
			return nil, err
		}
	}
	return w.assemble(ctx, work, in, protect)
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

// enter puts a record into the ledger and, where it is one, into the rows.
func (w *importer) enter(s *imported) error {
	w.fates = append(w.fates, s.fate)
	for _, word := range s.lost {
		w.lost[word]++
	}
	if s.row != nil {
		if err := w.rows.AddCleaned(s.row); err != nil {
			return err
		}
	}
	return w.ledger.attempts.Add(s.attempt)
}

func (w *importer) assemble(ctx context.Context, work string, in *recordReader, protect *guard.Guard) (*Summary, error) {
	counts, err := choose.Funnel(importStages, w.fates)
	if err != nil {
		return nil, err
	}
	s := &Summary{Funnel: counts, Lost: w.lost, Refused: in.refused, Rows: map[string]int64{configSFT + "/" + corpus.SplitTrain: counts[len(counts)-1].Out}}
	if counts[len(counts)-1].Out == 0 {
		return s, choose.ErrEmpty
	}
	var held []guard.Entry
	if protect != nil {
		held = protect.Bank()
	}
	config, err := w.configuration(held)
	if err != nil {
		return nil, err
	}
	return s, corpus.Assemble(ctx, w.FS, w.Out, corpus.Assembly{
		Parts:    []string{work},
		Redact:   w.Redact,
		Manifest: corpus.Manifest{Pipeline: w.Version, Configuration: config, ConfigurationSHA256: digest(config), Inputs: in.inputs, Funnel: counts},
		Card:     w.card(held),
	})
}

// configuration names the bank by what is in it, never by a path.
func (m *Import) configuration(held []guard.Entry) ([]byte, error) {
	bank, err := json.Marshal(held)
	if err != nil {
		return nil, fmt.Errorf("encode held-out entries: %w", err)
	}
	return json.Marshal(map[string]any{"import": map[string]any{"run_id": m.RunID, "held_out": len(held), "held_out_sha256": digest(bank)}})
}

func (w *importer) card(held []guard.Entry) corpus.Card {
	guarded := "Nothing was held out: the requests were compared with no protected problem."
	if len(w.HeldOut) > 0 {
		guarded = fmt.Sprintf("Every request was compared with %d protected problems; those that ask for one were left out.", len(held))
	}
	return corpus.Card{
		Title: "Imported trajectories", Push: w.Push, License: w.License, Tags: []string{"agent", "tool-use", "trajectories", "arena"}, Default: configSFT,
		Sections: []corpus.Section{
			{Heading: "What this is", Body: importAbout},
			{Heading: "What rows lack of their traces", Body: cmp.Or(corpus.Tallies(w.lost), "Nothing.") + "\n\ndocs/profiles.md says what each word means; a row's own are in its metadata under lost."},
			{Heading: "Held-out protection", Body: guarded},
		},
	}
}

const importAbout = `Trajectories that other tools recorded, each with the system prompt and the tools of its own source,
as OpenAI messages. Nothing was graded: reward is what the source itself declares, 0 where it declares none
(declared_reward in metadata is null then), and is_agentic is false because nothing was looked at. Tools that a source
calls and does not declare are declared from their calls, and named by derived_tools in metadata. The licence is that of
the source.`
