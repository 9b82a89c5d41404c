package finish

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
)

// minLeakScore is the lowest threshold, a lexical score from 0 to 1, at which FindLeaks reports a
// row of a finished corpus. The threshold of a build depends on its configuration and version, so a
// lower one here would report rows of good corpora.
const minLeakScore = 0.5

// FindLeaks calls report for each row of the train split whose cluster is protected, or in which
// the guard finds a protected problem. Of several rows of one attempt, only the first is
// checked.
func (x *Exclusions) FindLeaks(
	ctx context.Context,
	s *Source,
	report func(id, evidence string),
) error {
	if x.Bank == nil {
		return nil
	}
	entries := ProtectedInBank(x.Bank, x.HeldOut)
	config := x.GuardConfig()
	config.MinDrop = max(minLeakScore, config.MinDrop)
	config.MaxFalse = 1
	g, err := guard.New(slices.Concat(
		entries.HeldOut,
		entries.NeverTouch,
		entries.Eval,
	), config)
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil
	}
	if err != nil {
		return err
	}

	checked := map[string]bool{}
	check := func(row *RowView) error {
		isNew := len(row.Sessions) == 0
		for _, session := range row.Sessions {
			isNew = isNew || !checked[session]
			checked[strings.Clone(session)] = true // a row's texts are valid only during its batch
		}
		if !isNew {
			return ctx.Err()
		}
		pool := x.Bank.Pool(row.Cluster)
		if pool != "" && pool != guard.PoolTrain {
			report(row.Candidate.ID, fmt.Sprintf("its cluster is %s", pool))
		} else if f := g.Check(row.Candidate); f.Drop {
			report(row.Candidate.ID, f.Evidence)
		}
		return ctx.Err()
	}
	return FirstError(
		func() error {
			return viewRows[rows.SFT](s, corpus.ProfileHFJSON, check)
		},
		func() error {
			return viewRows[rows.RL](s, corpus.ProfileVerlRL, check)
		},
		func() error {
			return viewRows[rows.KTO](s, corpus.ProfileKTO, check)
		},
		func() error {
			return viewRows[rows.Pref](s, corpus.ProfilePref, check)
		},
		func() error {
			return viewRows[rows.Steps](s, corpus.ProfileStepwise, check)
		},
	)
}

// viewRows calls visit for each row of a profile (row format) in the train split, with a view of
// the properties that rows of all profiles have.
func viewRows[T any](
	s *Source,
	profile string,
	visit func(*RowView) error,
) error {
	return Rows(s, profile, corpus.SplitTrain, func(row *T) error {
		view, err := ViewRow(row)
		if err != nil {
			return err
		}
		return visit(&view)
	})
}

// duplicateFinder finds, in the rows of earlier corpora, groups of similar problems that repeat a
// protected problem and are not protected yet.
type duplicateFinder struct {
	guard *guard.Guard
	bank  *guard.State
	// clusters has the requests and gold items of each cluster's rows. matches has the protected
	// problems that each cluster repeats. Both are indexed by cluster ID.
	clusters map[string]*guard.StateCluster
	matches  map[string][]string
}

// joinDuplicates reads the rows of all sources. If the guard finds that a row's request repeats a
// protected problem, it joins the row's cluster (group of similar problems) with the protected
// cluster in x.Bank.
func (x *Exclusions) joinDuplicates(sources []*Source) error {
	g, err := guard.New(x.Bank.Protected(""), x.GuardConfig())
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil
	}
	if err != nil {
		return err
	}
	d := duplicateFinder{
		guard:    g,
		bank:     x.Bank,
		clusters: map[string]*guard.StateCluster{},
		matches:  map[string][]string{},
	}
	for _, s := range sources {
		for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
			if err = d.readSource(s, split); err != nil {
				return err
			}
		}
	}

	duplicates := &guard.State{}
	for id, protected := range d.matches {
		if b, err := hex.DecodeString(id); err != nil || len(b) != 32 {
			return fmt.Errorf("cluster %q, which asks for what is protected, is no sha256", id)
		}
		c := d.clusters[id]
		c.Problems = append(protected, id)
		duplicates.Clusters = append(duplicates.Clusters, *c)
	}
	x.Bank = guard.Union(x.Bank, duplicates)
	return nil
}

func (d *duplicateFinder) readSource(s *Source, split string) error {
	err := Rows(s, corpus.ProfileHFJSON, split, func(r *rows.SFT) error {
		d.add(&r.Origin, r.Goal)
		return nil
	})
	if err != nil {
		return err
	}
	err = Rows(s, corpus.ProfileVerlRL, split, func(r *rows.RL) error {
		d.add(&r.Origin, rows.Request(r.Prompt), r.GoldItems()...)
		return nil
	})
	if err != nil {
		return err
	}
	err = Rows(s, corpus.ProfilePref, split, func(r *rows.Pref) error {
		d.add(&r.Origin, rows.Request(r.Prompt))
		return nil
	})
	if err != nil {
		return err
	}
	return Rows(s, corpus.ProfileKTO, split, func(r *rows.KTO) error {
		d.add(&r.Origin, rows.Request(r.Prompt))
		return nil
	})
}

// add compares the request of a row with the protected problems and records a match for the row's
// cluster (group of similar problems). It skips requests that were already compared for the same
// cluster. It also skips protected clusters: their original requests are known, and the row's
// request may have extra text, such as a greeting.
func (d *duplicateFinder) add(
	origin *rows.Origin,
	request string,
	items ...string,
) {
	pool := d.bank.Pool(origin.Cluster)
	if pool != "" && pool != guard.PoolTrain {
		return
	}
	// Texts are cloned because a row's texts are valid only during its batch.
	c := d.clusters[origin.Cluster]
	if c == nil {
		c = &guard.StateCluster{}
		d.clusters[strings.Clone(origin.Cluster)] = c
	}
	hasItem := len(items) == 0 || slices.Contains(c.ItemIDs, items[0])
	if hasItem && slices.Contains(c.Texts, request) {
		return
	}
	c.Texts = append(c.Texts, strings.Clone(request))
	for _, id := range items {
		c.ItemIDs = append(c.ItemIDs, strings.Clone(id))
	}
	if f := d.guard.Check(guard.Candidate{Text: request, ItemIDs: items}); f.Drop {
		id := strings.Clone(origin.Cluster)
		d.matches[id] = append(d.matches[id], f.Match)
	}
}
