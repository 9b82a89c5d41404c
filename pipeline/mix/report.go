package mix

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/guard"
)

// Report says what a mixture is made of: reports/mix.json.
type Report struct {
	Sources []SourceReport `json:"sources"`
	Parts   []PartReport   `json:"parts"`
	funnel  []corpora.Stage
}

// SourceReport is one source with its weight, all adding up to 1.
type SourceReport struct {
	Corpus string  `json:"source_corpus"`
	Weight float64 `json:"weight"`
}

// PartReport is what one source gives to one config and split.
type PartReport struct {
	Config string `json:"config"`
	Split  string `json:"split"`
	Corpus string `json:"source_corpus"`
	// In and Out are rows and their tokens before and after; a problem counts as
	// one token.
	In        int64 `json:"rows_in"`
	TokensIn  int64 `json:"tokens_in"`
	Out       int64 `json:"rows"`
	TokensOut int64 `json:"tokens"`
	// Share is the source's part of the tokens of the config and split.
	Share   float64          `json:"share"`
	Dropped map[string]int64 `json:"dropped"`
}

func (w *mixing) report(all []*mixed) *Report {
	r := &Report{Parts: []PartReport{}, funnel: funnel(all)}
	sum := 0.0
	for _, s := range w.sources {
		sum += s.Weight
	}
	for _, s := range w.sources {
		r.Sources = append(r.Sources, SourceReport{s.digest, s.Weight / sum})
	}
	for _, m := range all {
		r.Parts = append(r.Parts, m.report(w.sources)...)
	}
	slices.SortStableFunc(r.Parts, func(a, b PartReport) int {
		return cmp.Or(strings.Compare(a.Config, b.Config), -strings.Compare(a.Split, b.Split))
	})
	return r
}

// report counts the rows of one config and split by source.
func (m *mixed) report(sources []*source) []PartReport {
	out := make([]PartReport, len(sources))
	total := int64(0)
	for i, s := range sources {
		out[i] = PartReport{Config: m.config, Split: m.split, Corpus: s.digest, Dropped: map[string]int64{}}
	}
	for i := range m.entries {
		e := &m.entries[i]
		p := &out[e.source]
		p.In, p.TokensIn = p.In+1, p.TokensIn+e.tokens
		if e.reason != "" {
			p.Dropped[e.reason]++
			continue
		}
		p.Out, p.TokensOut = p.Out+1, p.TokensOut+e.tokens
		total += e.tokens
	}
	for i := range out {
		if total > 0 {
			out[i].Share = float64(out[i].TokensOut) / float64(total)
		}
	}
	return slices.DeleteFunc(out, func(p PartReport) bool { return p.In == 0 })
}

func (r *Report) rows() int64 {
	n := int64(0)
	for _, p := range r.Parts {
		n += p.Out
	}
	return n
}

// Rows counts by config and split, such as "sft/train".
func (r *Report) Rows() map[string]int64 {
	out := map[string]int64{}
	for _, p := range r.Parts {
		out[p.Config+"/"+p.Split] += p.Out
	}
	return out
}

// Funnel says what became of the rows of config sft.
func (r *Report) Funnel() []corpora.Stage { return r.funnel }

// steps are the stages of a mixture with the reasons that each drops for.
var steps = []struct {
	stage   string
	reasons []string
}{
	{"select", []string{reasonUnselected}},
	{"guard", []string{reasonProtected, reasonEval, reasonLeak}},
	{"dedup", []string{reasonCopy, reasonNear}},
	{"cap", []string{reasonProblem, reasonAgent}},
	{"weight", []string{reasonWeight}},
}

func funnel(all []*mixed) []corpora.Stage {
	dropped, in := map[string]int64{}, int64(0)
	for _, m := range all {
		for i := range m.entries {
			if m.config == sft.config {
				dropped[m.entries[i].reason]++
				in++
			}
		}
	}
	var out []corpora.Stage
	for _, step := range steps {
		s := corpora.Stage{Name: step.stage, In: in, Dropped: map[string]int64{}, Failures: map[string]int64{}}
		for reason, n := range dropped {
			if reason != "" && slices.ContainsFunc(step.reasons, func(r string) bool { return strings.HasPrefix(reason, r) }) {
				s.Dropped[reason] = n
				in -= n
			}
		}
		s.Out = in
		out = append(out, s)
	}
	return out
}

func (w *mixing) assemble(ctx context.Context, r *Report, all []*mixed, ledger string) error {
	config, err := w.configuration()
	if err != nil {
		return err
	}
	if err = w.adopt(all); err != nil {
		return err
	}
	bank, err := w.bank.Encode()
	if err != nil {
		return err
	}
	report, err := corpora.EncodeReport(r)
	if err != nil {
		return err
	}
	a := corpora.Assembly{
		Parts: []string{ledger}, Extra: map[string][]byte{bankPath: bank, "reports/mix.json": report}, Redact: w.redactor, Card: w.card(r),
		Manifest: corpora.Manifest{Pipeline: w.Version, Configuration: config, ConfigurationSHA256: corpora.SHA256(config), Funnel: r.funnel},
	}
	for _, s := range w.sources {
		a.Manifest.Inputs = append(a.Manifest.Inputs, corpora.Input{Kind: "corpus manifest", SHA256: s.digest, Bytes: s.size, Records: int64(len(s.manifest.Files))})
	}
	for _, m := range all {
		if m.part != "" {
			a.Parts = append(a.Parts, m.part)
		}
	}
	return corpora.Assemble(ctx, w.FS, w.Out, a)
}

