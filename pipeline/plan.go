package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/planfile"
	"github.com/trajectory-arena/arena/pipeline/records"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
	"github.com/trajectory-arena/arena/traces"
)

// plan is the result of the group step: the decision on every record, and the units, each of which
// is a share of the corpus that one worker writes.
//
// The plan's file has, before the plan itself, a line for each input (planLine) and for each unit (its
// content).
type plan struct {
	// Key is the hash of the blocks and the configuration that the plan was made from.
	Key    string         `json:"key"`
	Funnel []corpus.Stage `json:"funnel"`
	// Units are in the order in which workers take them, without their content.
	Units []unit `json:"units"`
	// Lines are the places of the inputs' lines, and Evidence hashes of what the verdicts on the
	// attempts of each input depend on besides its block: the habits of their agents, and the odds.
	Lines    []planfile.Place `json:"lines"`
	Evidence []string         `json:"evidence"`
	// Read counts what was read. Records counts the records by input and by file of the input. Cut
	// lists the files that ended early, each as the index of its input and its index in the input.
	Read    traces.Tally `json:"read"`
	Records [][]int64    `json:"records"`
	Cut     [][2]int     `json:"cut,omitempty"`
	reports.Counts
	// Runs are the qualities of the runs by their IDs, if factors depend on them.
	Runs map[string]multiplier.Quality `json:"runs,omitempty"`
	// Flags have the similarity of the passages that decided the grades of each agent.
	Flags []frames.Flag `json:"flags,omitempty"`
	// Agents are the habits of the agents over all their attempts, by agent.
	Agents map[string]*habits.Agent `json:"agents"`
}

// planLine is the line of one input in the file of a plan. Each of its lists has one element for
// each record of the input.
type planLine struct {
	Decisions []choose.Decision `json:"fates"`
	// Odds are the filter's evidence on who made the calls of each attempt.
	Odds []habits.Odds `json:"odds"`
}

// folder returns the name of the folder with the data files that are written for this plan.
func (p *plan) folder() string { return p.Key[:16] }

// makeLines writes, for each input in a partition, the line of the plan's file, and how many records
// each stage dropped.
func (g *grouper) makeLines(_ context.Context, part int, out *shuffle.Store) error {
	decisions := map[int][]choose.Decision{}
	for _, stream := range []int{decisionStream, rankStream} {
		err := g.Each(stream, part, func(u *habits.Unpacker) {
			pos := records.UnpackPosition(u)
			list := slicesx.Extended(decisions[pos.Input], pos.Entry)
			list[pos.Entry] = records.UnpackDecision(u)
			decisions[pos.Input] = list
		})
		if err != nil {
			return err
		}
	}
	odds, oddsErr := g.Odds(part)
	agents, err := g.Digests(part)
	err = cmp.Or(oddsErr, err)
	dropped := map[choose.Decision]int{}
	first, end := shuffle.Range(part, len(g.session.inputs))
	for i := first; i < end; i++ {
		list := decisions[i]
		for k := range list {
			d := &list[k]
			dropped[choose.Decision{Stage: d.Stage, Reason: d.Reason, Failed: d.Failed, Stripped: d.Stripped}]++
		}
		line := planLine{list, slicesx.Extended(odds[i], len(list)-1)}
		out.Add(lineStream, part, func(b []byte) []byte {
			return line.append(b, agents[i])
		})
	}
	for d, n := range dropped {
		out.Add(funnelStream, part, func(b []byte) []byte {
			return records.AppendInts(records.AppendDecision(b, &d), n)
		})
	}
	return err
}

// append appends the line to b, and the hash of what the verdicts on the attempts depend on. agents are
// the hashes of the habits of their agents.
func (l *planLine) append(b []byte, agents []string) []byte {
	slices.Sort(agents) // the order of their partitions says nothing
	b = habits.AppendText(b, asjson.Bytes(l))
	return habits.AppendText(b, finish.Digest(asjson.Bytes(agents), asjson.Bytes(l.Odds)))
}

// finish writes the plan with this key from the records of all rounds. It removes what later steps do
// not need.
func (g *grouper) finish(ctx context.Context, key string) error {
	s := g.session
	p := &plan{
		Key:    key,
		Counts: reports.NewCounts(len(s.day.Problems.All)),
		Runs:   g.Runs,
		Flags:  g.Flags,
		Agents: g.Agents,
	}
	if err := g.sumCounts(p); err != nil {
		return err
	}
	if err := g.sumFunnel(p); err != nil {
		return err
	}
	staged := filepath.Join(s.staging.Dir, planFile)
	f, err := corpus.Create(s.FS, staged)
	if err != nil {
		return err
	}
	err = g.writePlan(ctx, p, planfile.NewWriter(f))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := s.FS.Rename(staged, s.planPath()); err != nil {
		return err
	}
	if err := s.FS.RemoveAll(filepath.Join(s.Work, groupFolder)); err != nil {
		return err
	}
	return s.removeUnneeded(p)
}

// removeUnneeded removes what no step after the plan p reads: the pieces of blocks, which are all
// finished, and the data files of earlier plans.
func (s *session) removeUnneeded(p *plan) error {
	if err := s.FS.RemoveAll(filepath.Join(s.Work, segmentsFolder)); err != nil {
		return err
	}
	return s.removeUnused(partsFolder, map[string]bool{p.folder(): true})
}

