package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
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
	// CutFiles are the paths of inputs that ended early, Collisions counts attempts
	// whose id belongs to another one, of other content.
	CutFiles   []string
	Collisions int64
	// Top is how many attempts at one problem may become rows; 0 where none was
	// left out for it.
	Top int
	// Withdrawn counts the attempts that earlier versions of the corpus train on and
	// that are protected now.
	Withdrawn int
	// NotRun says why a tier of the guard that was asked for did not run to its
	// end; empty where all did.
	NotRun string
	// Lifted says which probes raise the judge's grades too often; empty where
	// none does.
	Lifted string
}

// write makes the units of the shard that are not there already, and the
// corpus once all units are.
func (s *session) write(ctx context.Context, only Shard) (*Summary, error) {
	p, err := s.loadPlan()
	if err != nil {
		return nil, err
	}
	if err = s.worthWriting(p); err != nil {
		return s.summary(p), err
	}
	var mine []unit
	for i, u := range p.Units {
		if only.has(i) {
			mine = append(mine, u)
		}
	}
	var made *reports.Set // by whoever writes the ledger
	done := progress{s: s, stage: "write", total: len(mine)}
	err = inorder.Each(ctx, s.Config.Workers, len(mine), func(ctx context.Context, i int) error {
		defer done.tell(0, "")
		r, failed := s.writeUnit(ctx, p, mine[i])
		if r != nil {
			made = r
		}
		return failed
	})
	if err != nil {
		return nil, err
	}
	return s.assemble(ctx, p, made)
}

func (s *session) summary(p *plan) *Summary {
	out := &Summary{Funnel: p.Funnel, Rows: map[string]int64{}, Collisions: p.Funnel[0].Dropped[reasonCollision]}
	if slices.ContainsFunc(p.Funnel, func(st corpus.Stage) bool { return st.Dropped[reasonTop] > 0 }) {
		out.Top = s.Config.Select.Top
	}
	out.CutFiles = slicesx.Map(p.Cut, func(at [2]int) string { return s.inputs[at[0]].files[at[1]].Title() })
	return out
}

// worthWriting refuses a corpus that would be empty, of a day that could not be
// read, or whose judge answered too rarely.
func (s *session) worthWriting(p *plan) error {
	if s.Sources.Draft {
		return nil
	}
	if err := p.Read.CheckShare(s.Config.MaxUnreadable); err != nil && p.Funnel[0].Out > 0 {
		return err
	}
	for _, a := range []struct {
		what        string
		asked, none int
	}{{"scores", p.Judged, p.Unscored}, {"verdicts on steps", p.StepsJudged, p.StepsUnscored}} {
		if float64(a.none) > s.Config.MaxUnscored*float64(a.asked) {
			return fmt.Errorf("%w: %s: %d of %d, at most %.2g %% are allowed", ErrUnscored, a.what, a.none, a.asked, 100*s.Config.MaxUnscored)
		}
	}
	if p.Funnel[len(p.Funnel)-1].Out == 0 {
		return choose.ErrEmpty
	}
	return nil
}

func (s *session) partDir(p *plan, u unit) string {
	return filepath.Join(s.Work, partsFolder, p.folder(), u.name())
}

// writeUnit makes a unit that is not there, and gives the reports where it is the ledger.
func (s *session) writeUnit(ctx context.Context, p *plan, u unit) (*reports.Set, error) {
	dir := s.partDir(p, u)
	written := func() (bool, error) {
		_, err := corpus.ReadPart(s.FS, dir)
		return err == nil, nil
	}
	if done, _ := written(); done {
		return nil, nil
	}
	made := filepath.Join(s.desk.dir, u.name())
	part, err := corpus.NewPart(s.FS, made, corpus.DefaultLimits)
	if err != nil {
		return nil, err
	}
	part.Redact(s.redactor)
	w := unitWriter{session: s, plan: p, unit: u, part: part, dir: made, weights: weights{s.Config.Multiplier, p.Runs, p.Framed}}
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	if err := part.Close(); err != nil {
		return nil, err
	}
	return w.reports, s.desk.install(ctx, made, dir, written)
}

// assemble puts the corpus together if every part is there; the summary is nil
// if another process still writes one. The reports are made here where they are nil.
func (s *session) assemble(ctx context.Context, p *plan, made *reports.Set) (*Summary, error) {
	parts := make([]string, len(p.Units))
	summary := s.summary(p)
	summary.NotRun = s.protect.NotRun
	for i, u := range p.Units {
		parts[i] = s.partDir(p, u)
		files, err := corpus.ReadPart(s.FS, parts[i])
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
	release, err := corpus.Turn(ctx, s.Out)
	if err != nil {
		return nil, err
	}
	defer release()
	if made == nil {
		if made, err = s.account(ctx, p, func(ref, *block.Entry, choose.Fate) error { return nil }); err != nil {
			return nil, err
		}
	}
	summary.Lifted = made.Judges.Lifted()
	c, err := s.content(p, parts, made, summary)
	if err != nil {
		return nil, err
	}
	to := finish.Target{FS: s.FS, Out: s.Out, Version: s.Version, License: s.License, Redact: s.redactor}
	err = to.Assemble(ctx, c)
	if errors.Is(err, corpus.ErrPart) { // they are to be written again
		err = errors.Join(err, s.FS.RemoveAll(filepath.Join(s.Work, partsFolder, p.folder())))
	}
	return summary, err
}
