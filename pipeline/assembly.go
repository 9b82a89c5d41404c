package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

func (s *session) content(p *plan, parts []string, made *reports.Set, told *Summary) (*finish.Content, error) {
	config := s.Config.JSON()
	pairs, err := s.pairs(p)
	if err != nil {
		return nil, err
	}
	m := corpus.Manifest{Configuration: config, ConfigurationSHA256: finish.Digest(config), Inputs: s.manifestInputs(p), Funnel: p.Funnel}
	c := &finish.Content{
		Assembly: corpus.Assembly{Parts: parts, Manifest: m, Card: s.card(p, made, pairs)},
		Bank:     s.protect.State, Given: s.day.heldOutDigests(), Reports: made.Files(),
	}
	if s.earlier != nil {
		w, withdrawErr := finish.Withdraw(s.earlier, s.protect.State, s.protect.Guard(corpus.SplitTrain))
		if withdrawErr != nil {
			return nil, withdrawErr
		}
		c.Reports[finish.WithdrawnName], told.Withdrawn = w, len(w.Rows)
	}
	if s.Pages != nil {
		if c.Pages, err = s.Pages(made); err != nil {
			return nil, err
		}
		c.Card.Sections = append(c.Card.Sections, plots(c.Pages)...)
	}
	return c, nil
}

func plots(pages map[string][]byte) []corpus.Section {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if title, is := strings.CutSuffix(name, ".svg"); is {
			text += fmt.Sprintf("![%s](reports/%s)\n", title, name)
		}
	}
	if text == "" {
		return nil
	}
	return []corpus.Section{{Heading: "Plots", Body: text}}
}

// manifestInputs names every input by its content, in an order that no path
// decides.
func (s *session) manifestInputs(p *plan) []corpus.Input {
	var out []corpus.Input
	for i, in := range s.inputs {
		for n, f := range in.files {
			out = append(out, corpus.Input{Kind: corpus.InputTraces, SHA256: f.SHA256, Bytes: f.Bytes, Records: p.Records[i][n]})
		}
	}
	for _, f := range s.day.Files {
		out = append(out, f.Input)
	}
	if s.earlier != nil {
		out = append(out, s.earlier.Input(corpus.InputParent))
	}
	slices.SortStableFunc(out, func(a, b corpus.Input) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.SHA256, b.SHA256))
	})
	return out
}

func (s *session) card(p *plan, r *reports.Set, pairs *corpus.PairSummary) corpus.Card {
	return corpus.Card{
		Title:   "Shopping agent trajectories",
		Tags:    finish.ShoppingTags,
		Default: configSFT,
		Sections: []corpus.Section{
			{Heading: "What this is", Body: r.Judges.Warning() + s.cardAbout(p)},
			{Heading: "Held-out protection", Body: r.Leak.Text(s.Config.Guard.Shares, s.Config.Guard.Seed)},
			{Heading: "Judge", Body: r.Judges.Text(s.Config.MaxUnscored)},
			pairs.Section(),
			{Heading: "Lengths", Body: reports.LengthsText(r.Lengths)},
			{Heading: "Agents", Body: r.Agents.Text()},
			{Heading: "Known limits", Body: knownLimits},
		},
	}
}

func (s *session) cardAbout(p *plan) string {
	in, out := p.Funnel[0].In, p.Funnel[len(p.Funnel)-1].Out
	sel := s.Config.Select
	return fmt.Sprintf(`%d records were read, %d attempts are rows of config sft: attempts in which the model itself decided
its tool calls, scored by the subnet's own rules, at most %d at one problem, best first. Rows are rendered with the
system prompt and the tools of harness profile %s (sha256 %s); the prompts that the agents themselves used are not in
their traces. reward is success times the judge's quality multiplier. Config rl has one row for every problem with the
pass statistics of the day, pref has pairs of attempts at one problem, kto attempts with a label. Attempts that differ
by less than an estimated Jaccard similarity of %.2g from a better one at the same problem were left out.`,
		in, out, sel.Top, s.Harness.Name, s.Harness.SHA256, sel.Near)
}

