package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/records"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// content returns all that a corpus is assembled from: the folders of its data files (parts), the
// manifest, the card, the division of the problems into train, eval and protected ones (the bank),
// reports and pages. If the corpus replaces an earlier version, content sets summary.Withdrawn to
// the number of attempts in earlier versions that are protected by now.
func (s *session) content(
	p *plan,
	parts []string,
	set *reports.Set,
	summary *Summary,
) (*finish.Content, error) {
	pairs, err := s.pairs(p)
	if err != nil {
		return nil, err
	}
	config := s.Config.JSON()
	instruments := s.Instruments.JSON()
	m := corpus.Manifest{
		Configuration:       config,
		Domains:             s.manifestDomains(p),
		Instruments:         instruments,
		ConfigurationSHA256: finish.Digest(config, instruments),
		Inputs:              s.manifestInputs(p),
		Funnel:              p.Funnel,
	}
	c := &finish.Content{
		Assembly: corpus.Assembly{
			Parts:    parts,
			Manifest: m,
			Card:     s.card(p, set, pairs),
		},
		Bank:           s.protection.State,
		HeldOutDigests: s.day.heldOutDigests(),
		Reports:        set.Files(),
	}
	if s.Config.Recorded {
		c.Card = s.recordedCard(p, set)
		c.Bank = s.recordedBank()
		delete(c.Reports, reports.AgentsName)
		delete(c.Reports, reports.JudgesName)
		summary.Failed = set.Rows.Unsolved()
	}
	if s.earlier != nil {
		w, withdrawErr := finish.Withdraw(
			s.earlier,
			s.protection.State,
			s.protection.Guard(corpus.SplitTrain),
		)
		if withdrawErr != nil {
			return nil, withdrawErr
		}
		c.Reports[finish.WithdrawnName] = w
		summary.Withdrawn = len(w.Rows)
	}
	if s.Pages != nil {
		if c.Pages, err = s.Pages(set); err != nil {
			return nil, err
		}
		c.Card.Sections = append(c.Card.Sections, plotSections(c.Pages)...)
	}
	return c, nil
}

// plotSections returns the section of the dataset card that shows the plots, which are the .svg
// files among the pages. It returns nil if there are none.
func plotSections(pages map[string][]byte) []corpus.Section {
	text := ""
	for _, name := range slicesx.SortedKeys(pages) {
		if title, ok := strings.CutSuffix(name, ".svg"); ok {
			text += fmt.Sprintf("![%s](reports/%s)\n", title, name)
		}
	}
	if text == "" {
		return nil
	}
	return []corpus.Section{{Heading: "Plots", Body: text}}
}

// manifestInputs returns the list of input files for the manifest: traces, other files and, if this
// corpus continues an earlier one, that corpus. The list is sorted by kind and content hash, so
// that it does not depend on paths.
func (s *session) manifestInputs(p *plan) []corpus.Input {
	var out []corpus.Input
	for i, in := range s.inputs {
		for n, f := range in.files {
			out = append(out, corpus.Input{
				Kind:    corpus.InputTraces,
				SHA256:  f.SHA256,
				Bytes:   f.Bytes,
				Records: p.Records[i][n],
			})
		}
	}
	for _, f := range s.day.Files {
		out = append(out, f.Input)
	}
	if s.earlier != nil {
		out = append(out, s.earlier.Input(corpus.InputParent))
	}
	slicesx.SortStableFunc(out, func(a, b corpus.Input) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.SHA256, b.SHA256))
	})
	return out
}

const (
	// pairsName is the name of the file, in each folder of data files, that summarises the folder's
	// preference pairs.
	pairsName = "pairs.json"
	// maxPairs is the maximum size in bytes of a file pairs.json that is read. It summarises the
	// preference pairs in one folder of data files.
	maxPairs = 1 << 20
)

// pairs returns the summary of all preference pairs of the corpus. It is the sum of the summaries,
// one file in each folder of data files of config kto.
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

// makeReports reads the stored result (entry) of every record in order and returns the reports on
// agents, judges, lengths and protected problems. It first completes x.Attempt, the record's row of
// the table attempts, and then calls visit for the record.
func (s *session) makeReports(
	ctx context.Context,
	p *plan,
	lines *planReader,
	visit func(x *block.Entry, d choose.Decision) error,
) (*reports.Set, error) {
	guardReport := s.newGuardReport()
	adder := reports.NewAdder(guardReport)
	s.addRuns(adder)
	formulas := map[string]string{} // of adaptivity, by agent
	var kept figures.Figures
	err := s.eachEntry(ctx, block.PartFound, func(pos records.Position, x *block.Entry) error {
		line, err := lines.of(p, pos.Input)
		if err != nil {
			return err
		}
		d := line.Decisions[pos.Entry]
		x.Attempt = *s.attemptRow(x, d)
		if d.IsKept() {
			kept.Add(configSFT, d.Split, p.figuresOf(x))
		}
		if x.Fault == nil && d.Stage != stageRead {
			adder.Add(x, d)
			addFormula(formulas, x.Agent, s.domains[x.Domain].adaptivity())
		}
		return visit(x, d)
	})
	if err != nil {
		return nil, err
	}
	adaptivity := map[string]*habits.Estimate{}
	for agent, formula := range formulas {
		adaptivity[agent] = p.Agents[agent].AdaptivityBy(formula)
	}
	leak, err := s.protection.leakReport()
	if err != nil {
		return nil, err
	}
	slicesx.SortFunc(guardReport.Dropped, func(a, b guard.DroppedRow) int {
		return strings.Compare(a.ID, b.ID)
	})
	leak.Guard = guardReport
	return &reports.Set{
		Funnel:  p.Funnel,
		Agents:  adder.Agents(adaptivity),
		Judges:  s.judgesReport(p, adder),
		Rows:    kept,
		Lengths: adder.Lengths(),
		Leak:    *leak,
	}, nil
}

