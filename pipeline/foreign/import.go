// Package foreign makes a corpus of other people's traces as they are: read,
// guarded, made into rows and finished like any other. Nothing is graded, judged
// or ranked: that takes problems and a catalogue, and is what a build does.
package foreign

import (
	"cmp"
	"context"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// Import makes a corpus of traces, each in the system prompt and with the tools
// that it records.
type Import struct {
	Inputs []traces.Input
	RunID  string
	// HeldOut are files of problems that no row may hold; none leaves the rows
	// unguarded, and the card says so.
	HeldOut []string
	// MaxUnreadable is the share of records that may be unreadable, 0 to 1.
	MaxUnreadable float64
	// Workers is how many records are worked on at once, at least 1. The corpus is
	// the same for any number.
	Workers int
	// Progress is told of every input that was read; may be nil.
	Progress func(pipeline.Event)
	finish.Target
}

// aheadBytes bounds the records under way between reading and writing: a few
// hundred of the usual size.
const aheadBytes = 16 << 20

// The stages of an import in order. At stageRow a trace is left out that trainers'
// templates cannot take.
const (
	stageRead  = "read"
	stageGuard = "guard"
	stageRow   = "row"
)

var importStages = []string{stageRead, stageRow, stageGuard}

// writer is what was written of an import under way. It belongs to one
// goroutine.
type writer struct {
	*Import
	rows     *corpus.Shards[rows.SFT]
	ledger   *finish.Ledger
	fates    []choose.Decision
	lost     map[string]int64
	clusters map[string]bool
}

// Run reads every input and writes the corpus, all of it or nothing. Without a
// single row it is choose.ErrEmpty, and the summary has the funnel.
func (m *Import) Run(ctx context.Context) (s *pipeline.Summary, err error) {
	err = m.WriteInParts(func(work string) (err error) {
		s, err = m.write(ctx, work)
		return err
	})
	return s, err
}

func (m *Import) write(ctx context.Context, work string) (*pipeline.Summary, error) {
	// what the corpora of whose files the inputs are keep out of training stays out, asked for or not
	sources, err := finish.EnclosingCorpora(m.FS, m.Inputs)
	if err != nil {
		return nil, err
	}
	known, err := finish.CollectExclusions(sources, m.HeldOut)
	if err != nil {
		return nil, err
	}
	protect := &finish.Protection{}
	if known.Bank != nil {
		if protect, err = finish.NewProtection(finish.ProtectedInBank(known.Bank, known.HeldOut), guard.Config{}, 0); err != nil {
			return nil, err
		}
	}
	part, err := m.NewPart(work)
	if err != nil {
		return nil, err
	}
	w := &writer{Import: m, ledger: finish.NewLedger(part), lost: map[string]int64{}, clusters: map[string]bool{}, rows: corpus.NewShards[rows.SFT](part, stream)}
	in := &reader{Import: m, records: map[string]bool{}, refused: map[string]int64{}}
	through := inorder.Stream[record, *imported]{
		Workers: m.Workers, MaxWeight: aheadBytes, Read: in.read, Take: w.enter,
		Work: func(_ context.Context, a record) (*imported, error) { return m.settle(a, protect) },
	}
	if err = through.Run(ctx); err != nil {
		return nil, err
	}
	verdicts := finish.NewTable[rows.Verdict](part, finish.TableVerdicts) // nothing was judged: it stays empty
	if err = finish.FirstError(w.rows.Close, w.ledger.Close, verdicts.Close, part.Close); err != nil {
		return nil, err
	}
	return w.assemble(ctx, work, in, known)
}

var stream = corpus.Stream{Config: "sft", Profile: corpus.ProfileHFJSON, Split: corpus.SplitTrain}

func (w *writer) enter(s *imported) error {
	w.fates = append(w.fates, s.fate)
	for _, word := range s.lost {
		w.lost[word]++
	}
	if s.row != nil {
		w.clusters[s.attempt.Cluster] = true
		if err := w.rows.AddCleaned(s.row); err != nil {
			return err
		}
	}
	return w.ledger.Attempts.Add(s.attempt)
}

func (w *writer) assemble(ctx context.Context, work string, in *reader, known *finish.Exclusions) (*pipeline.Summary, error) {
	counts, err := choose.Funnel(importStages, w.fates)
	if err != nil {
		return nil, err
	}
	counts[0].Unreadable, counts[0].CutFiles = in.tally.UnreadableShare(), int64(in.tally.CutFiles)
	rows := counts[len(counts)-1].Out
	s := &pipeline.Summary{Funnel: counts, Lost: w.lost, Refused: in.refused, CutFiles: in.cut, Collisions: in.collided, Rows: map[string]int64{stream.Config + "/" + stream.Split: rows}}
	if rows == 0 {
		return s, choose.ErrEmpty
	}
	if err = in.tally.CheckShare(w.MaxUnreadable); err != nil {
		return s, err
	}
	config := w.configuration(known.Bank)
	m := corpus.Manifest{Configuration: config, ConfigurationSHA256: finish.Digest(config), Inputs: in.inputs, Funnel: counts}
	made := corpus.Assembly{Parts: []string{work}, Manifest: m, Card: w.card(known.Bank)}
	return s, w.Assemble(ctx, &finish.Content{Assembly: made, Bank: w.bank(known.Bank), HeldOutDigests: known.HeldOutDigests})
}

// bank is what was held out, beside the requests of the rows; nil where nothing
// was.
func (w *writer) bank(known *guard.State) *guard.State {
	if known == nil {
		return nil
	}
	own := &guard.State{}
	for c := range w.clusters {
		own.Clusters = append(own.Clusters, guard.StateCluster{ID: c, Pool: guard.PoolTrain, Problems: []string{c}})
	}
	return guard.Union(known, own)
}

// configuration names the bank by what is in it, never by a path.
func (m *Import) configuration(known *guard.State) []byte {
	held := protected(known)
	return asjson.Bytes(map[string]any{"import": map[string]any{"run_id": m.RunID, "held_out": len(held), "held_out_sha256": finish.Digest(asjson.Bytes(held))}})
}

func protected(known *guard.State) []guard.Entry {
	if known == nil {
		return nil
	}
	return known.Protected("held-out")
}

func (w *writer) card(known *guard.State) corpus.Card {
	guarded := "Nothing was held out: the requests were compared with no protected problem."
	if held := protected(known); len(held) > 0 {
		guarded = fmt.Sprintf("What customers say and what system prompts hold was compared with %d protected problems, and answers searched for their products; rows that hold one were left out. bank.json holds them out of what is made of this corpus.", len(held))
	}
	return corpus.Card{
		Title: "Imported trajectories", Tags: finish.Tags, Default: stream.Config,
		Sections: []corpus.Section{
			{Heading: "What this is", Body: importAbout},
			{Heading: "What rows lack of their traces", Body: cmp.Or(corpus.FormatCounts(w.lost), "Nothing.") + "\n\ndocs/profiles.md says what each word means; a row's own are in its metadata under lost."},
			{Heading: "Held-out protection", Body: guarded},
		},
	}
}

const importAbout = `Trajectories that other tools recorded, each with the system prompt and the tools of its own source,
as OpenAI messages. Nothing was graded: reward is what the source itself declares, 0 where it declares none
(declared_reward in metadata is null then), and is_agentic is false because nothing was looked at. Tools that a source
calls and does not declare are declared from their calls, and named by derived_tools in metadata. The licence is that of
the source.`
