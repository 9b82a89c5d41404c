package finish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
)

// Target is the destination of a corpus, with the settings that all commands have for it.
type Target struct {
	FS  corpus.FS
	Out string
	// Version is the version of the program.
	Version string
	// License is the license on the card, "" if the user named none.
	License string
	// Command is the hash of the command that writes the corpus, empty if unknown.
	Command string
	// Redact removes what must not be published. If it is nil, texts stay as they are.
	Redact *redact.Redactor
}

// Content is the input of Target.Assemble.
type Content struct {
	// Assembly does not have the settings of the target, nor the files of the bank and the
	// reports.
	corpus.Assembly
	// Bank records the split. It is nil if the split is not recorded.
	Bank *guard.State
	// HeldOutDigests identify the held-out files of the run, as in CheckStillExcluded.
	HeldOutDigests []string
	// Reports are written as JSON, Pages unchanged. Both are indexed by their file name in the
	// folder reports.
	Reports map[string]any
	Pages   map[string][]byte
	// Lost counts the rows by what they lack of their traces. Assemble sets it.
	Lost map[string]int64
}

// WriteInParts calls corpus.WithParts for the target. It returns an error without calling write if
// the target's folder may not be replaced.
func (t *Target) WriteInParts(write func(work string) error) error {
	if err := corpus.CheckReplaceable(t.FS, t.Out); err != nil {
		return err
	}
	return corpus.WithParts(t.FS, t.Out, write)
}

// NewPart creates a part of the corpus. The target's redactor is applied to its rows.
func (t *Target) NewPart(dir string) (*corpus.Part, error) {
	part, err := corpus.NewPart(t.FS, dir, corpus.DefaultLimits)
	if err != nil {
		return nil, err
	}
	part.SetRedactor(t.Redact)
	return part, nil
}

// Assemble assembles the corpus with corpus.Assemble. It returns ErrNotProtected if the corpus
// would replace one that protects more problems.
func (t *Target) Assemble(ctx context.Context, c *Content) error {
	if err := CheckStillExcluded(t.FS, t.Out, c.Bank, c.HeldOutDigests); err != nil {
		return err
	}
	a := c.Assembly
	a.Extra = map[string][]byte{}
	a.Redact = t.Redact
	a.Manifest.Pipeline = t.Version
	a.Manifest.CommandSHA256 = t.Command
	a.Card.License = cmp.Or(t.License, c.Card.License)
	sections, lost, err := t.rowSections(c.Parts)
	if err != nil {
		return err
	}
	c.Lost = lost
	a.Card.Sections = slices.Concat(a.Card.Sections, sections)
	if c.Bank != nil {
		if a.Extra[corpus.BankName], err = t.encodeBank(c.Bank); err != nil {
			return err
		}
	}
	for name, page := range c.Pages {
		a.Extra["reports/"+name] = page
	}
	for name, report := range c.Reports {
		if a.Extra["reports/"+name], err = corpus.EncodeReport(report); err != nil {
			return err
		}
	}
	return corpus.Assemble(ctx, t.FS, t.Out, a)
}

// encodeBank returns the content of bank.json, redacted. The texts of a cluster are sorted, each once, as
// guard.ReadState wants them: an earlier bank has a request redacted that the traces have in full, so that
// both become one text.
func (t *Target) encodeBank(bank *guard.State) ([]byte, error) {
	content := bank.Encode()
	if t.Redact == nil {
		return content, nil
	}
	redacted := &guard.State{}
	if err := json.Unmarshal([]byte(t.Redact.Text(string(content), redact.Counts{})), redacted); err != nil {
		return nil, fmt.Errorf("redact %s: %w", corpus.BankName, err)
	}
	for i := range redacted.Clusters {
		c := &redacted.Clusters[i]
		slices.Sort(c.Texts)
		c.Texts = slices.Compact(c.Texts)
	}
	return redacted.Encode(), nil
}

// FirstError calls funcs in order until one fails, and returns its error.
func FirstError(funcs ...func() error) error {
	for _, f := range funcs {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// Digest returns the SHA-256 of several texts. Each text is preceded by its length, so that
// different sequences with the same concatenation have different digests.
func Digest[T ~string | ~[]byte](parts ...T) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The names of the ledger's tables, which account for every record that was read.
const (
	TableAttempts   = "attempts"
	TableVerdicts   = "verdicts"
	TableOutcomes   = "outcomes"
	TableJudgements = "judgements"
	TableLeaks      = "leaks"
	// TablePlaces is written only by builds, since only they rank attempts. Mixtures and
	// publications copy it.
	TablePlaces = "places"
	// TableDeclared is written only if there are attempts of domains whose outcomes are
	// declared.
	TableDeclared = "declared"
)

// Ledger writes the tables of the ledger, except verdicts and places.
type Ledger struct {
	part       *corpus.Part
	attempts   *corpus.Shards[rows.Attempt]
	outcomes   *corpus.Shards[rows.Outcome]
	Judgements *corpus.Shards[rows.Judgement]
	leaks      *corpus.Shards[rows.Leak]
	declared   *corpus.Shards[rows.Declared] // nil if no row was added
}

// NewLedger returns a Ledger that writes its tables to a part.
func NewLedger(p *corpus.Part) *Ledger {
	return &Ledger{
		part:       p,
		attempts:   NewTable[rows.Attempt](p, TableAttempts),
		outcomes:   NewTable[rows.Outcome](p, TableOutcomes),
		Judgements: NewTable[rows.Judgement](p, TableJudgements),
		leaks:      NewTable[rows.Leak](p, TableLeaks),
	}
}

// Add writes the rows on one record, except those on judgements. Each but the first may be nil.
func (l *Ledger) Add(a *rows.Attempt, o *rows.Outcome, leak *rows.Leak, d *rows.Declared) error {
	err := l.attempts.Add(a)
	if err == nil && o != nil {
		err = l.outcomes.Add(o)
	}
	if err == nil && leak != nil {
		err = l.leaks.Add(leak)
	}
	if err != nil || d == nil {
		return err
	}
	if l.declared == nil {
		l.declared = NewTable[rows.Declared](l.part, TableDeclared)
	}
	return l.declared.Add(d)
}

// Close closes the tables.
func (l *Ledger) Close() error {
	err := FirstError(l.attempts.Close, l.outcomes.Close, l.Judgements.Close, l.leaks.Close)
	if err != nil || l.declared == nil {
		return err
	}
	return l.declared.Close()
}

// NewTable returns a writer of one table of a part.
func NewTable[T any](p *corpus.Part, name string) *corpus.Shards[T] {
	return corpus.NewShards[T](p, corpus.Stream{Table: name})
}
