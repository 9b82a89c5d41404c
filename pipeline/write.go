package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/trajectory-arena/arena/corpus"
)

// Summary is what a finished build says of its corpus.
type Summary struct {
	Funnel []corpus.Stage
	// Rows counts by config and split, such as "sft/train".
	Rows map[string]int64
	// Lost counts the rows of an import by what of their trace they lack.
	Lost map[string]int64
	// Refused counts the records of an import that name a format which is not
	// read, by what they name.
	Refused map[string]int64
}

// write makes the units of the shard that are not there already, and the
// corpus once all units are.
func (o *opened) write(ctx context.Context, s Shard) (*Summary, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p, err := o.loadPlan()
	if err != nil {
		return nil, err
	}
	if err = o.worthWriting(p); err != nil {
		return &Summary{Funnel: p.Funnel}, err
	}
	var mine []unit
	for i, u := range p.Units {
		if s.has(i) {
			mine = append(mine, u)
		}
	}
	done := progress{o: o, stage: "write", total: len(mine)}
	err = each(ctx, o.Config.Workers, len(mine), none, func(ctx context.Context, _ struct{}, i int) error {
		defer done.tell(0, "")
		return o.writeUnit(ctx, p, mine[i])
	})
	if err != nil {
		return nil, err
	}
	return o.assemble(ctx, p)
}

// worthWriting refuses a corpus that would be empty, or whose judge answered
// too rarely.
func (o *opened) worthWriting(p *plan) error {
	for _, a := range []struct {
		what        string
		asked, none int
	}{{"scores", p.Judged, p.Unscored}, {"verdicts on steps", p.StepsJudged, p.StepsUnscored}} {
		if float64(a.none) > o.Config.MaxUnscored*float64(a.asked) {
			return fmt.Errorf("%w: %s: %d of %d, at most %.2g %% are allowed", ErrUnscored, a.what, a.none, a.asked, 100*o.Config.MaxUnscored)
		}
	}
	if p.Funnel[len(p.Funnel)-1].Out == 0 {
		return ErrEmpty
	}
	return nil
}

func (o *opened) partDir(p *plan, u unit) string {
	return filepath.Join(o.Work, partsFolder, p.folder(), u.name())
}

// writeUnit writes one part, unless an earlier run finished it.
func (o *opened) writeUnit(ctx context.Context, p *plan, u unit) error {
	dir := o.partDir(p, u)
	if _, err := corpus.ReadPart(o.FS, dir); err == nil {
		return nil
	}
	part, err := corpus.NewPart(o.FS, dir, corpus.DefaultLimits)
	if err != nil {
		return err
	}
	part.Redact(o.redactor)
	w := unitWriter{opened: o, plan: p, unit: u, part: part, weights: weights{o.Config.Multiplier, p.Runs}}
	if err := w.write(ctx); err != nil {
		return err
	}
	return part.Close()
}

// lockEvery is how long a process waits before it looks again if another one
// still assembles: that takes seconds.
const lockEvery = 100 * time.Millisecond

// assemble puts the corpus together if every part is there; the summary is nil
// if another process still writes one.
func (o *opened) assemble(ctx context.Context, p *plan) (*Summary, error) {
	parts := make([]string, len(p.Units))
	summary := &Summary{Funnel: p.Funnel, Rows: map[string]int64{}}
	for i, u := range p.Units {
		parts[i] = o.partDir(p, u)
		files, err := corpus.ReadPart(o.FS, parts[i])
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.Config != "" {
				summary.Rows[f.Config+"/"+f.Split] += f.Rows
			}
		}
	}
	lock := flock.New(filepath.Join(o.Work, "assemble.lock"))
	if _, err := lock.TryLockContext(ctx, lockEvery); err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { _ = lock.Unlock() }() // a lock ends with its process at the latest
	a, err := o.assembly(ctx, p, parts)
	if err != nil {
		return nil, err
	}
	err = corpus.Assemble(ctx, o.FS, o.Out, *a)
	if errors.Is(err, corpus.ErrPart) { // the next run writes them again
		err = errors.Join(err, o.FS.RemoveAll(filepath.Join(o.Work, partsFolder, p.folder())))
	}
	return summary, err
}
