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
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// Summary is the summary of a finished build or import for people.
type Summary struct {
	Funnel []corpus.Stage
	// Domains counts the attempts by domain, Models by the model that their source names.
	Domains map[string]int64
	Models  map[string]int64
	// Warnings say what a user should know of the outcomes that the sources state.
	Warnings []string
	// Unread says of the first records that could not be read where they are and why.
	Unread []string
	// Rows counts rows by config and split, such as "sft/train".
	Rows map[string]int64
	// Lost counts the rows of config sft by what they lack of their trace.
	Lost map[string]int64
	// Refused counts the records in unsupported formats, by the name of the format.
	Refused map[string]int64
	// CutFiles are the paths of inputs that ended early.
	CutFiles []string
	// Collisions counts attempts with the ID of another attempt of other content.
	Collisions int64
	// Failed is the number of rows of an import whose source calls the attempt unsolved.
	Failed int64
	// Top is the maximum number of rows at one problem, 0 if it left out none.
	Top int
	// Alike counts the attempts that the guard dropped for a likeness in words and, with
	// guard.same_only, would keep if they ask for something else.
	Alike int64
	// Withdrawn counts the attempts that earlier versions of the corpus train on and that
	// are protected now.
	Withdrawn int
	// NotRun is the reason why a requested tier of the guard did not run to its end, empty
	// if all did.
	NotRun string
	// Predicts says in one line what the grades say of the outcomes, empty if there are no grades.
	Predicts string
	// Lifted describes the probes that raise the judge's grades too often, empty if none
	// does.
	Lifted string
}

// write writes those units (shares of the corpus) that belong to this process's shard and do not
// exist yet. If all units of the corpus exist then, it assembles the corpus and returns the
// summary; otherwise the summary is nil. If too many records are unusable, it writes nothing and
// returns a summary and an error.
func (s *session) write(ctx context.Context, shard Shard) (*Summary, error) {
	p, err := s.loadPlan()
	if err != nil {
		return nil, err
	}
	if err = s.checkUsable(p); err != nil {
		return s.summary(p), err
	}
	var units []unit
	for i, u := range p.Units {
		if shard.has(i) {
			units = append(units, u)
		}
	}
	var set *reports.Set // set by the worker that writes the ledger
	done := progress{session: s, stage: "write", total: len(units)}
	err = inorder.Each(ctx, s.Config.Workers, len(units), func(ctx context.Context, i int) error {
		defer done.report(0, "")
		unitReports, writeErr := s.writeUnit(ctx, p, units[i])
		if unitReports != nil {
			set = unitReports
		}
		return writeErr
	})
	if err != nil {
		return nil, err
	}
	return s.assemble(ctx, p, set)
}

// catalogWarnings returns what a user should know of the catalogue before trusting the outcomes.
func (s *session) catalogWarnings() []string {
	missing := outcome.Missing(s.day.Problems.All, &s.day.Catalog)
	if missing == "" || s.Config.Recorded {
		return nil
	}
	return []string{missing}
}

func (s *session) summary(p *plan) *Summary {
	out := &Summary{
		Funnel:     p.Funnel,
		Domains:    map[string]int64{},
		Rows:       map[string]int64{},
		Refused:    p.Refused,
		Collisions: p.Collisions,
		Warnings:   s.catalogWarnings(),
		CutFiles: slicesx.Map(p.Cut, func(cut [2]int) string {
			return s.inputs[cut[0]].files[cut[1]].Title()
		}),
	}
	all := &reports.Stated{}
	for _, name := range slicesx.SortedKeys(p.Domains) {
		out.Domains[name] = p.Domains[name].Attempts
		out.Warnings = append(out.Warnings, p.Domains[name].Warnings(s.domains[name].Domain)...)
		all.Merge(p.Domains[name])
	}
	out.Models = all.Models
	for _, r := range p.Unread {
		place := s.inputs[r.Input].files[r.File].Title()
		if r.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, r.Line)
		}
		out.Unread = append(out.Unread, text.Line(place+": "+r.Reason+": "+r.Detail))
	}
	if slices.ContainsFunc(p.Funnel, func(st corpus.Stage) bool { return st.Dropped[reasonTop] > 0 }) {
		out.Top = s.Config.Select.Top
	}
	for _, st := range p.Funnel {
		if !s.Config.Guard.SameOnly {
			out.Alike += st.Dropped["leak_lexical"] + st.Dropped["leak_ngram"]
		}
	}
	return out
}

