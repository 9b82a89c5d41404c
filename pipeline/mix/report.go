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

// Report is the content of reports/mix.json, the report about a mixture.
type Report struct {
	Sources []SourceReport `json:"sources"`
	Parts   []PartReport   `json:"parts"`
	// Funnel is the funnel of the rows of config sft.
	Funnel []corpus.Stage `json:"-"`
}

// SourceReport is the entry of one source. The weights of all sources add up to 1.
type SourceReport struct {
	Corpus string `json:"source_corpus"`
	// Name is the last element of the source's path.
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	// Dir is the path of the source. It is printed but not stored.
	Dir string `json:"-"`
}

// PartReport has the numbers of rows of one source in one config and split.
type PartReport struct {
	Config string `json:"config"`
	Split  string `json:"split"`
	Corpus string `json:"source_corpus"`
	// In and Out count the rows before and after mixing. TokensIn and TokensOut count their
	// tokens; they are 0 for config rl, whose rows are problems.
	In        int64 `json:"rows_in"`
	TokensIn  int64 `json:"tokens_in,omitempty"`
	Out       int64 `json:"rows"`
	TokensOut int64 `json:"tokens,omitempty"`
	// Share is the source's share, from 0 to 1, of the tokens in this config and split, and of the
	// problems in config rl.
	Share   float64          `json:"share"`
	Dropped map[string]int64 `json:"dropped"`
}

func (w *mixer) report(portions []*portion) (*Report, error) {
	stages, err := funnel(portions)
	r := &Report{Parts: []PartReport{}, Funnel: stages}
	sum := 0.0
	for _, s := range w.sources {
		sum += s.weight
	}
	for _, s := range w.sources {
		r.Sources = append(r.Sources, SourceReport{
			Corpus: s.SHA256,
			Name:   filepath.Base(s.Dir),
			Weight: s.weight / max(sum, math.SmallestNonzeroFloat64),
			Dir:    s.Dir,
		})
	}
	for _, p := range portions {
		r.Parts = append(r.Parts, p.report(w.sources)...)
	}
	slicesx.SortStableFunc(r.Parts, func(a, b PartReport) int {
		return cmp.Or(strings.Compare(a.Config, b.Config), -strings.Compare(a.Split, b.Split))
	})
	return r, err
}

// report returns, for each source with rows in this config and split, how many rows and tokens the
// source had and how many of them the mixture has.
func (p *portion) report(sources []*source) []PartReport {
	out := make([]PartReport, len(sources))
	total := int64(0)
	for i, s := range sources {
		out[i] = PartReport{
			Config:  p.config,
			Split:   p.split,
			Corpus:  s.SHA256,
			Dropped: map[string]int64{},
		}
	}
	for i := range p.entries {
		e := &p.entries[i]
		r := &out[e.Source]
		r.In++
		r.TokensIn += e.Tokens
		if e.Reason != "" {
			r.Dropped[e.Reason]++
			continue
		}
		r.Out++
		r.TokensOut += e.Tokens
		total += e.Tokens
	}
	for i := range out {
		if total > 0 {
			out[i].Share = float64(out[i].TokensOut) / float64(total)
		}
		if p.config == rl.config { // each counts as one
			out[i].TokensIn = 0
			out[i].TokensOut = 0
		}
	}
	return slices.DeleteFunc(out, func(p PartReport) bool {
		return p.In == 0
	})
}

// Tokens returns the number of tokens that are left, or "-" for rows that have none.
func (p *PartReport) Tokens() string {
	if p.TokensIn == 0 {
		return "-"
	}
	return fmt.Sprint(p.TokensOut)
}

// Rows returns the number of rows by config and split, such as "sft/train".
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

// steps lists the stages by which a mixture drops rows, in the order in which they run. Each has
// the reasons for which it drops rows.
var steps = []step{
	{"select", []string{reasonUnselected}},
	{"guard", []string{reasonProtected, reasonEval, reasonLeak}},
	{"dedup", []string{choose.ReasonCopy, choose.ReasonNear}},
	{"cap", []string{reasonProblem, choose.ReasonAgent}},
	{"weight", []string{reasonWeight}},
}

func funnel(portions []*portion) ([]corpus.Stage, error) {
	stages := slicesx.Map(steps, func(s step) string { return s.stage })
	var decisions []choose.Decision
	for _, p := range portions {
		if p.config != sft.config {
			continue
		}
		for i := range p.entries {
			reason := p.entries[i].Reason
			decisions = append(decisions, choose.Decision{
				Stage:  stageOf(reason),
				Reason: reason,
			})
		}
	}
	return choose.Funnel(stages, slices.Values(decisions))
}

// stageOf returns the name of the stage that drops rows for this reason, according to steps. It
// returns "" if reason is empty or unknown.
func stageOf(reason string) string {
	if reason == "" {
		return ""
	}
	isPrefix := func(r string) bool { return strings.HasPrefix(reason, r) }
	for _, step := range steps {
		if slices.ContainsFunc(step.reasons, isPrefix) {
			return step.stage
		}
	}
	return ""
}

func (r *Report) text() string {
	return "Weights apply to the train split, except the problems. If all are 0, all rows were taken.\n\n" +
		corpus.Table("corpus | sha256 of its manifest | weight:", r.Sources, func(s SourceReport) string {
			return fmt.Sprintf("%s | `%s` | %.4f", corpus.EscapeCell(s.Name), s.Corpus, s.Weight)
		}) + "\n" +
		corpus.Table("config | split | corpus | rows in: | rows: | tokens: | share: | left out", r.Parts, func(p PartReport) string {
			return fmt.Sprintf(
				"%s | %s | `%s` | %d | %d | %s | %.4f | %s",
				p.Config,
				p.Split,
				p.Corpus[:12],
				p.In,
				p.Out,
				p.Tokens(),
				p.Share,
				corpus.FormatCounts(p.Dropped),
			)
		})
}

// licenses returns the license of the mixture and, for its dataset card, the section about
// licenses. The license is the one that all sources name, or corpus.NoLicense if they do not all
// name the same. There is no section if no source names a license.
func (w *mixer) licenses() (common string, sections []corpus.Section) {
	common = w.sources[0].license
	text := fmt.Sprintf("The cards of all %d sources name `%s`.", len(w.sources), common)
	if slices.ContainsFunc(w.sources, func(s *source) bool { return s.license != common }) {
		common = corpus.NoLicense
		text = "The sources have different licences. The rows of each source stay under its licence; tables/provenance.parquet names the source of every row.\n\n" +
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
