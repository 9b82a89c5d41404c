package mix

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// assemble writes the corpus of the mixture from data files and tables that are already written.
// portions are the rows by config and split; ledger is the folder with the tables on all attempts.
func (w *mixer) assemble(
	ctx context.Context,
	r *Report,
	portions []*portion,
	ledger string,
) error {
	config := w.configuration()
	if err := w.addUnbankedClusters(portions); err != nil {
		return err
	}
	m := corpus.Manifest{
		Configuration:       config,
		ConfigurationSHA256: digest.SHA256(config),
		Domains: corpus.JoinDomains(slicesx.Map(w.sources, func(s *source) *corpus.Manifest {
			return s.Manifest
		})...),
		Funnel: r.Funnel,
	}
	m.Inputs = slicesx.Map(w.sources, func(s *source) corpus.Input {
		return s.Input("corpus manifest")
	})
	parts := slicesx.FilterMap(portions, func(p *portion) (string, bool) {
		return p.part, p.part != ""
	})
	return w.Assemble(ctx, &finish.Content{
		Assembly: corpus.Assembly{
			Parts:    append([]string{ledger}, parts...),
			Manifest: m,
			Card:     w.card(r, portions, m.Domains),
		},
		Bank:           w.bank,
		HeldOutDigests: w.heldOutDigests,
		Reports:        map[string]any{"mix.json": r},
	})
}

// addUnbankedClusters adds groups of similar problems to the mixture's bank, the record of the pool
// of each problem: those in rows of sources that have no bank. The pool of such a group is the split
// of its rows. It returns an error if a group is in both splits, or if its ID is not a
// SHA-256.
func (w *mixer) addUnbankedClusters(portions []*portion) error {
	pools := map[string]guard.Pool{}
	for _, p := range portions {
		for c := range p.unbanked {
			if _, ok := w.clusters[c]; ok {
				continue
			}
			if pool, ok := pools[c]; ok && pool != guard.Pool(p.split) {
				return fmt.Errorf("guard the mixture: cluster %s of a source without a bank is in both splits", c)
			}
			if b, err := hex.DecodeString(c); err != nil || len(b) != 32 {
				return fmt.Errorf("guard the mixture: cluster %q of a source without a bank is no sha256", c)
			}
			pools[c] = guard.Pool(p.split)
		}
	}
	if len(pools) == 0 {
		return nil
	}
	extra := &guard.State{}
	for c, pool := range pools {
		cluster := guard.StateCluster{
			ID:       c,
			Pool:     pool,
			Problems: []string{c},
		}
		extra.Clusters = append(extra.Clusters, cluster)
	}
	w.bank = guard.Union(w.bank, extra)
	return nil
}

// configuration returns the configuration as JSON, for the manifest. It identifies the sources and
// the protected problems by hashes of their content.
func (w *mixer) configuration() []byte {
	type weightedSource struct {
		Corpus string  `json:"source_corpus"`
		Weight float64 `json:"weight"`
	}
	type mixture struct {
		Sources    []weightedSource `json:"sources"`
		PerProblem int              `json:"per_problem"`
		PerAgent   int              `json:"per_agent"`
		Near       float64          `json:"near"`
		Where      string           `json:"where"`
		Protected  string           `json:"protected_sha256"`
		Hotkeys    bool             `json:"redact_hotkeys"`
	}
	protected := asjson.Bytes(w.protection.Guard(corpus.SplitTrain).Bank())
	m := mixture{
		PerProblem: w.Config.PerProblem,
		PerAgent:   w.Config.PerAgent,
		Near:       w.Config.Near,
		Where:      w.Config.Where,
		Protected:  digest.SHA256(protected),
		Hotkeys:    w.Redact.Hotkeys(),
	}
	m.Sources = slicesx.Map(w.sources, func(s *source) weightedSource {
		return weightedSource{s.SHA256, s.weight}
	})
	return asjson.Bytes(map[string]any{"mix": m})
}

func (w *mixer) card(r *Report, portions []*portion, domains []corpus.Domain) corpus.Card {
	license, licenseSections := w.licenses()
	var sum figures.Figures
	for _, p := range portions {
		sum.Join(&p.figures)
	}
	card := corpus.NewCard(corpus.CardDomain(domains))
	card.Title = "A mixture of " + strings.ToLower(card.Title[:1]) + card.Title[1:]
	card.License = license
	card.Default = sft.config
	card.Tags = append(card.Tags, "mixture")
	card.Sections = slices.Concat([]corpus.Section{
		{Heading: "What this is", Body: w.about()},
		sum.Section(),
		{Heading: "Sources", Body: r.text()},
	}, licenseSections, []corpus.Section{
		{Heading: "Held-out protection", Body: w.protectionText()},
		{Heading: "Known limits", Body: "The card of each source describes judge, filter and limits of its rows. Weights apply among the sources that have rows of a config and split. A source with too few tokens for its weight makes the mixture smaller, because no row is repeated."},
	})
	return card
}

func (w *mixer) about() string {
	limit := func(n int) string {
		if n == 0 {
			return "any number of rows"
		}
		return fmt.Sprintf("at most %d rows", n)
	}
	text := fmt.Sprintf("Rows of %d corpora. If weights were given, the train split is weighted by tokens; from the eval split and the problems, only copies were removed. In each config of the train split, one request has %s and one agent %s. Of copies, and of rows with the same request and an estimated Jaccard similarity of %.2g or more, the best one is kept. The rows are shuffled; tables/provenance.parquet and the metadata of config sft name the source of each.",
		len(w.sources), limit(w.Config.PerProblem), limit(w.Config.PerAgent), w.Config.Near)
	if w.Config.Where != "" {
		text += fmt.Sprintf(" Attempts were selected by `%s`.", w.Config.Where)
	}
	return text
}

func (w *mixer) protectionText() string {
	pools := map[guard.Pool]int{}
	for _, c := range w.bank.Clusters {
		pools[c.Pool]++
	}
	return fmt.Sprintf("The banks of the sources were joined: %d clusters are in train, %d in eval, and %d are never touched. A cluster that is protected in one source is protected in all. Every row was compared again with %d protected problems, and the guard found a protected request and id that it was given as a test. bank.json keeps the pools for the next build.",
		pools[guard.PoolTrain], pools[guard.PoolEval], pools[guard.PoolNeverTouch], len(w.protection.Guard(corpus.SplitTrain).Bank()))
}
