// Package public makes of a corpus what may leave the house: a corpus of its own
// without bank, evaluation and reports, in which nothing protected stands.
package public

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Publication is the public half of a corpus to be made.
type Publication struct {
	// Corpus is the folder of the whole.
	Corpus string
	// WithEval publishes the eval split too, with its problems and their rewards.
	WithEval bool
	// HeldOut are files of problems that may not stand in it beside the bank's own.
	HeldOut []string
	finish.Target
}

// Count is what became of the rows of one config and split.
type Count struct {
	Config string `json:"config"`
	Split  string `json:"split"`
	In     int64  `json:"rows_in"`
	Rows   int64  `json:"rows"`
	// Left counts the rows that stay at home, by reason.
	Left map[string]int64 `json:"left_out"`
}

// The reasons for which rows stay at home.
const (
	reasonLeak  = "leak"            // the guard finds a protected problem in it
	reasonShown = "shows_protected" // a protected request, id or title stands in it, in a tool's result too
)

// ErrFormats says that a folder holds rows in formats of other trainers.
var ErrFormats = errors.New("it holds rows in other formats than a corpus's own")

type work struct {
	*Publication
	source  *finish.Source
	known   *finish.Exclusions
	protect *finish.Protection
	closed  *Closed
	splits  []string
	part    *corpus.Part
	counts  []Count
	figures figures.Figures
	// attempts are those that rows were made of, agents who made them.
	attempts map[string]bool
	agents   map[string]string
}

// Run makes the public corpus, all of it or nothing.
func (p *Publication) Run(ctx context.Context) ([]Count, error) {
	w := &work{Publication: p, splits: []string{corpus.SplitTrain}, attempts: map[string]bool{}, agents: map[string]string{}}
	if p.WithEval {
		w.splits = append(w.splits, corpus.SplitEval)
	}
	err := p.WriteInParts(func(dir string) error {
		if err := w.open(ctx); err != nil {
			return err
		}
		return w.write(ctx, dir)
	})
	return w.counts, err
}

func (w *work) open(ctx context.Context) (err error) {
	if w.source, err = finish.Open(w.FS, w.Corpus); err != nil {
		return err
	}
	for _, f := range w.source.Manifest.Files {
		known := slices.ContainsFunc(profiles, func(p profile) bool { return p.name == f.Profile })
		if f.Config != "" && (path.Ext(f.Path) != ".parquet" || !known || corpus.IsDerived(f.Config)) {
			return fmt.Errorf("publish %s: %w: %s", w.Corpus, ErrFormats, f.Path)
		}
	}
	if err = w.source.Verify(ctx); err != nil {
		return err
	}
	if w.known, err = finish.CollectExclusions([]*finish.Source{w.source}, w.HeldOut); err != nil {
		return err
	}
	w.protect = &finish.Protection{}
	if err = w.guard(); err != nil {
		return err
	}
	if r := w.source.Manifest.Redaction; r != nil {
		w.Redact = redact.New(redact.Options{Hotkeys: r.Hotkeys})
	}
	return nil
}

// guard finds what may not be published: all that is protected, but for the
// evaluation where this is published too.
func (w *work) guard() (err error) {
	w.closed, err = closed(w.source, w.known, w.WithEval, func(a *rows.Attempt) { w.agents[a.TraceID] = a.AgentVersion })
	if err != nil || !w.closed.any() {
		return err
	}
	w.protect, err = finish.NewProtection(w.closed.protected, guard.Config{}, w.known.Bank.Seed)
	return err
}

type profile struct {
	name  string
	write func(ctx context.Context, w *work, profile, split string) error
}

var profiles = []profile{
	{corpus.ProfileHFJSON, writeRows[rows.SFT]}, {corpus.ProfileVerlRL, writeRows[rows.RL]}, {corpus.ProfilePref, writeRows[rows.Pref]},
	{corpus.ProfileKTO, writeRows[rows.KTO]}, {corpus.ProfileStepwise, writeRows[rows.Steps]},
}

func (w *work) write(ctx context.Context, dir string) (err error) {
	if w.part, err = w.NewPart(dir); err != nil {
		return err
	}
	for _, split := range w.splits {
		for _, p := range profiles {
			if err = p.write(ctx, w, p.name, split); err != nil {
				return err
			}
		}
	}
	if len(w.counts) == 0 || !slices.ContainsFunc(w.counts, func(c Count) bool { return c.Rows > 0 }) {
		return choose.ErrEmpty
	}
	if err = finish.FirstError(w.tables, w.part.Close); err != nil {
		return err
	}
	err = w.closed.ScanDir(dir, func(file, what string) {
		w.counts = nil
		err = errors.Join(err, fmt.Errorf("%w: %s in %s", ErrExposed, what, filepath.Base(file)))
	})
	if err != nil {
		return err
	}
	return w.assemble(ctx, dir)
}

// ErrExposed says that something protected would be published.
var ErrExposed = errors.New("something protected would be published")

func (w *work) assemble(ctx context.Context, dir string) error {
	carried, license, err := corpus.SourceSection(w.FS, w.Corpus)
	if err != nil {
		return err
	}
	if what := w.closed.Find(carried.Body); what != "" {
		carried.Body = "Its card is not shown: it names what is protected."
	}
	config := asjson.Bytes(map[string]any{"publish": map[string]any{"corpus": w.source.SHA256, "with_eval": w.WithEval}})
	inputs, given := []corpus.Input{w.source.Input("corpus manifest")}, slices.Clone(w.known.HeldOutDigests)
	for _, f := range w.source.Manifest.Files {
		if f.Path == corpus.BankName {
			inputs = append(inputs, corpus.Input{Kind: corpus.InputBank, SHA256: f.SHA256, Bytes: f.Bytes})
			given = append(given, f.SHA256) // an earlier publication of it is guarded by no more
		}
	}
	return w.Assemble(ctx, &finish.Content{HeldOutDigests: given, Assembly: corpus.Assembly{
		Parts: []string{dir}, Manifest: corpus.Manifest{Configuration: config, ConfigurationSHA256: digest.SHA256(config), Inputs: inputs},
		Card: corpus.Card{
			Title: "Agent trajectories", License: license, Default: w.counts[0].Config, Tags: finish.ShoppingTags,
			Sections: []corpus.Section{w.figures.Section(), w.about(), carried},
		},
	}})
}
