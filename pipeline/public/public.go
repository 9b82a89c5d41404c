// Package public writes the public half of a corpus, which contains nothing protected. It has no
// bank, no reports and, unless it is requested, no eval split.
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

// Publication is the configuration of the public half of a corpus.
type Publication struct {
	// Corpus is the folder of the complete corpus.
	Corpus string
	// WithEval reports whether the eval split is published too, with its problems and their
	// rewards.
	WithEval bool
	// HeldOut are the paths of files of problems that must not be published, in addition to
	// those in the bank.
	HeldOut []string
	finish.Target
}

// Count is the number of rows of one config and split.
type Count struct {
	Config string `json:"config"`
	Split  string `json:"split"`
	In     int64  `json:"rows_in"`
	Rows   int64  `json:"rows"`
	// Left counts the rows that are not published, by reason.
	Left map[string]int64 `json:"left_out"`
}

// The codes of the reasons for which a row is not published.
const (
	reasonLeak  = "leak"            // the guard finds a protected problem in it
	reasonShown = "shows_protected" // it contains a protected request, ID or title, perhaps in a tool's result
)

// ErrFormats is returned if the folder contains rows in formats of trainers.
var ErrFormats = errors.New("it holds rows in other formats than a corpus's own")

type work struct {
	*Publication
	source     *finish.Source
	exclusions *finish.Exclusions
	protection *finish.Protection
	closed     *Closed
	splits     []string
	part       *corpus.Part
	counts     []Count
	figures    figures.Figures
	// attempts has the trace IDs of the published rows.
	attempts map[string]bool
	// agents maps the trace ID of an attempt to its agent.
	agents map[string]string
}

// Run writes the complete public corpus, or nothing. It returns the numbers of its rows.
func (p *Publication) Run(ctx context.Context) ([]Count, error) {
	w := &work{
		Publication: p,
		splits:      []string{corpus.SplitTrain},
		attempts:    map[string]bool{},
		agents:      map[string]string{},
	}
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
		hasProfile := slices.ContainsFunc(profiles, func(p profile) bool {
			return p.name == f.Profile
		})
		isOwnFormat := hasProfile && path.Ext(f.Path) == ".parquet" && !corpus.IsDerived(f.Config)
		if f.Config != "" && !isOwnFormat {
			return fmt.Errorf("publish %s: %w: %s", w.Corpus, ErrFormats, f.Path)
		}
	}
	if err = w.source.Verify(ctx); err != nil {
		return err
	}
	if w.exclusions, err = finish.CollectExclusions([]*finish.Source{w.source}, w.HeldOut); err != nil {
		return err
	}
	w.protection = &finish.Protection{}
	if err = w.openGuards(); err != nil {
		return err
	}
	if r := w.source.Manifest.Redaction; r != nil {
		w.Redact = redact.New(redact.Options{Hotkeys: r.Hotkeys})
	}
	return nil
}

// openGuards creates the guards that find everything that must not be published: all protected
// problems, or all except those of the eval split if the eval split is published too.
func (w *work) openGuards() (err error) {
	addAgent := func(a *rows.Attempt) {
		w.agents[a.TraceID] = a.AgentVersion
	}
	w.closed, err = newClosed(w.source, w.exclusions, w.WithEval, addAgent)
	if err != nil || w.closed.isEmpty() {
		return err
	}
	w.protection, err = finish.NewProtection(
		w.closed.protected,
		guard.Config{},
		w.exclusions.Bank.Seed,
	)
	return err
}

type profile struct {
	name  string
	write func(ctx context.Context, w *work, profile, split string) error
}

var profiles = []profile{
	{corpus.ProfileHFJSON, writeRows[rows.SFT]},
	{corpus.ProfileVerlRL, writeRows[rows.RL]},
	{corpus.ProfilePref, writeRows[rows.Pref]},
	{corpus.ProfileKTO, writeRows[rows.KTO]},
	{corpus.ProfileStepwise, writeRows[rows.Steps]},
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
	if !slices.ContainsFunc(w.counts, func(c Count) bool { return c.Rows > 0 }) {
		return choose.ErrEmpty
	}
	if err = finish.FirstError(w.writeTables, w.part.Close); err != nil {
		return err
	}
	err = w.closed.ScanDir(dir, func(file, what string) {
		w.counts = nil
		err = errors.Join(err, fmt.Errorf(
			"%w: %s in %s",
			ErrExposed,
			what,
			filepath.Base(file),
		))
	})
	if err != nil {
		return err
	}
	return w.assemble(ctx, dir)
}

// ErrExposed is returned if something protected would be published.
var ErrExposed = errors.New("something protected would be published")

func (w *work) assemble(ctx context.Context, dir string) error {
	carried, license, err := corpus.SourceSection(w.FS, w.Corpus)
	if err != nil {
		return err
	}
	if what := w.closed.Find(carried.Body); what != "" {
		carried.Body = "Its card is not shown, because it names protected problems."
	}
	config := asjson.Bytes(map[string]any{"publish": map[string]any{"corpus": w.source.SHA256, "with_eval": w.WithEval}})
	inputs := []corpus.Input{w.source.Input("corpus manifest")}
	digests := slices.Clone(w.exclusions.HeldOutDigests)
	for _, f := range w.source.Manifest.Files {
		if f.Path == corpus.BankName {
			inputs = append(inputs, corpus.Input{
				Kind:   corpus.InputBank,
				SHA256: f.SHA256,
				Bytes:  f.Bytes,
			})
			digests = append(digests, f.SHA256) // so that it may replace an earlier publication
		}
	}
	m := corpus.Manifest{
		Configuration:       config,
		ConfigurationSHA256: digest.SHA256(config),
		Domains:             w.source.Manifest.Domains,
		Inputs:              inputs,
	}
	card := corpus.NewCard(corpus.CardDomain(m.Domains))
	card.Title = "Agent trajectories"
	card.License = license
	card.Default = w.counts[0].Config
	card.Sections = []corpus.Section{w.figures.Section(), w.about(), carried}
	return w.Assemble(ctx, &finish.Content{
		HeldOutDigests: digests,
		Assembly: corpus.Assembly{
			Parts:    []string{dir},
			Manifest: m,
			Card:     card,
		},
	})
}
