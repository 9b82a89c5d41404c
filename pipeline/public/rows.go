package public

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// writeRows writes the rows of a profile (row format) and split that may be published. It counts
// all other rows by the reason.
func writeRows[T any](
	ctx context.Context,
	w *work,
	profile, split string,
) error {
	config := ""
	for _, f := range w.source.Manifest.Files {
		if f.Profile == profile && f.Split == split {
			config = f.Config
		}
	}
	if config == "" {
		return nil
	}
	out := corpus.NewShards[T](w.part, corpus.Stream{
		Config:  config,
		Profile: profile,
		Split:   split,
	})
	count := Count{
		Config: config,
		Split:  split,
		Left:   map[string]int64{},
	}
	err := finish.Rows(w.source, profile, split, func(row *T) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		count.In++
		view, err := finish.ViewRow(row)
		if err != nil {
			return err
		}
		if reason := w.secretReason(split, row, &view); reason != "" {
			count.Left[reason]++
			return nil
		}
		count.Rows++
		for _, session := range view.Sessions {
			w.attempts[strings.Clone(session)] = true // a row's texts are valid only during its batch
			view.Figures.Agent = cmp.Or(view.Figures.Agent, w.agents[session])
		}
		w.figures.Add(config, split, view.Figures)
		return out.Add(row)
	})
	w.counts = append(w.counts, count)
	if err != nil {
		return err
	}
	return out.Close()
}

// secretReason returns the reason why a row must not be published, "" if there is none.
func (w *work) secretReason(
	split string,
	row any,
	view *finish.RowView,
) string {
	pool := guard.Pool("")
	if w.exclusions.Bank != nil {
		pool = w.exclusions.Bank.Pool(view.Cluster)
	}
	isOtherPool := pool != "" && pool != guard.Pool(split)
	if isOtherPool || w.protection.Check(split, view.Candidate).Drop {
		return reasonLeak
	}
	if w.isExposed(row) {
		return reasonShown
	}
	return ""
}

func (w *work) writeTables() error {
	return finish.FirstError(
		func() error { return writeTable[rows.Attempt](w, finish.TableAttempts) },
		func() error { return writeTable[rows.Verdict](w, finish.TableVerdicts) },
		func() error { return writeTable[rows.Outcome](w, finish.TableOutcomes) },
		func() error { return writeTable[rows.Judgement](w, finish.TableJudgements) },
		func() error { return writeOptional[rows.Place](w, finish.TablePlaces) },
		func() error { return writeOptional[rows.Declared](w, finish.TableDeclared) },
		finish.NewTable[rows.Leak](w.part, finish.TableLeaks).Close, // empty: its rows name protected problems
	)
}

