// Package foreign imports traces of other tools into a corpus: it reads them, guards
// them and writes them as rows, with the outcomes that they declare. It measures, judges and
// ranks nothing; a build does it.
package foreign

import (
	"context"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// Import is the import of traces into a corpus. Each row has the system prompt and the
// tools that its trace records.
type Import struct {
	Inputs []traces.Input
	RunID  string
	// Limits are those for reading the inputs.
	Limits traces.Limits
	// HeldOut are files of problems that no row may contain. If there are none, the rows
	// are unguarded and the card says so.
	HeldOut []string
	// Domains are the domains among which the attempts are; nil for the built-in ones.
	Domains *domain.Set
	// Where selects the attempts that become rows, nil to select all. Its columns are in tables that
	// an import fills.
	Where *where.Expr
	// MaxUnreadable is the maximum share of unreadable records, 0 to 1.
	MaxUnreadable float64
	// Workers is the number of records that are processed at once, at least 1. The corpus
	// does not depend on it.
	Workers int
	// Progress is called for every input that was read, unless it is nil.
	Progress func(pipeline.Event)
	finish.Target
}

// aheadBytes is the maximum total size in bytes of the records that are read and not yet written.
// Records are written in order, so that finished ones wait for slower ones before them. The size
// suffices for a few hundred usual records.
const aheadBytes = 16 << 20

// The names of the stages of an import. stageRow drops a trace that chat templates cannot represent.
const (
	stageRead  = "read"
	stageGuard = "guard"
	stageRow   = "row"
)

var importStages = []string{stageRead, stageRow, stageGuard}

// writer writes the rows of an import, and its tables on every record (the ledger). It must not be
// used by several goroutines at once.
type writer struct {
	*Import
	rows      *corpus.Shards[rows.SFT]
	ledger    *finish.Ledger
	decisions []choose.Decision
	// failed is the number of rows of attempts that their source declares unsolved.
	failed   int64
	clusters map[string]bool
	// domains counts the attempts by their domains.
	domains map[*domain.Domain]int64
}

// Run reads every input and writes the complete corpus, or nothing. If there is no row,
// the error is choose.ErrEmpty and the summary has the funnel.
func (m *Import) Run(ctx context.Context) (s *pipeline.Summary, err error) {
	err = m.WriteInParts(func(work string) (err error) {
		s, err = m.write(ctx, work)
		return err
	})
	return s, err
}

func (m *Import) write(ctx context.Context, work string) (*pipeline.Summary, error) {
	// the inputs may be files of corpora, which hold out problems themselves
	sources, err := finish.EnclosingCorpora(m.FS, m.Inputs)
	if err != nil {
		return nil, err
	}
	exclusions, err := finish.CollectExclusions(sources, m.HeldOut)
	if err != nil {
		return nil, err
	}
	protection, err := protect(exclusions)
	if err != nil {
		return nil, err
	}
	part, err := m.NewPart(work)
	if err != nil {
		return nil, err
	}
	w := &writer{
		Import:   m,
		rows:     corpus.NewShards[rows.SFT](part, stream),
		ledger:   finish.NewLedger(part),
		clusters: map[string]bool{},
		domains:  map[*domain.Domain]int64{},
	}
	r := &reader{
		Import:  m,
		records: map[string]bool{},
		refused: map[string]int64{},
	}
	s := inorder.Stream[record, *imported]{
		Workers: m.Workers, MaxWeight: aheadBytes, Read: r.read, Take: w.add,
		Work: func(_ context.Context, a record) (*imported, error) {
			return m.process(a, protection)
		},
	}
	if err = s.Run(ctx); err != nil {
		return nil, err
	}
	verdicts := finish.NewTable[rows.Verdict](part, finish.TableVerdicts) // empty: nothing was judged
	if err = finish.FirstError(w.rows.Close, w.ledger.Close, verdicts.Close, part.Close); err != nil {
		return nil, err
	}
	return w.assemble(ctx, work, r, exclusions)
}

// protect returns the guards that find all problems that must be kept out of training, by the
// sources and by files of held-out problems. If there are none, the result finds nothing. It
// returns an error if a guard fails its own test.
func protect(x *finish.Exclusions) (*finish.Protection, error) {
	if x.Bank == nil {
		return &finish.Protection{}, nil
	}
	return finish.NewProtection(finish.ProtectedInBank(x.Bank, x.HeldOut), guard.Config{}, 0)
}

var stream = corpus.Stream{
	Config:  "sft",
	Profile: corpus.ProfileHFJSON,
	Split:   corpus.SplitTrain,
}

// add writes what the import made of one record: rows of the tables, and a training row if the
// record is kept. It must be called in the order of the records.
func (w *writer) add(s *imported) error {
	w.decisions = append(w.decisions, s.decision)
	if s.domain != nil && s.decision.Reason != reasonCopied {
		w.domains[s.domain]++
	}
	if s.decision.IsKept() {
		if s.outcome != nil && s.outcome.Scored && !s.outcome.Success {
			w.failed++
		}
		w.clusters[s.attempt.Cluster] = true
		if err := w.rows.AddCleaned(s.row); err != nil {
			return err
		}
	}
	return w.ledger.Add(s.attempt, s.outcome, s.leak, s.declared)
}

func (w *writer) assemble(
	ctx context.Context,
	work string,
	r *reader,
	exclusions *finish.Exclusions,
) (*pipeline.Summary, error) {
	counts, err := choose.Funnel(importStages, slices.Values(w.decisions))
	if err != nil {
		return nil, err
	}
	counts[0].Unreadable = r.tally.UnreadableShare()
	counts[0].CutFiles = int64(r.tally.CutFiles)
	rows := counts[len(counts)-1].Out
	s := &pipeline.Summary{
		Funnel:     counts,
		Failed:     w.failed,
		Refused:    r.refused,
		CutFiles:   r.cut,
		Collisions: r.collisions,
		Rows:       map[string]int64{stream.Config + "/" + stream.Split: rows},
	}
	if rows == 0 {
		return s, choose.ErrEmpty
	}
	if err = r.tally.CheckShare(w.MaxUnreadable); err != nil {
		return s, err
	}
	protected := exclusions.ProtectedOnly().Protected("held-out")
	config := w.configuration(protected)
	m := corpus.Manifest{
		Configuration:       config,
		ConfigurationSHA256: finish.Digest(config),
		Domains:             w.manifestDomains(),
		Inputs:              r.inputs,
		Funnel:              counts,
	}
	c := &finish.Content{
		Assembly: corpus.Assembly{
			Parts:    []string{work},
			Manifest: m,
			Card:     w.card(len(protected), m.Domains),
		},
		Bank:           w.bank(exclusions.Bank),
		HeldOutDigests: exclusions.HeldOutDigests,
	}
	err = w.Assemble(ctx, c)
	s.Lost = c.Lost
	return s, err
}

// bank returns the bank of the new corpus, the record of the pool (such as train or held-out) of
// each problem: the protected problems in their pools, and the problems of the training rows in
// pool train. It returns nil if nothing is protected.
func (w *writer) bank(protected *guard.State) *guard.State {
	if protected == nil {
		return nil
	}
	training := &guard.State{}
	for c := range w.clusters {
		training.Clusters = append(training.Clusters, guard.StateCluster{
			ID:       c,
			Pool:     guard.PoolTrain,
			Problems: []string{c},
		})
	}
	return guard.Union(protected, training)
}

// configuration returns the import's configuration as JSON, for the manifest. The protected
// problems are named by the hash of their content and never by a path, so that equal imports have
// equal manifests.
func (m *Import) configuration(protected []guard.Entry) []byte {
	return asjson.Bytes(map[string]any{"import": map[string]any{
		"run_id":          m.RunID,
		"held_out":        len(protected),
		"held_out_sha256": finish.Digest(asjson.Bytes(protected)),
	}})
}

// manifestDomains returns, for the manifest, the domains (kinds of task) of the attempts. Every
// measuring instrument, such as the judge, is listed as not measured on them, since an import
// measures nothing.
func (w *writer) manifestDomains() []corpus.Domain {
	var out []corpus.Domain
	for d, attempts := range w.domains {
		out = append(out, corpus.Domain{Name: d.Name, SHA256: d.SHA256, Attempts: attempts, NotMeasured: domain.Instruments})
	}
	return corpus.JoinDomains(&corpus.Manifest{Domains: out})
}

func (w *writer) card(protected int, domains []corpus.Domain) corpus.Card {
	guarded := "No problem is protected: the requests were compared with nothing."
	if protected > 0 {
		guarded = fmt.Sprintf("The messages of users and the system prompts were compared with %d protected problems, and answers were searched for their ids. Rows with a match were left out. bank.json protects the same problems in everything that is made from this corpus.", protected)
	}
	card := corpus.NewCard(w.Domains.ByName(domain.Base))
	card.Title = "Imported trajectories"
	d := corpus.CardDomain(domains)
	card.Authors, card.Languages = d.Authors, d.Languages
	card.Default = stream.Config
	card.Sections = []corpus.Section{
		{Heading: "What this is", Body: importAbout + w.failedText()},
		{Heading: "Held-out protection", Body: guarded},
	}
	return card
}

// failedText returns the dataset card's sentence on the rows of unsolved attempts, with a space
// before it, or "" if there are none.
func (w *writer) failedText() string {
	if w.failed == 0 {
		return ""
	}
	return fmt.Sprintf(" **%d rows are attempts that their source calls unsolved**; a build trains on none of them.", w.failed)
}

const importAbout = `Trajectories that other tools recorded, each with the system prompt and the tools of its own source,
as OpenAI messages. Nothing was graded: reward is what the source itself declares, 0 where it declares none
(declared_reward in metadata is null then), and is_agentic is false because nothing was looked at. Tools that a source
calls and does not declare are declared from their calls, and named by derived_tools in metadata. The licence is that of
the source.`