// checkUsable returns an error if a corpus should not be written: too many records were unreadable,
// a judge failed to answer on too many attempts, or no record became a row of sft. It checks
// nothing for a draft, a corpus that is only to be looked at.
func (s *session) checkUsable(p *plan) error {
	if s.Sources.Draft {
		return nil
	}
	if p.Funnel[0].Out > 0 {
		if err := p.Read.CheckShare(s.Config.MaxUnreadable); err != nil {
			return err
		}
	}
	if err := s.checkAnswers("scores", p.Judged, p.Unscored); err != nil {
		return err
	}
	if err := s.checkAnswers("verdicts on steps", p.StepsJudged, p.StepsUnscored); err != nil {
		return err
	}
	if p.Funnel[len(p.Funnel)-1].Out == 0 {
		return choose.ErrEmpty
	}
	return nil
}

// checkAnswers returns ErrUnscored if a judge failed to answer on too many attempts: more than the
// configured share (MaxUnscored) of those that it was asked about. kind names the missing answers
// in the error.
func (s *session) checkAnswers(kind string, asked, unanswered int) error {
	if float64(unanswered) <= s.Config.MaxUnscored*float64(asked) {
		return nil
	}
	return fmt.Errorf("%w: %s: %d of %d, at most %.2g %% are allowed", ErrUnscored, kind, unanswered, asked, 100*s.Config.MaxUnscored)
}

func (s *session) partDir(p *plan, u unit) string {
	return filepath.Join(s.Work, partsFolder, p.folder(), u.name())
}

// writeUnit writes a unit (the share of the corpus of one worker) unless its files exist. The unit
// with the ledger (the tables with a row on every attempt) also computes the reports of the corpus,
// which writeUnit then returns. For any other unit, and if the files exist, it returns nil.
func (s *session) writeUnit(
	ctx context.Context,
	p *plan,
	u unit,
) (*reports.Set, error) {
	dir := s.partDir(p, u)
	exists := func() (bool, error) {
		_, err := corpus.ReadPart(s.FS, dir)
		return err == nil, nil
	}
	if ok, _ := exists(); ok {
		return nil, nil
	}
	r, err := s.openPlan()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err = r.Read(u.Line, &u.unitContent); err != nil {
		return nil, err
	}
	staged := filepath.Join(s.staging.Dir, u.name())
	part, err := corpus.NewPart(s.FS, staged, corpus.DefaultLimits)
	if err != nil {
		return nil, err
	}
	part.SetRedactor(s.redactor)
	w := unitWriter{
		session: s,
		plan:    p,
		lines:   r,
		unit:    u,
		part:    part,
		dir:     staged,
		weights: s.weights(p.Runs, p.Flags),
	}
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	if err := part.Close(); err != nil {
		return nil, err
	}
	return w.reports, s.staging.Install(ctx, staged, dir, exists)
}

// assemble writes the corpus from the files that all workers wrote. It returns nil if another
// process has not written its files yet. set has the reports of the corpus; if it is nil, they are
// made.
func (s *session) assemble(
	ctx context.Context,
	p *plan,
	set *reports.Set,
) (*Summary, error) {
	summary := s.summary(p)
	summary.NotRun = s.protection.NotRun
	parts, err := s.readParts(p, summary)
	if err != nil || parts == nil {
		return nil, err
	}
	release, err := corpus.LockAssembly(ctx, s.Out)
	if err != nil {
		return nil, err
	}
	defer release()
	if set == nil {
		r, openErr := s.openPlan()
		if openErr != nil {
			return nil, openErr
		}
		defer r.Close()
		set, err = s.makeReports(ctx, p, r, func(*block.Entry, choose.Decision) error {
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	summary.Lifted = set.Judges.Lifted()
	summary.Predicts = set.Judges.Predicts.Line()
	c, err := s.content(p, parts, set, summary)
	if err != nil {
		return nil, err
	}
	target := finish.Target{
		FS:      s.FS,
		Out:     s.Out,
		Version: s.Version,
		License: s.License,
		Redact:  s.redactor,
	}
	err = target.Assemble(ctx, c)
	summary.Lost = c.Lost
	if errors.Is(err, corpus.ErrDamagedPart) { // remove the parts so that they are written again
		err = errors.Join(err, s.FS.RemoveAll(filepath.Join(s.Work, partsFolder, p.folder())))
	}
	return summary, err
}

// readParts returns the folders of data files of all units (shares of the corpus) in the order of
// the plan, and adds their numbers of rows to summary.Rows. It returns nil if one is not written
// yet.
func (s *session) readParts(p *plan, summary *Summary) ([]string, error) {
	parts := make([]string, len(p.Units))
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
	return parts, nil
}
