package public

import (
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Closed is what of a corpus nobody outside may see: the problems that its owner
// protects, with their requests, products and titles.
type Closed struct {
	*guard.Exposed
	bank      *guard.State
	withEval  bool
	protected finish.Protected
}

// ReadClosed reads it from the corpus in a folder and from files of held-out problems.
// It refuses a corpus of which what it protects cannot be known.
func ReadClosed(fsys corpus.FS, dir string, heldOut []string) (*Closed, error) {
	source, err := finish.Open(fsys, dir)
	if err != nil {
		return nil, err
	}
	known, err := finish.Gather([]*finish.Source{source}, heldOut)
	if err != nil {
		return nil, err
	}
	return closed(source, known, false, func(*rows.Attempt) {})
}

// closed visits every attempt of the ledger on its way: each names its problem.
func closed(source *finish.Source, known *finish.Known, withEval bool, visit func(*rows.Attempt)) (*Closed, error) {
	c := &Closed{bank: known.Bank, withEval: withEval}
	if known.Bank != nil {
		c.protected = finish.InBank(known.Bank, known.HeldOut)
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
	c.Exposed = guard.NewExposed(entries)
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