const knownLimits = `A judge's grade is correlational, not gold. Token counts are estimates (bytes4: a quarter of the
rendered UTF-8 bytes, rounded up) until a tokenizer is given. Inference replies over 2,000 characters are not in the
traces: where they are missing, the axis rests on their neighbours, at lower confidence. Text in traces was written by
models and by sellers; it is data and may hold anything.`

// pairsName is the file beside a part of pairs that sums up its pairs; maxPairs
// bounds what is read of it.
const (
	pairsName = "pairs.json"
	maxPairs  = 1 << 20
)

func (s *session) pairs(p *plan) (*corpus.PairSummary, error) {
	sum := &corpus.PairSummary{}
	for _, u := range p.Units {
		if u.Stream.Config != configKTO {
			continue
		}
		var part corpus.PairSummary
		if err := corpus.ReadJSON(s.FS, filepath.Join(s.partDir(p, u), pairsName), maxPairs, &part); err != nil {
			return nil, fmt.Errorf("read summary of pairs: %w", err)
		}
		sum.Merge(&part)
	}
	return sum, nil
}

// account walks the records in their order, calls visit for each, and makes the reports on
// them.
func (s *session) account(ctx context.Context, p *plan, visit func(at ref, x *block.Entry, f choose.Fate) error) (*reports.Set, error) {
	found := guard.NewReport(s.protect.Guard(corpus.SplitTrain))
	found.Injection, found.NotRun = &s.protect.Injection, s.protect.NotRun
	if s.protect.Tiers != nil {
		found.Ran = s.protect.Tiers
	}
	all := reports.NewAdder(found)
	for i := range s.day.Inputs {
		m := &s.day.Inputs[i].Meta
		named, _ := s.day.Inputs[i].PathIDs()
		all.Carries(cmp.Or(m.RunID, named), m.Agent.VersionID, m.Findings, m.Attempts)
	}
	err := s.entries(ctx, 1, block.PartFound, func(at ref, x *block.Entry) error {
		f := p.Fates[at.Input][at.Entry]
		x.Attempt = *s.attemptRow(x, f)
		if x.Fault == nil && f.Stage != stageRead {
			all.Add(x, f)
		}
		return visit(at, x, f)
	})
	if err != nil {
		return nil, err
	}
	leak, err := s.protect.report()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.Dropped, func(a, b guard.DroppedRow) int { return strings.Compare(a.ID, b.ID) })
	leak.Guard = found
	judge := s.Config.Judge
	judges := all.Judges(reports.Judges{
		Judge: judge.Name, Sparing: judge.Sparing, Agreement: s.Agreement, Multiplier: reports.Multiplier{Config: s.Config.Multiplier},
	}, s.Config.StepJudge.Name, p.Replies, p.Runs, s.Probes, judge.ProbeEvery)
	return &reports.Set{Funnel: p.Funnel, Agents: all.Agents(p.Agents), Judges: judges, Lengths: all.Lengths(), Leak: *leak}, nil
}

func (p *Protection) report() (*reports.Leak, error) {
	r := &reports.Leak{
		Clusters: map[guard.Pool]int{}, Problems: map[guard.Pool]int{}, Outside: p.Outside,
		SharedProducts: []string{}, Canary: "caught", Released: p.State.Released(),
	}
	side := map[string]guard.Pool{}
	for _, c := range p.State.Clusters {
		r.Clusters[c.Pool]++
		r.Problems[c.Pool] += len(c.Problems)
		for _, id := range c.ProductIDs {
			if other, seen := side[id]; seen && other != c.Pool {
				r.SharedProducts = append(r.SharedProducts, id)
			}
			side[id] = c.Pool
		}
	}
	if len(r.SharedProducts) > 0 {
		return nil, fmt.Errorf("audit the split: %d products are in clusters of different pools, the first is %s", len(r.SharedProducts), r.SharedProducts[0])
	}
	return r, nil
}
