package pipeline

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"unique"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/traces"
)

// plan is the result of the group step: the decision on every record, and the units, each of which
// is a share of the corpus that one worker writes.
type plan struct {
	// Key is the hash of the blocks and the configuration that the plan was made from.
	Key    string         `json:"key"`
	Funnel []corpus.Stage `json:"funnel"`
	Units  []unit         `json:"units"`
	// Read counts what was read. Records counts the records by input and by file of the input. Cut
	// lists the files that ended early, each as the index of its input and its index in the input.
	Read    traces.Tally `json:"read"`
	Records [][]int64    `json:"records"`
	Cut     [][2]int     `json:"cut,omitempty"`
	reports.Replies
	// Decisions are by input, then by entry. The plan's file has them in lines of their own.
	Decisions [][]decision `json:"-"`
	// Refused counts the records in unsupported formats, by the name of the format.
	Refused map[string]int64 `json:"refused,omitempty"`
	// Domains counts the attempts by domain.
	Domains map[string]int64 `json:"domains"`
	// NotMeasured counts the attempts that the judge would have graded if it had been measured on
	// their domain.
	NotMeasured int64 `json:"not_measured,omitempty"`
	// Drawn and NotAsked count the attempts that cannot become rows by whether they were drawn for
	// grading.
	Drawn    int64 `json:"drawn,omitempty"`
	NotAsked int64 `json:"not_asked,omitempty"`
	// Tallies count scored attempts and successes, by problem.
	Tallies []rows.Tally `json:"tallies"`
	// Runs are the qualities of the runs by their IDs, if factors depend on them.
	Runs map[string]multiplier.Quality `json:"runs,omitempty"`
	// Framed are the agents whose deciding passages follow one template, if factors depend on it.
	Framed map[string]bool `json:"framed,omitempty"`
	// Adding are the agents whose clients add sentences to most thinking, if factors depend on it.
	Adding map[string]bool `json:"adding,omitempty"`
	// Agents are the habits of the agents over all their attempts, by agent.
	Agents map[string]*habits.Agent `json:"agents"`
	// Odds are the filter's evidence on who made the calls of each attempt, by input, then by
	// entry.
	Odds [][]habits.Odds `json:"-"`
}

// planLine is the line of one input in the file of a plan. Each of its lists has one element for
// each record of the input.
type planLine struct {
	Decisions []choose.Decision `json:"fates"`
	Odds      []habits.Odds     `json:"odds"`
}

// folder returns the name of the folder with the data files that are written for this plan.
func (p *plan) folder() string { return p.Key[:16] }

// group runs the group step, which decides on every record, and stores the result, the plan. It
// removes the data files that were written for earlier plans.
func (s *session) group(ctx context.Context) (*plan, error) {
	return s.groupWithin(ctx, maxSamples)
}

// groupWithin runs the group step, which decides on every record, and stores the result, the plan.
// It removes the data files that were written for earlier plans, and the pieces of blocks that were
// not finished. Of the trace IDs, of the samples (what the filter recorded of each attempt) and of the candidates, at most
// limit bytes each are in memory.
func (s *session) groupWithin(ctx context.Context, limit int) (*plan, error) {
	g := s.newGrouper(limit)
	p, err := g.run(ctx)
	if err = errors.Join(err, g.close()); err != nil {
		return nil, err
	}
	s.plan = p
	if err := s.writePlan(p); err != nil {
		return nil, err
	}
	if err := s.FS.RemoveAll(filepath.Join(s.Work, segmentsFolder)); err != nil { // all blocks are finished
		return nil, err
	}
	return p, s.removeOldParts(p)
}

// run returns the plan of the group step, without storing it.
func (g *grouper) run(ctx context.Context) (*plan, error) {
	if err := g.readBlocks(ctx); err != nil {
		return nil, err
	}
	if err := g.begin(); err != nil {
		return nil, err
	}
	if err := g.decide(ctx); err != nil {
		return nil, err
	}
	selections, err := g.rankProblems(ctx)
	if err != nil {
		return nil, err
	}
	return g.plan, g.complete(selections)
}

