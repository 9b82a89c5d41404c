package mix

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// Report says what a mixture is made of: reports/mix.json.
type Report struct {
	Sources []SourceReport `json:"sources"`
	Parts   []PartReport   `json:"parts"`
	// Funnel says what became of the rows of config sft.
	Funnel []corpus.Stage `json:"-"`
}

// SourceReport is one source with its weight, all adding up to 1.
type SourceReport struct {
	Corpus string `json:"source_corpus"`
	// Name is the last element of the path that was given.
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	// Dir is the folder that was named, for the terminal alone.
	Dir string `json:"-"`
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

func (w *mixer) report(all []*portion) (*Report, error) {
	counts, err := funnel(all)
	r := &Report{Parts: []PartReport{}, Funnel: counts}
	sum := 0.0
	for _, s := range w.sources {
		sum += s.weight
	}
	for _, s := range w.sources {
		r.Sources = append(r.Sources, SourceReport{s.SHA256, filepath.Base(s.Dir), s.weight / max(sum, math.SmallestNonzeroFloat64), s.Dir})
	}
	for _, m := range all {
		r.Parts = append(r.Parts, m.report(w.sources)...)
	}
	slices.SortStableFunc(r.Parts, func(a, b PartReport) int {
		return cmp.Or(strings.Compare(a.Config, b.Config), -strings.Compare(a.Split, b.Split))
	})
	return r, err
}

func (m *portion) report(sources []*source) []PartReport {
	out := make([]PartReport, len(sources))
	total := int64(0)
	for i, s := range sources {
		out[i] = PartReport{Config: m.config, Split: m.split, Corpus: s.SHA256, Dropped: map[string]int64{}}
	}
	for i := range m.entries {
		e := &m.entries[i]
		p := &out[e.Source]
		p.In, p.TokensIn = p.In+1, p.TokensIn+e.Tokens
		if e.Reason != "" {
			p.Dropped[e.Reason]++
			continue
		}
		p.Out, p.TokensOut = p.Out+1, p.TokensOut+e.Tokens
		total += e.Tokens
	}
	for i := range out {
		if total > 0 {
			out[i].Share = float64(out[i].TokensOut) / float64(total)
		}
	}
	return slices.DeleteFunc(out, func(p PartReport) bool { return p.In == 0 })
}

// Rows counts by config and split, such as "sft/train".
func (r *Report) Rows() map[string]int64 {
	out := map[string]int64{}
	for _, p := range r.Parts {
		out[p.Config+"/"+p.Split] += p.Out
	}
	return out
}

type step struct {
	stage   string
	reasons []string
}

// steps are the stages of a mixture with the reasons that each drops for.
var steps = []step{
	{"select", []string{reasonUnselected}},
	{"guard", []string{reasonProtected, reasonEval, reasonLeak}},
	{"dedup", []string{choose.ReasonCopy, choose.ReasonNear}},
	{"cap", []string{reasonProblem, choose.ReasonAgent}},
	{"weight", []string{reasonWeight}},
}

func funnel(all []*portion) ([]corpus.Stage, error) {
	stages := slicesx.Map(steps, func(s step) string { return s.stage })
	var fates []choose.Decision
	for _, m := range all {
		for i := range m.entries {
			if m.config == sft.config {
				fates = append(fates, choose.Decision{Stage: stageOf(m.entries[i].Reason), Reason: m.entries[i].Reason})
			}
		}
	}
	return choose.Funnel(stages, fates)
}

func stageOf(reason string) string {
	for _, step := range steps {
		if reason != "" && slices.ContainsFunc(step.reasons, func(r string) bool { return strings.HasPrefix(reason, r) }) {
			return step.stage
		}
	}
	return ""
}

func (r *Report) text() string {
	return "Weights are of the train split, problems apart; where all are 0 the sources are united.\n\n" +
		corpus.Table("corpus | sha256 of its manifest | weight:", r.Sources, func(s SourceReport) string {
			return fmt.Sprintf("%s | `%s` | %.4f", corpus.EscapeCell(s.Name), s.Corpus, s.Weight)
		}) + "\n" +
		corpus.Table("config | split | corpus | rows in: | rows: | tokens: | share: | left out", r.Parts, func(p PartReport) string {
			return fmt.Sprintf("%s | %s | `%s` | %d | %d | %d | %.4f | %s", p.Config, p.Split, p.Corpus[:12], p.In, p.Out, p.TokensOut, p.Share, corpus.FormatCounts(p.Dropped))
		})
}

// licenses are the terms that all sources name, and what the card says of them:
// nothing where no source names any. No terms stand for sources that differ.
func (w *mixer) licenses() (common string, said []corpus.Section) {
	common = w.sources[0].license
	text := fmt.Sprintf("The cards of all %d sources name `%s`.", len(w.sources), common)
	if slices.ContainsFunc(w.sources, func(s *source) bool { return s.license != common }) {
		common = corpus.NoLicense
		text = "The sources are not given on the same terms. The rows of each stay under its own; tables/provenance.parquet names the source of every row.\n\n" +
			corpus.Table("corpus (sha256 of its manifest) | licence", w.sources, func(s *source) string {
				if s.license == corpus.NoLicense {
					return "`" + s.SHA256 + "` | none named"
				}
				return "`" + s.SHA256 + "` | `" + s.license + "`"
			})
	} else if common == corpus.NoLicense {
		return common, nil
	}
	return common, []corpus.Section{{Heading: "Licences of the sources", Body: text}}
}
