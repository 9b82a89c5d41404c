package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/traces"
)

// plan is the group step's result: the fate of every record, and the units
// that the write step makes, each one file of the corpus or several.
type plan struct {
	// Key is the hash of the blocks and the configuration it was made from.
	Key    string         `json:"key"`
	Funnel []corpus.Stage `json:"funnel"`
	Units  []unit         `json:"units"`
	// Read is what could be read, Records counts records by input and file, Cut
	// are the files that ended early.
	Read    traces.Tally `json:"read"`
	Records [][]int64    `json:"records"`
	Cut     [][2]int     `json:"cut,omitempty"`
	reports.Replies
	// Fates are by input, then by entry.
	Fates [][]choose.Fate `json:"fates"`
	// Tallies count scored attempts and successes, by problem.
	Tallies []rows.Tally `json:"tallies"`
	// Runs are the qualities of the runs by their id, where factors depend on
	// them.
	Runs map[string]multiplier.Quality `json:"runs,omitempty"`
	// Framed are the agents whose days are flagged, where that weighs anything.
	Framed map[string]bool `json:"framed,omitempty"`
	// Agents are the days of the agents, by their names; Odds what they say of each
	// attempt, by input, then by entry.
	Agents map[string]*habits.Agent `json:"agents"`
	Odds   [][]habits.Odds          `json:"odds"`
}

// folder is where the parts of this plan and of no other lie.
func (p *plan) folder() string { return p.Key[:16] }

// unit is what one worker writes at once, as one part. Which units there are
// depends on the data alone, so that the files are the same however many
// processes write them.
type unit struct {
	// Stream is what the part holds. With kto come the pairs of pref, which are
	// made of the same attempts; with table attempts the ledger's other tables
	// but verdicts, which take as long together as verdicts alone.
	Stream corpus.Stream `json:"stream"`
	// Number counts the units of one stream.
	Number int `json:"number"`
	// Rows point at entries; those of one problem lie together. An rl unit has
	// problems instead; tables have neither.
	Rows     []ref `json:"rows,omitempty"`
	Problems []int `json:"problems,omitempty"`
}

func (u unit) name() string {
	if u.Stream.Table != "" {
		return u.Stream.Table
	}
	return fmt.Sprintf("%s-%s-%05d", u.Stream.Config, u.Stream.Split, u.Number)
}

// Units hold at most a row group's worth of row texts, 64 MiB. A smaller stream
// is cut in eight, so that trainers with several readers have a shard for each,
// but not below 4 MiB, where files cost more than they hold.
const (
	maxUnit = 64 << 20
	minUnit = 4 << 20
	shards  = 8
)

const (
	configSFT   = "sft"
	configRL    = "rl"
	configPref  = "pref"
	configKTO   = "kto"
	configSteps = "steps"
)

var profiles = map[string]string{
	configSFT: corpus.ProfileHFJSON, configRL: corpus.ProfileVerlRL, configPref: corpus.ProfilePref,
	configKTO: corpus.ProfileKTO, configSteps: corpus.ProfileStepwise,
}

func stream(config, split string) corpus.Stream {
	return corpus.Stream{Config: config, Profile: profiles[config], Split: split}
}

func (s *session) group(ctx context.Context) (*plan, error) {
	g := &grouper{session: s}
	if err := g.learn(ctx); err != nil {
		return nil, err
	}
	if err := g.decide(ctx); err != nil {
		return nil, err
	}
	all := g.rankProblems()
	p, err := g.plan(all)
	if err != nil {
		return nil, err
	}
	s.plan = p
	if err := s.desk.put(s.planPath(), p); err != nil {
		return nil, err
	}
	return p, s.forgetParts(p)
}

func (g *grouper) plan(all []selection) (*plan, error) {
	key, err := g.planKey()
	if err != nil {
		return nil, err
	}
	p := &plan{Key: key, Tallies: make([]rows.Tally, len(g.day.Problems.All)), Runs: g.weights.runs, Framed: g.weights.framed, Agents: g.habits.Agents}
	for i := range g.by {
		p.add(&g.by[i], make([]traces.Summary, len(g.inputs[i].files)))
	}
	if p.Funnel, err = choose.Funnel(stages, slices.Concat(p.Fates...)); err != nil {
		return nil, err
	}
	p.Funnel[0].Unreadable, p.Funnel[0].CutFiles = p.Read.UnreadableShare(), int64(p.Read.CutFiles)
	p.Units = g.units(all)
	return p, nil
}