// writePlan writes a plan (the decision on every record) to a file of JSON lines: the plan without
// its lists, then one planLine for each input. So only the text of one input is in memory at a
// time.
func (s *session) writePlan(p *plan) error {
	staged := filepath.Join(s.staging.Dir, planFile)
	f, err := corpus.Create(s.FS, staged)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<18)
	lines := json.NewEncoder(w)
	err = lines.Encode(p)
	for i := range p.Decisions {
		if err == nil {
			err = lines.Encode(planLine{slicesx.Map(p.Decisions[i], decision.Value), p.Odds[i]})
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return s.FS.Rename(staged, s.planPath())
}

// readPlan reads the plan (the decision on every record, and the shares of the corpus to write)
// from the file in the work folder that writePlan wrote.
func (s *session) readPlan() (*plan, error) {
	f, err := s.FS.Open(s.planPath())
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := json.NewDecoder(bufio.NewReaderSize(f, 1<<18))
	p := &plan{}
	if err := lines.Decode(p); err != nil {
		return nil, err
	}
	for lines.More() {
		var line planLine
		if err := lines.Decode(&line); err != nil {
			return nil, err
		}
		p.Decisions = append(p.Decisions, slicesx.Map(line.Decisions, unique.Make))
		p.Odds = append(p.Odds, line.Odds)
	}
	return p, nil
}

// begin prepares the plan, to which decide adds the counts.
func (g *grouper) begin() error {
	key, err := g.session.planKey()
	g.plan = &plan{
		Key:     key,
		Tallies: make([]rows.Tally, len(g.session.day.Problems.All)),
		Runs:    g.weights.runs,
		Framed:  g.weights.framed,
		Adding:  g.weights.adding,
		Agents:  g.agents,
		Domains: map[string]int64{},
		Refused: map[string]int64{},
	}
	return err
}

// complete adds to the plan the decisions, the funnel and the units.
func (g *grouper) complete(selections []selection) (err error) {
	p := g.plan
	for i := range g.inputs {
		p.addInput(&g.inputs[i])
	}
	if p.Funnel, err = choose.Funnel(stages, p.decisions()); err != nil {
		return err
	}
	p.Funnel[0].Unreadable = p.Read.UnreadableShare()
	p.Funnel[0].CutFiles = int64(p.Read.CutFiles)
	judged := &p.Funnel[slices.Index(stages, stageJudge)]
	judged.NotMeasured = p.NotMeasured
	judged.Drawn = p.Drawn
	judged.NotAsked = p.NotAsked
	p.Units = g.units(selections)
	return nil
}

// decisions returns an iterator over the decisions on all records.
func (p *plan) decisions() iter.Seq[choose.Decision] {
	return func(yield func(choose.Decision) bool) {
		for _, list := range p.Decisions {
			for _, d := range list {
				if !yield(d.Value()) {
					return
				}
			}
		}
	}
}

// addInput adds the decisions on the records of the next input to the plan, and the counts of its
// trace files.
func (p *plan) addInput(in *groupedInput) {
	records := make([]int64, len(in.files))
	for n, summary := range in.files {
		p.Read.Add(summary)
		records[n] = int64(summary.Traces + summary.Faults)
		if summary.Cut {
			p.Cut = append(p.Cut, [2]int{
				len(p.Records),
				n,
			})
		}
	}
	p.Decisions = append(p.Decisions, in.decisions)
	p.Odds = append(p.Odds, in.odds)
	p.Records = append(p.Records, records)
}

// addRecord adds a record to the counts of the plan. d is the decision on it before the ranking.
func (p *plan) addRecord(x *block.Entry, d *choose.Decision) {
	if x.Fault != nil && x.Fault.Reason == string(traces.UnsupportedSchema) {
		p.Refused[x.Fault.Detail]++
	}
	if d.Stage != stageRead {
		p.addAttempt(x)
	}
	if x.Judgement.Outcome == arena.JudgeNotMeasured && reachesJudge(d) {
		p.NotMeasured++
	}
}

// reachesJudge reports whether a record reached the judge, because no earlier stage dropped the
// record.
func reachesJudge(d *choose.Decision) bool {
	return d.IsKept() || slices.Index(stages, d.Stage) >= slices.Index(stages, stageJudge)
}

// addAttempt adds an attempt to the counts of its domain (kind of task) and of the judges' answers.
// A scored attempt also counts in the tally (attempts and successes) of its problem, whether a model
// or a program made its calls.
func (p *plan) addAttempt(x *block.Entry) {
	p.Domains[x.Domain]++
	p.Count(x.Judgement.Outcome, x.StepJudgement.Outcome)
	if x.OneIn > 0 {
		p.Drawn++
	}
	if x.Judgement.Outcome == arena.JudgeNotAsked {
		p.NotAsked++
	}
	if x.Problem < 0 || !x.Outcome.Scored() {
		return
	}
	tally := &p.Tallies[x.Problem]
	tally.Attempts++
	if x.Outcome.Success {
		tally.Successes++
	}
}

// planKey returns the hash by which a plan is recognised as still valid. It covers all that the
// plan depends on: the configuration, the measuring instruments (such as the judge), the problems,
// the protected problems, the catalogue, and all stored results.
func (s *session) planKey() (string, error) {
	parts := []string{
		string(s.Config.JSON()),
		string(s.Instruments.JSON()),
		s.digest,
	}
	for _, in := range s.inputs {
		content, err := block.Content(s.FS, in.dir)
		if err != nil {
			return "", err
		}
		parts = append(
			parts,
			in.key.Input,
			in.key.Meta,
			in.key.Config,
			content,
		)
	}
	return finish.Digest(parts...), nil
}

func (s *session) planPath() string { return filepath.Join(s.Work, planFile) }

// loadPlan returns the plan (the decisions of the group step) from memory or from the work folder.
// It returns an error if the stored plan was made from other results or with another configuration.
func (s *session) loadPlan() (*plan, error) {
	if s.plan != nil {
		return s.plan, nil
	}
	p, err := s.readPlan()
	if err != nil {
		return nil, fmt.Errorf("read plan (run the group step first): %w", err)
	}
	key, err := s.planKey()
	if err != nil {
		return nil, err
	}
	if p.Key != key || len(p.Decisions) != len(s.inputs) {
		return nil, fmt.Errorf("read plan %s: it was made from other inputs or another configuration: run the group step again", s.planPath())
	}
	return p, nil
}
