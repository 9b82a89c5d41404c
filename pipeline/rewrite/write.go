package rewrite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// dropTemplates drops the rows whose reasoning follows the same template as that of many other
// rows, and sets the reason of their attempts.
func dropTemplates(attempts []*rewritten) {
	var rows []*rewritten
	var thoughts []frames.Thoughts
	for _, m := range attempts {
		if m.row != nil {
			rows = append(rows, m)
			thoughts = append(thoughts, m.thoughts)
		}
	}
	for i, isTemplate := range frames.Templates(thoughts) {
		if isTemplate {
			rows[i].row = nil
			rows[i].Reason = reasonTemplate
		}
	}
}

func (w *work) write(ctx context.Context, attempts []*rewritten) error {
	scratch := w.Out + ".part"
	part, err := w.NewPart(scratch)
	if err != nil {
		return err
	}
	out := corpus.NewShards[rows.SFT](part, corpus.Stream{
		Config:  "sft",
		Profile: corpus.ProfileHFJSON,
		Split:   corpus.SplitTrain,
	})
	for _, m := range attempts {
		if m.row == nil {
			continue
		}
		if err = out.Add(m.row); err != nil {
			return err
		}
	}
	if err = finish.FirstError(out.Close, part.Close); err != nil {
		return err
	}
	return w.assemble(ctx, filepath.Clean(scratch))
}

func (w *work) assemble(ctx context.Context, part string) error {
	config := []byte(fmt.Sprintf(
		`{"rewriting":{"most":%d,"prompts_sha256":%q}}`,
		w.MaxRows,
		finish.Digest(writing, choosing),
	))
	funnel, err := choose.Funnel([]string{Origin}, slices.Values(w.decisions()))
	if err != nil {
		return err
	}
	m := corpus.Manifest{
		Configuration:       config,
		ConfigurationSHA256: digest.SHA256(config),
		Domains:             w.source.Manifest.Domains,
		Inputs:              []corpus.Input{w.source.Input("corpus manifest")},
		Funnel:              funnel,
	}
	card := corpus.NewCard(corpus.CardDomain(m.Domains))
	card.Title = "Rewritten attempts of programs"
	card.Default = "sft"
	card.Sections = []corpus.Section{{Heading: "What this is", Body: w.report.About()}}
	return w.Assemble(ctx, &finish.Content{
		Assembly: corpus.Assembly{Parts: []string{part}, Manifest: m, Card: card},
		Bank:     w.bank, HeldOutDigests: w.source.GuardDigests(), Reports: map[string]any{"rewriting.json": &w.report},
	})
}

func (w *work) decisions() (out []choose.Decision) {
	for reason, n := range w.report.Dropped {
		for range n {
			out = append(out, choose.Decision{Stage: Origin, Reason: reason})
		}
	}
	for _, a := range w.report.Attempts {
		d := choose.Decision{Stage: Origin, Reason: a.Reason, Split: corpus.SplitTrain}
		if a.Reason == "" {
			d.Stage = ""
		}
		out = append(out, d)
	}
	return out
}

// About returns the text about the rewritten rows for the dataset card.
func (r *Report) About() string {
	return fmt.Sprintf(`Rows of origin %q are attempts of programs: calls, results, their order and the score are those of the log, and
the reasoning is synthetic, written step by step by a model that was shown the request and what lay before. None counts as agentic. Of %d solved
attempts at training problems %d were asked about and %d are rows; reports/rewriting.json has each with its reason and cost. %s`, Origin, r.Scripted, len(r.Attempts), r.Rows, r.Cut())
}