// writeTable writes those rows of a table that are about published attempts and contain nothing
// protected.
func writeTable[T any](w *work, table string) error {
	out := finish.NewTable[T](w.part, table)
	err := finish.Table(w.source, table, func(row *T) error {
		if !w.attempts[rows.ID(row)] || w.isExposed(row) {
			return nil
		}
		return out.Add(row)
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// writeOptional writes a table as writeTable does if the source has it.
func writeOptional[T any](w *work, table string) error {
	if !w.source.HasTable(table) {
		return nil
	}
	return writeTable[T](w, table)
}

// isExposed reports whether a value of a row contains a protected request, id or title.
func (w *work) isExposed(row any) bool {
	columns := shard.ColumnsOf(reflect.TypeOf(row).Elem())
	columns.Load(row)
	for _, values := range columns.Values {
		for _, v := range values {
			if w.closed.Find(v.String()) != "" {
				return true
			}
		}
	}
	return false
}

func (w *work) about() corpus.Section {
	eval := "It does not contain the problems on which students are evaluated."
	if w.WithEval {
		eval = "The eval split is published with its rewards: whoever trains on this corpus must not evaluate on that split."
	}
	return corpus.Section{Heading: "What this is", Body: "This is the public part of a corpus. It does not contain the owner's protected problems, the bank, the reports, or the ledger of other attempts. " + eval +
		" No row asks for a protected problem, and none shows its request, id or title, in results of tools either; manifest.json names the bank by its sha256.\n\n" +
		corpus.Table("config | split | rows of the whole: | rows here: | left out", w.counts, func(c Count) string {
			return fmt.Sprintf(
				"%s | %s | %d | %d | %s",
				c.Config,
				c.Split,
				c.In,
				c.Rows,
				corpus.FormatCounts(c.Left),
			)
		})}
}

// Closed finds what of a corpus may not be published: the protected problems with their
// requests, ids and titles.
type Closed struct {
	*guard.Scanner
	bank      *guard.State
	withEval  bool
	protected finish.ProtectedEntries
	// requests finds the protected requests alone, guard also rewordings of them. guard is nil if
	// nothing is protected.
	requests *guard.Scanner
	guard    *guard.Guard
}

// ReadClosed reads the protected problems of the corpus in dir and of held-out files. It returns
// an error if the problems that the corpus protects are unknown.
func ReadClosed(
	fsys corpus.FS,
	dir string,
	heldOut []string,
) (*Closed, error) {
	source, err := finish.Open(fsys, dir)
	if err != nil {
		return nil, err
	}
	exclusions, err := finish.CollectExclusions([]*finish.Source{source}, heldOut)
	if err != nil {
		return nil, err
	}
	return newClosed(source, exclusions, false, func(*rows.Attempt) {})
}

// newClosed collects what must not be published: the requests, titles and IDs of protected
// problems, including IDs that only the table attempts has. It calls visit for every row of that
// table. If withEval is set, the eval split is published, so that its problems do not count as
// protected.
func newClosed(
	source *finish.Source,
	exclusions *finish.Exclusions,
	withEval bool,
	visit func(*rows.Attempt),
) (*Closed, error) {
	c := &Closed{bank: exclusions.Bank, withEval: withEval}
	if exclusions.Bank != nil {
		c.protected = finish.ProtectedInBank(exclusions.Bank, exclusions.HeldOut)
	}
	if withEval {
		c.protected.Eval = nil
	}
	entries := slices.Concat(c.protected.HeldOut, c.protected.NeverTouch, c.protected.Eval)
	if err := c.setRequests(entries); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	err := finish.Table(source, finish.TableAttempts, func(a *rows.Attempt) error {
		visit(a)
		if c.Holds(a.Cluster) && !seen[a.ProblemID] {
			seen[a.ProblemID] = true
			entries = append(entries, guard.Entry{ID: a.ProblemID})
		}
		return nil
	})
	c.Scanner = guard.NewScanner(entries)
	return c, err
}

// setRequests builds the index with which the requests of entries are found in texts.
func (c *Closed) setRequests(entries []guard.Entry) (err error) {
	var requests []guard.Entry
	for _, e := range entries {
		if e.Text != "" {
			e.ItemIDs = nil // that a text names an item does not show what it asks for
			e.Titles = nil
			requests = append(requests, e)
		}
	}
	c.requests = guard.NewScanner(requests)
	if len(requests) > 0 {
		c.guard, err = guard.New(requests, guard.Config{})
	}
	return err
}

// Asks reports whether text quotes a protected request, or one of the other texts asks for the same
// in other words.
func (c *Closed) Asks(text string, others []string) bool {
	return c.requests.Find(text) != "" || c.guard != nil && c.guard.Check(guard.Candidate{Context: others}).Drop
}

// Holds reports whether the problems of a cluster are protected.
func (c *Closed) Holds(cluster string) bool {
	if c.bank == nil {
		return false
	}
	switch c.bank.Pool(cluster) {
	case guard.PoolTrain, "":
		return false
	case guard.PoolEval:
		return !c.withEval
	case guard.PoolHeldOut, guard.PoolNeverTouch:
	}
	return true
}

func (c *Closed) isEmpty() bool {
	return len(c.protected.HeldOut)+len(c.protected.NeverTouch)+len(c.protected.Eval) == 0
}
