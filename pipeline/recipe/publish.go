package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/guard"
)

// export makes the parts of the data: one for every profile that the chosen
// rows go into. Step rewards have no other profile than their own.
func (w *work) export(ctx context.Context, rows string) ([]string, error) {
	if w.recipe.Profile == corpus.ProfileStepwise {
		return []string{rows}, nil
	}
	m, err := w.rowsManifest(rows)
	if err != nil {
		return nil, err
	}
	var profiles []export.Profile
	for _, p := range export.All() {
		if p.From == w.recipe.Profile {
			profiles = append(profiles, p)
		}
	}
	const sessions = 100 // as in arena export
	counts, parts, err := export.Parts(ctx, w.fs, rows, filepath.Join(w.dir, "exports"), m, profiles, &export.Options{Sessions: sessions}, len(profiles))
	if err != nil {
		return nil, err
	}
	for _, c := range counts {
		if c.Split == corpus.SplitTrain {
			w.report.Exports = append(w.report.Exports, c)
		}
	}
	return parts, nil
}

// rowsManifest lists the chosen rows as a corpus would.
func (w *work) rowsManifest(rows string) (*corpus.Manifest, error) {
	files, err := corpus.ReadPart(w.fs, rows)
	if err != nil {
		return nil, err
	}
	m := &corpus.Manifest{Pipeline: w.in.Version}
	for _, f := range files {
		m.Files = append(m.Files, corpus.FileEntry{Config: f.Config, Profile: f.Profile, Split: f.Split, Path: f.Path, Rows: &f.Rows, Bytes: f.Bytes, SHA256: f.SHA256})
	}
	return m, nil
}

func (w *work) assemble(ctx context.Context, out string, parts []string) error {
	config, err := w.recipe.configuration()
	if err != nil {
		return fmt.Errorf("encode recipe: %w", err)
	}
	report, err := json.MarshalIndent(w.report, "", " ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	counts, err := w.funnel()
	if err != nil {
		return err
	}
	m := corpus.Manifest{Pipeline: w.in.Version, Configuration: config, ConfigurationSHA256: corpus.SHA256(config), Funnel: counts}
	for _, s := range w.sources {
		m.Inputs = append(m.Inputs, s.input)
	}
	return corpus.Assemble(ctx, w.fs, out, corpus.Assembly{
		Parts: parts, Manifest: m,
		Extra: map[string][]byte{"bank.json": w.protection.text, "reports/recipe.json": append(report, '\n')},
		Card: corpus.Card{
			Title: "Shopping agents: data of stage " + w.recipe.Name, Push: w.in.Push, License: w.in.License, Default: w.recipe.Profile,
			Tags: []string{"agent", "tool-use", "shopping", "trajectories", "arena"},
			Sections: []corpus.Section{
				{Heading: "What this is", Body: w.about()},
				{Heading: "Held-out protection", Body: w.report.Proof.text()},
			},
		},
	})
}

func (w *work) about() string {
	var b strings.Builder
	r := w.recipe
	fmt.Fprintf(&b, "Stage %s: %s. There is only a train split.\n\n| source | rows read | dropped | taken | rows |\n|---|---:|---|---:|---:|\n", r.Name, r.Doc)
	for _, c := range w.report.Counts {
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %d |\n", c.Source, c.In, corpus.Tallies(c.Dropped), c.Taken, c.Rows)
	}
	if r.VoucherTimes > 1 {
		fmt.Fprintf(&b, "\nRows of voucher tasks stand here %d times.\n", r.VoucherTimes)
	}
	if len(w.report.Exports) == 0 {
		return b.String()
	}
	b.WriteString("\nRows that a profile cannot take are left out of it alone.\n\n| profile | taken | rows | dropped |\n|---|---:|---:|---|\n")
	for _, c := range w.report.Exports {
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", c.Profile, c.Out, c.Rows, corpus.Tallies(c.Dropped))
	}
	return b.String()
}

// text is the proof as the card has it.
func (p *Proof) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `Rollouts were played at training problems only, and the split is pinned in bank.json (sha256 %s): %d clusters
in train, %d in eval, %d never touched. %d rows were of clusters outside train and are not here. %d rows were held
against %d protected problems (%d from held-out files): %d were dropped. The planted canaries were %s.
`, p.BankSHA256, p.Clusters[guard.PoolTrain], p.Clusters[guard.PoolEval], p.Clusters[guard.PoolNeverTouch],
		len(p.Outside), p.Guard.Rows, p.Protected(), p.HeldOut, len(p.Guard.Dropped), p.Canary)
	b.WriteString("\n| planted as | planted | found | recall |\n|---|---:|---:|---:|\n")
	for _, k := range p.Guard.Injection.Kinds {
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f |\n", k.Kind, k.Planted, k.Found, k.Recall)
	}
	return b.String()
}