// addFormula sets formulas[agent] to formula, and to "" if the agent had another one before: the
// figures of two formulas are not one figure.
func addFormula(formulas map[string]string, agent, formula string) {
	if earlier, ok := formulas[agent]; ok && earlier != formula {
		formula = ""
	}
	formulas[agent] = formula
}

// newGuardReport returns an empty report for the guard of the train split, which searches training
// rows for protected problems. The report has the guard's measured quality but no attempts yet.
func (s *session) newGuardReport() *guard.Report {
	r := guard.NewReport(s.protection.Guard(corpus.SplitTrain))
	r.Injection = &s.protection.Injection
	r.Honest = &s.protection.Honest
	r.NotRun = s.protection.NotRun
	if s.protection.Tiers != nil {
		r.Ran = s.protection.Tiers
	}
	return r
}

// addRuns adds to adder, for each input, the findings and the number of attempts that the subnet
// itself published for the run.
func (s *session) addRuns(adder *reports.Adder) {
	for i := range s.day.Inputs {
		in := &s.day.Inputs[i]
		pathRun, _ := in.PathIDs()
		adder.AddRun(
			cmp.Or(in.Meta.RunID, pathRun),
			in.Meta.Agent.VersionID,
			in.Meta.Findings,
			in.Meta.Attempts,
		)
	}
}

// figuresOf returns what the figures on the dataset card count of one attempt that became a
// training row: its tokens, task type, outcome, agent, team and model, and the difficulty of its
// problem.
func (p *plan) figuresOf(x *block.Entry) figures.Row {
	row := figures.Row{
		Tokens:  int64(x.Body.Tokens),
		Counter: rows.Bytes4{}.Name(),
		Task:    x.TaskType,
		Outcome: figures.Unknown,
		Agent:   x.Agent,
		Team:    x.AgentHotkey,
		Model:   text.Optional(x.Model, "%s", figures.NoModel),
	}
	switch {
	case x.Outcome.Success:
		row.Outcome = figures.Solved
	case x.Outcome.Scored():
		row.Outcome = figures.Unsolved
	}
	if x.Problem >= 0 {
		row.Difficulty = p.Tallies[x.Problem].Difficulty()
	}
	return row
}

func (s *session) judgesReport(p *plan, adder *reports.Adder) reports.Judges {
	base := reports.Judges{
		Judge:        s.judgeNames(p),
		DroppedEvery: s.Config.Judge.DroppedEvery,
		Agreement:    s.Agreement,
		Frames:       p.Flags,
		Multiplier:   reports.Multiplier{Config: s.Config.Multiplier},
	}
	return adder.Judges(
		base,
		p.Replies,
		p.Runs,
		s.Probes,
		s.Config.Judge.ProbeEvery,
	)
}

// judgeNames returns the names of the judges of the plan's domains, in their order, joined by commas. A
// judge that asks models has another name in each domain with a rubric of its own.
func (s *session) judgeNames(p *plan) string {
	var names []string
	for name := range p.Domains {
		names = append(names, s.domains[name].judgeName)
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(slices.Compact(names), ", "), s.Instruments.Judge.Name)
}

// leakReport returns the report on how the run's problems are divided into pools: train, eval,
// held-out (protected) and never-touch (in no row at all). It returns an error if similar problems
// in different pools have a right answer (a gold item) in common, since one would then give away
// the other.
func (p *Protection) leakReport() (*reports.Leak, error) {
	r := &reports.Leak{
		Clusters:    map[guard.Pool]int{},
		Problems:    map[guard.Pool]int{},
		Outside:     p.Outside,
		SharedItems: []string{},
		Canary:      "caught",
		Released:    p.State.Released(),
	}
	pools := map[string]guard.Pool{}
	for _, c := range p.State.Clusters {
		r.Clusters[c.Pool]++
		r.Problems[c.Pool] += len(c.Problems)
		for _, id := range c.ItemIDs {
			if pool, ok := pools[id]; ok && pool != c.Pool {
				r.SharedItems = append(r.SharedItems, id)
			}
			pools[id] = c.Pool
		}
	}
	r.HasItems = len(pools) > 0
	if len(r.SharedItems) > 0 {
		return nil, fmt.Errorf("audit the split: %d gold items are in clusters of different pools, the first is %s", len(r.SharedItems), r.SharedItems[0])
	}
	return r, nil
}

// recordedBank returns the bank of a corpus of attempts as they were recorded, nil if nothing is
// protected.
func (s *session) recordedBank() *guard.State {
	if s.protection.Guard(corpus.SplitTrain) == nil {
		return nil
	}
	return s.protection.State
}