// removePlan removes the plan with this key, or one that cannot be read. It leaves the plan that
// another build has put in its place.
func (s *session) removePlan(key string) error {
	stored, err := planfile.ReadKey(s.FS, s.planPath())
	if err == nil && stored != key {
		return nil
	}
	return s.FS.RemoveAll(s.planPath())
}

// writePlan writes all lines of a plan.
func (g *grouper) writePlan(ctx context.Context, p *plan, w *planfile.Writer) error {
	var writeErr error
	err := g.All(lineStream, func(u *habits.Unpacker) {
		place, err := w.Add(u.Packed())
		writeErr = cmp.Or(writeErr, err)
		p.Lines = append(p.Lines, place)
		p.Evidence = append(p.Evidence, u.Text())
	})
	if err = cmp.Or(err, writeErr, ctx.Err()); err != nil {
		return err
	}
	err = g.eachUnit(func(u *unit) (err error) {
		u.Line, err = w.Add(asjson.Bytes(u.unitContent))
		p.Units = append(p.Units, unit{Stream: u.Stream, Number: u.Number, Line: u.Line})
		return err
	})
	if err != nil {
		return err
	}
	return w.Finish(p.Key, p)
}

// sumCounts adds the counts of all partitions to p.
func (g *grouper) sumCounts(p *plan) error {
	err := g.All(countStream, func(u *habits.Unpacker) {
		counted := &reports.Counts{}
		u.JSON(counted)
		p.Merge(counted)
	})
	if err != nil {
		return err
	}
	err = g.All(tallyStream, func(u *habits.Unpacker) {
		tally := &p.Tallies[u.Int()]
		tally.Attempts += int64(u.Int())
		tally.Successes += int64(u.Int())
	})
	if err != nil {
		return err
	}
	return g.sumFiles(p)
}

// sumFiles adds the counts of the trace files to p, in the order of the inputs.
func (g *grouper) sumFiles(p *plan) error {
	files := slicesx.Map(g.session.inputs, func(in input) []traces.Summary {
		return make([]traces.Summary, len(in.files))
	})
	err := g.All(fileStream, func(u *habits.Unpacker) {
		files[u.Int()][u.Int()] = traces.Summary{Traces: u.Int(), Faults: u.Int(), Cut: u.Flag()}
	})
	for i, list := range files {
		counts := make([]int64, len(list))
		for n, summary := range list {
			p.Read.Add(summary)
			counts[n] = int64(summary.Traces + summary.Faults)
			if summary.Cut {
				p.Cut = append(p.Cut, [2]int{i, n})
			}
		}
		p.Records = append(p.Records, counts)
	}
	return err
}

// sumFunnel sets the funnel of p, which has its other counts.
func (g *grouper) sumFunnel(p *plan) error {
	dropped := map[choose.Decision]int{}
	err := g.All(funnelStream, func(u *habits.Unpacker) {
		dropped[records.UnpackDecision(u)] += u.Int()
	})
	if err != nil {
		return err
	}
	var decisions iter.Seq[choose.Decision] = func(yield func(choose.Decision) bool) {
		for d, n := range dropped {
			for range n {
				if !yield(d) {
					return
				}
			}
		}
	}
	if p.Funnel, err = choose.Funnel(g.session.stages(), decisions); err != nil {
		return err
	}
	p.Funnel[0].Unreadable = p.Read.UnreadableShare()
	p.Funnel[0].CutFiles = int64(p.Read.CutFiles)
	i := slices.IndexFunc(p.Funnel, func(st corpus.Stage) bool { return st.Name == stageJudge })
	if i < 0 {
		return nil
	}
	judged := &p.Funnel[i]
	judged.NotMeasured = p.NotMeasured
	judged.Drawn = p.Drawn
	judged.NotAsked = p.NotAsked
	judged.Undecided = p.Undecided
	return nil
}

// planReader reads the lines of a plan's file. It is not safe for concurrent use.
type planReader struct {
	*planfile.Reader
	// input is the index of the input whose line was read last, -1 if none was.
	input int
	line  planLine
}

// openPlan opens the plan's file.
func (s *session) openPlan() (*planReader, error) {
	r, err := planfile.Open(s.FS, s.planPath())
	return &planReader{Reader: r, input: -1}, err
}

// of returns the line of the input at index i. It is valid until the next call.
func (r *planReader) of(p *plan, i int) (*planLine, error) {
	if r.input == i {
		return &r.line, nil
	}
	r.input = i
	r.line = planLine{}
	return &r.line, r.Read(p.Lines[i], &r.line)
}

// hasPlan reports whether the work folder has the plan with this key.
func (s *session) hasPlan(key string) bool {
	stored, err := planfile.ReadKey(s.FS, s.planPath())
	return err == nil && stored == key
}

// readPlan reads the plan (the decision on every record, and the shares of the corpus to write)
// from the file in the work folder, without the lines of its inputs and units.
func (s *session) readPlan() (*plan, error) {
	r, err := s.openPlan()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p := &plan{}
	return p, r.ReadPlan(p)
}

// planKey returns the hash by which a plan is recognised as still valid. It covers all that the
// plan depends on: the configuration, the measuring instruments (such as the judge), the problems,
// the protected problems, the catalogue, and all stored results.
func (s *session) planKey() (string, error) {
	parts := []string{
		"arena.plan.v2",
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
	if p.Key != key || len(p.Lines) != len(s.inputs) {
		return nil, fmt.Errorf("read plan %s: it was made from other inputs or another configuration: run the group step again", s.planPath())
	}
	return p, nil
}
