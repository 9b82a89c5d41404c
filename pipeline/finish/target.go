package finish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
)

// Target is where a corpus goes, and what whoever makes it says of it.
type Target struct {
	FS  corpus.FS
	Out string
	// Version is the program's.
	Version string
	// License is that of corpus.Card; empty where nobody named any.
	License string
	// Redact takes out what must not be published; nil leaves texts as they are.
	Redact *redact.Redactor
}

// Content is what a corpus is put together from.
type Content struct {
	// Assembly lacks what the target says, and the files of bank and reports.
	corpus.Assembly
	// Bank pins the split; nil where nothing does. Given name the held-out files of
	// the run, as Keeps takes them.
	Bank  *guard.State
	Given []string
	// Reports are written as JSON, Pages as they are, both into reports by name.
	Reports map[string]any
	Pages   map[string][]byte
}

// Tags are those of every card.
var Tags = []string{"agent", "tool-use", "trajectories", "arena"}

// ShoppingTags are those of a card whose rows were made of the subnet's traces.
var ShoppingTags = slices.Insert(slices.Clone(Tags), 2, "shopping")

// InParts is corpus.InParts for the target. A folder that may not be replaced is
// refused before.
func (t *Target) InParts(write func(work string) error) error {
	if err := corpus.Replaceable(t.FS, t.Out); err != nil {
		return err
	}
	return corpus.InParts(t.FS, t.Out, write)
}

// Part starts a part whose rows pass the target's redactor.
func (t *Target) Part(dir string) (*corpus.Part, error) {
	part, err := corpus.NewPart(t.FS, dir, corpus.DefaultLimits)
	if err == nil {
		part.Redact(t.Redact)
	}
	return part, err
}

// Assemble puts the corpus together, as corpus.Assemble does, and refuses to put
// it in the place of one that keeps more out.
func (t *Target) Assemble(ctx context.Context, c *Content) error {
	if err := Keeps(t.FS, t.Out, c.Bank, c.Given); err != nil {
		return err
	}
	a := c.Assembly
	a.Extra, a.Redact, a.Manifest.Pipeline, a.Card.License = map[string][]byte{}, t.Redact, t.Version, cmp.Or(t.License, c.Card.License)
	if c.Bank != nil {
		a.Extra[corpus.BankName] = c.Bank.Encode()
	}
	for name, page := range c.Pages {
		a.Extra["reports/"+name] = page
	}
	for name, report := range c.Reports {
		var err error
		if a.Extra["reports/"+name], err = corpus.EncodeReport(report); err != nil {
			return err
		}
	}
	return corpus.Assemble(ctx, t.FS, t.Out, a)
}

// InTurn does one thing after another, up to the first that fails.
func InTurn(all ...func() error) error {
	for _, do := range all {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// Digest names several texts by one hash: each is preceded by its length, so that
// none can pass for part of another.
func Digest[T ~string | ~[]byte](parts ...T) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The tables of the ledger account for every record that was read.
const (
	TableAttempts   = "attempts"
	TableVerdicts   = "verdicts"
	TableOutcomes   = "outcomes"
	TableJudgements = "judgements"
	TableLeaks      = "leaks"
	// TablePlaces is of builds alone: only they rank attempts.
	TablePlaces = "places"
)

// Ledger writes the tables but verdicts.
type Ledger struct {
	Attempts   *corpus.Shards[rows.Attempt]
	Outcomes   *corpus.Shards[rows.Outcome]
	Judgements *corpus.Shards[rows.Judgement]
	Leaks      *corpus.Shards[rows.Leak]
}

// NewLedger starts the tables in a part.
func NewLedger(p *corpus.Part) *Ledger {
	return &Ledger{
		Attempts:   NewTable[rows.Attempt](p, TableAttempts),
		Outcomes:   NewTable[rows.Outcome](p, TableOutcomes),
		Judgements: NewTable[rows.Judgement](p, TableJudgements),
		Leaks:      NewTable[rows.Leak](p, TableLeaks),
	}
}

// Close ends the tables.
func (l *Ledger) Close() error {
	return InTurn(l.Attempts.Close, l.Outcomes.Close, l.Judgements.Close, l.Leaks.Close)
}

// NewTable starts one table in a part.
func NewTable[T any](p *corpus.Part, name string) *corpus.Shards[T] {
	return corpus.NewShards[T](p, corpus.Stream{Table: name})
}
