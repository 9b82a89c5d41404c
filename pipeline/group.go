package pipeline

import (
	"context"
	"unique"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/traces"
)

// candidate is an attempt that may become a row of one of the configs.
type candidate struct {
	choose.Row
	ref
	problem int
	// rank is what the filter makes of the trajectory, higher is better.
	rank float64
	// started is when its run began, in Unix milliseconds, the largest where unknown.
	started int64
	bytes   int64
	// kept reports whether nothing but its rank can still keep it out of sft.
	kept bool
}

type grouper struct {
	*session
	// habits say which copy of each attempt stays, and how each agent behaved;
	// refs and records are where the attempts are, and the hashes of their records,
	// by their positions there. odds are the plan's.
	habits  *filters.Day
	refs    []ref
	records []string
	odds    [][]habits.Odds
	weights weights
	// fates and candidates are by input, then in the order of its entries.
	fates      [][]choose.Fate
	candidates [][]candidate
	replies    []reports.Replies
	read       [][]traces.Summary
	tries      [][]try
}

// head is what the first pass keeps of one attempt.
type head struct {
	filters.Checked
	ref
	// judged and score are there where factors depend on the whole run.
	judged bool
	run    string
	score  *float64
	// passage is what decided the grade, at a problem.
	problem, passage string
}

// learn is the first pass: which copy of each attempt stays, and how each
// agent behaved over its day.
func (g *grouper) learn(ctx context.Context) error {
	byInput := make([][]head, len(g.inputs))
	g.odds = make([][]habits.Odds, len(g.inputs))
	err := g.entries(ctx, g.Config.Workers, block.PartSample, func(at ref, x *block.Entry) error {
		g.odds[at.Input] = append(g.odds[at.Input], habits.Odds{})
		if x.Fault != nil {
			return nil
		}
		a := &x.Attempt
		byInput[at.Input] = append(byInput[at.Input], head{
			Checked: filters.Checked{ID: a.TraceID, Record: a.RecordSHA256, Agent: one(x.Agent), Sample: x.Sample}, ref: at,
			judged: a.HasDialogue, run: one(a.RunID), score: x.Score, problem: one(a.ProblemID), passage: x.Passage,
		})
		return nil
	})
	if err != nil {
		return err
	}
	var checked []*filters.Checked
	for _, all := range byInput {
		for i := range all {
			checked, g.refs, g.records = append(checked, &all[i].Checked), append(g.refs, all[i].ref), append(g.records, all[i].Record)
		}
	}
	g.habits = g.filter.Day(checked)
	for i, at := range g.refs {
		g.odds[at.Input][at.Entry] = g.habits.Agents[checked[i].Agent].Odds(&checked[i].Sample)
	}
	g.weigh(byInput)
	return nil
}

// one is the same memory for every copy of a name that comes often.
func one(name string) string { return unique.Make(name).Value() }

// stays reports whether the entry at a place is the copy of its attempt that
// counts.
func (g *grouper) stays(id string, at ref) bool { return g.refs[g.habits.Stays[id]] == at }

// weigh adds up the quality of each run and the frames of each agent, where
// factors depend on them: over all judged attempts, whatever becomes of them, in
// the order of the inputs.
func (g *grouper) weigh(byInput [][]head) {
	g.weights.config = g.Config.Multiplier
	if !g.Config.Multiplier.NeedsDay() {
		return
	}
	if g.Config.Multiplier.NeedsRuns() {
		g.weights.runs = map[string]multiplier.Quality{}
	}
	var passages []frames.Passage
	for _, all := range byInput {
		for _, s := range all {
			if !s.judged || !g.stays(s.ID, s.ref) {
				continue
			}
			if g.weights.runs != nil {
				g.weights.runs[s.run] = g.weights.runs[s.run].Add(s.score)
			}
			if s.passage != "" {
				passages = append(passages, frames.Passage{Agent: s.Agent, Problem: s.problem, Text: s.passage})
			}
		}
	}
	g.weights.framed = map[string]bool{}
	for _, f := range frames.Flags(passages) {
		if f.Framed {
			g.weights.framed[f.Agent] = true
		}
	}
}

// revised is the attempt's structure after the look at its agent's whole day.
func (g *grouper) revised(at ref, x *block.Entry) arena.Structure {
	return g.filter.Revise(x.Structure, g.odds[at.Input][at.Entry], g.habits.Agents[x.Agent])
}