// add takes in the next input, of whose files read says what was read. Problems and judges
// are measured by every attempt with a score, whoever decided its calls, as the day's own
// statistics are.
func (p *plan) add(in *grouped, read []traces.Summary) {
	for n, b := range in.briefs {
		r, s := &read[b.file], b.standing.Value()
		if b.fault != nil {
			r.Faults, r.Cut = r.Faults+1, r.Cut || b.fault.Cut
		} else {
			r.Traces++
		}
		if in.fates[n].Stage == stageRead {
			continue
		}
		p.Count(s.judged, s.stepped)
		if b.problem >= 0 && s.scored {
			t := &p.Tallies[b.problem]
			t.Attempts++
			if s.success {
				t.Successes++
			}
		}
	}
	records := make([]int64, len(read))
	for n, r := range read {
		p.Read.Add(r)
		records[n] = int64(r.Traces + r.Faults)
		if r.Cut {
			p.Cut = append(p.Cut, [2]int{len(p.Records), n})
		}
	}
	p.Fates, p.Odds, p.Records = append(p.Fates, in.fates), append(p.Odds, in.odds), append(p.Records, records)
}

// units come in the order in which workers take them: what takes longest is
// first, so that none is left with it alone at the end.
func (g *grouper) units(all []selection) []unit {
	out := []unit{{Stream: corpus.Stream{Table: finish.TableVerdicts}}, {Stream: corpus.Stream{Table: finish.TableAttempts}}}
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		mine := slices.DeleteFunc(slices.Clone(all), func(c selection) bool { return c.split != split })
		kept := func(c *selection) []candidate { return c.sft }
		out = append(out, cut(stream(configKTO, split), mine, (*selection).all)...)
		out = append(out, cut(stream(configSFT, split), mine, kept)...)
		if g.Config.Steps {
			out = append(out, cut(stream(configSteps, split), mine, kept)...)
		}
		var problems []int // those that may be shown to a student
		for i, pool := range g.protect.Pools {
			if splitOf(pool) == split && !g.protect.Problems[i].Drop {
				problems = append(problems, i)
			}
		}
		if len(problems) > 0 {
			out = append(out, unit{Stream: stream(configRL, split), Problems: problems})
		}
	}
	return out
}

// cut divides the rows of a stream into units, never within a problem.
func cut(s corpus.Stream, all []selection, rows func(*selection) []candidate) []unit {
	var out []unit
	size, total := int64(0), int64(0)
	for i := range all {
		for _, c := range rows(&all[i]) {
			total += c.bytes
		}
	}
	most := min(max(total/shards, minUnit), maxUnit)
	for i := range all {
		cs := rows(&all[i])
		if len(cs) == 0 {
			continue
		}
		if len(out) == 0 || size >= most {
			out = append(out, unit{Stream: s, Number: len(out)})
			size = 0
		}
		u := &out[len(out)-1]
		for _, c := range cs {
			u.Rows = append(u.Rows, c.ref)
			size += c.bytes
		}
	}
	return out
}

func (s *session) planKey() (string, error) {
	parts := []string{string(s.Config.JSON())}
	for _, in := range s.inputs {
		content, err := block.Content(s.FS, in.dir)
		if err != nil {
			return "", err
		}
		parts = append(parts, in.key.Input, in.key.Meta, in.key.Config, content)
	}
	return finish.Digest(parts...), nil
}

func (s *session) planPath() string { return filepath.Join(s.Work, planFile) }

// loadPlan reads the plan of the group step; one made from other blocks or
// another configuration is refused.
func (s *session) loadPlan() (*plan, error) {
	if s.plan != nil {
		return s.plan, nil
	}
	p := &plan{}
	if err := corpus.ReadJSON(s.FS, s.planPath(), 1<<32, p); err != nil {
		return nil, fmt.Errorf("read plan (run the group step first): %w", err)
	}
	key, err := s.planKey()
	if err != nil {
		return nil, err
	}
	if p.Key != key {
		return nil, fmt.Errorf("read plan %s: it was made from other inputs or another configuration: run the group step again", s.planPath())
	}
	return p, nil
}