// adopt enters the clusters of sources without a bank into the mixture's.
func (w *mixing) adopt(all []*mixed) error {
	own := map[string]guard.Pool{}
	for _, m := range all {
		for c := range m.own {
			if _, known := w.clusters[c]; known {
				continue
			}
			if pool, twice := own[c]; twice && pool != guard.Pool(m.split) {
				return fmt.Errorf("guard the mixture: cluster %s of a source without a bank is in both splits", c)
			}
			if b, err := hex.DecodeString(c); err != nil || len(b) != 32 {
				return fmt.Errorf("guard the mixture: cluster %q of a source without a bank is no sha256", c)
			}
			own[c] = guard.Pool(m.split)
		}
	}
	if len(own) == 0 {
		return nil
	}
	extra := &guard.State{Schema: guard.StateSchema, Shares: w.bank.Shares}
	for c, pool := range own {
		extra.Clusters = append(extra.Clusters, guard.StateCluster{ID: c, Pool: pool, Problems: []string{c}, ProductIDs: []string{}})
	}
	bank, err := guard.Union(w.bank, extra)
	if err != nil {
		return err
	}
	w.bank = bank
	return nil
}

// configuration names the sources and the bank by what is in them.
func (w *mixing) configuration() ([]byte, error) {
	type weighed struct {
		Corpus string  `json:"source_corpus"`
		Weight float64 `json:"weight"`
	}
	type mixture struct {
		Sources    []weighed `json:"sources"`
		PerProblem int       `json:"per_problem"`
		PerAgent   int       `json:"per_agent"`
		Near       float64   `json:"near"`
		Where      string    `json:"where"`
		Protected  string    `json:"protected_sha256"`
		Hotkeys    bool      `json:"redact_hotkeys"`
	}
	protected, err := json.Marshal(w.train.Bank())
	if err != nil {
		return nil, fmt.Errorf("encode protected bank: %w", err)
	}
	m := mixture{PerProblem: w.Config.PerProblem, PerAgent: w.Config.PerAgent, Near: w.Config.Near, Where: w.Config.Where,
		Protected: corpora.SHA256(protected), Hotkeys: w.redactor.Hotkeys()}
	for _, s := range w.sources {
		m.Sources = append(m.Sources, weighed{s.digest, s.Weight})
	}
	return json.Marshal(map[string]any{"mix": m})
}

func (w *mixing) card(r *Report) corpora.Card {
	return corpora.Card{
		Title: "A mixture of shopping agent trajectories", License: "other", Default: sft.config,
		Tags: []string{"agent", "tool-use", "shopping", "trajectories", "arena", "mixture"},
		Sections: []corpora.Section{
			{Heading: "What this is", Body: w.about()},
			{Heading: "Sources", Body: r.text()},
			{Heading: "Held-out protection", Body: w.protection()},
			{Heading: "Known limits", Body: "What each source's card says of its judge, its filter and its limits holds for its rows. Weights count among the sources that have rows of a config and split; a source that has too little for its weight makes the mixture smaller, for no row is repeated."},
		},
	}
}

func (w *mixing) about() string {
	bound := func(n int) string {
		if n == 0 {
			return "any number of rows"
		}
		return fmt.Sprintf("at most %d rows", n)
	}
	text := fmt.Sprintf("Rows of %d corpora, each config and split weighed by tokens. One request has %s in a config, one agent %s; of copies, and of rows with one request whose estimated Jaccard similarity is %.2g or more, the best stays. Rows lie mixed; tables/provenance.parquet and the metadata of config sft name the source of each.",
		len(w.sources), bound(w.Config.PerProblem), bound(w.Config.PerAgent), w.Config.Near)
	if w.Config.Where != "" {
		text += fmt.Sprintf(" Attempts were selected by `%s`.", w.Config.Where)
	}
	return text
}

func (w *mixing) protection() string {
	pools := map[guard.Pool]int{}
	for _, c := range w.bank.Clusters {
		pools[c.Pool]++
	}
	return fmt.Sprintf("The banks of the sources are one: %d clusters in train, %d in eval, %d never touched; a cluster that is protected in one source is so in all. Every row was held against %d protected problems again, and the planted canaries were caught. bank.json pins the pools for the next build.",
		pools[guard.PoolTrain], pools[guard.PoolEval], pools[guard.PoolNeverTouch], len(w.train.Bank()))
}

func (r *Report) text() string {
	var b strings.Builder
	b.WriteString("| corpus (sha256 of its manifest) | weight |\n|---|---:|\n")
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "| `%s` | %.4f |\n", s.Corpus, s.Weight)
	}
	b.WriteString("\n| config | split | corpus | rows in | rows | tokens | share | left out |\n|---|---|---|---:|---:|---:|---:|---|\n")
	for _, p := range r.Parts {
		fmt.Fprintf(&b, "| %s | %s | `%s` | %d | %d | %d | %.4f | %s |\n", p.Config, p.Split, p.Corpus[:12], p.In, p.Out, p.TokensOut, p.Share, corpora.Tallies(p.Dropped))
	}
	return b.String()
}
