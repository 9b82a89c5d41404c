package public

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

func writeRows[T any](ctx context.Context, w *work, profile, split string) error {
	config := ""
	for _, f := range w.source.Manifest.Files {
		if f.Profile == profile && f.Split == split {
			config = f.Config
		}
	}
	if config == "" {
		return nil
	}
	out := corpus.NewShards[T](w.part, corpus.Stream{Config: config, Profile: profile, Split: split})
	count := Count{Config: config, Split: split, Left: map[string]int64{}}
	err := finish.Rows(w.source, profile, split, func(row *T) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		count.In++
		s, err := finish.ViewRow(row)
		if err != nil {
			return err
		}
		if reason := w.secret(split, row, &s); reason != "" {
			count.Left[reason]++
			return nil
		}
		count.Rows++
		for _, session := range s.Sessions {
			w.attempts[strings.Clone(session)] = true // a row's texts live as long as its batch
			s.Figures.Agent = cmp.Or(s.Figures.Agent, w.agents[session])
		}
		w.figures.Add(config, split, s.Figures)
		return out.Add(row)
	})
	w.counts = append(w.counts, count)
	if err != nil {
		return err
	}
	return out.Close()
}

// secret says why a row stays at home; empty where it need not.
func (w *work) secret(split string, row any, s *finish.RowView) string {
	pool := guard.Pool("")
	if w.known.Bank != nil {
		pool = w.known.Bank.Pool(s.Cluster)
	}
	if pool != "" && pool != guard.Pool(split) || w.protect.Check(split, s.Candidate).Drop {
		return reasonLeak
	}
	if w.shows(row) {
		return reasonShown
	}
	return ""
}

func (w *work) tables() error {
	return finish.FirstError(
		func() error { return ofRows[rows.Attempt](w, finish.TableAttempts) },
		func() error { return ofRows[rows.Verdict](w, finish.TableVerdicts) },
		func() error { return ofRows[rows.Outcome](w, finish.TableOutcomes) },
		func() error { return ofRows[rows.Judgement](w, finish.TableJudgements) },
		finish.NewTable[rows.Leak](w.part, finish.TableLeaks).Close, // what is near a protected text names it
	)
}

// ofRows writes what a table has of the published attempts, but for lines in which
// something protected stands.
func ofRows[T any](w *work, table string) error {
	out := finish.NewTable[T](w.part, table)
	err := finish.Table(w.source, table, func(row *T) error {
		if !w.attempts[rows.ID(row)] || w.shows(row) {
			return nil
		}
		return out.Add(row)
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// shows reports whether something protected stands in a row; what cannot be read is not
// published.
func (w *work) shows(row any) bool {
	text, err := json.Marshal(row)
	return err != nil || w.closed.Find(string(text)) != ""
}

func (w *work) about() corpus.Section {
	eval := "The problems that students are evaluated on are not in it."
	if w.WithEval {
		eval = "The eval split is published with its rewards: whoever trains on this corpus must not evaluate on that."
	}
	return corpus.Section{Heading: "What this is", Body: "The public half of a corpus: what its owner protects stays at home, and with it the bank, the reports and the ledger of other attempts. " + eval +
		" No row asks for a protected problem, and none shows its request, product or title, in results of tools either; manifest.json names the bank by its sha256.\n\n" +
		corpus.Table("config | split | rows of the whole: | rows here: | left out", w.counts, func(c Count) string {
			return fmt.Sprintf("%s | %s | %d | %d | %s", c.Config, c.Split, c.In, c.Rows, corpus.FormatCounts(c.Left))
		})}
}

// Closed is what of a corpus nobody outside may see: the problems that its owner
// protects, with their requests, products and titles.
type Closed struct {
	*guard.Scanner
	bank      *guard.State
	withEval  bool
	protected finish.ProtectedEntries
}

// ReadClosed reads it from the corpus in a folder and from files of held-out problems.
// It refuses a corpus of which what it protects cannot be known.
func ReadClosed(fsys corpus.FS, dir string, heldOut []string) (*Closed, error) {
	source, err := finish.Open(fsys, dir)
	if err != nil {
		return nil, err
	}
	known, err := finish.CollectExclusions([]*finish.Source{source}, heldOut)
	if err != nil {
		return nil, err
	}
	return closed(source, known, false, func(*rows.Attempt) {})
}

// closed visits every attempt of the ledger on its way: each names its problem.
func closed(source *finish.Source, known *finish.Exclusions, withEval bool, visit func(*rows.Attempt)) (*Closed, error) {
	c := &Closed{bank: known.Bank, withEval: withEval}
	if known.Bank != nil {
		c.protected = finish.ProtectedInBank(known.Bank, known.HeldOut)
	}
	if withEval {
		c.protected.Eval = nil
	}
	entries, seen := slices.Concat(c.protected.HeldOut, c.protected.NeverTouch, c.protected.Eval), map[string]bool{}
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

// Holds reports whether the problems of a cluster are protected.
func (c *Closed) Holds(cluster string) bool {
	if c.bank == nil {
		return false
	}
	pool := c.bank.Pool(cluster)
	return pool != guard.PoolTrain && pool != "" && (pool != guard.PoolEval || !c.withEval)
}

func (c *Closed) any() bool {
	return len(c.protected.HeldOut)+len(c.protected.NeverTouch)+len(c.protected.Eval) > 0
}
