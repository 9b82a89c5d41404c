package pipeline

import (
	"context"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// candidate is an attempt that may become a row of one of the configs.
type candidate struct {
	choose.Row
	*brief
	// kept reports whether nothing but its rank can still keep it out of sft.
	kept bool
}

// grouped is what the group step knows of one input: in the order of its entries what
// was read of each, what its agent's day says of it, and its fate; and the candidates
// among them.
type grouped struct {
	briefs     []*brief
	odds       []habits.Odds
	fates      []choose.Fate
	candidates []candidate
}

type grouper struct {
	*session
	// by are the inputs in their order.
	by []grouped
	// habits say which copy of each attempt stays, and how each agent behaved; all are
	// the attempts by their positions there.
	habits  *filters.Day
	all     []*brief
	weights weights
}

// learn reads every block, and finds which copy of each attempt stays, and how
// each agent behaved over its day.
func (g *grouper) learn(ctx context.Context) error {
	g.by = make([]grouped, len(g.inputs))
	samples := make([][]*filters.Checked, len(g.inputs))
	err := g.entries(ctx, g.Config.Workers, block.PartFound|block.PartSample, func(at ref, x *block.Entry) error {
		b, in := briefOf(at, x), &g.by[at.Input]
		if in.briefs = append(in.briefs, b); b.fault == nil {
			samples[at.Input] = append(samples[at.Input], &filters.Checked{ID: b.id, Record: b.record, Agent: b.agent.Value(), Sample: x.Sample})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range g.by {
		g.by[i].odds = make([]habits.Odds, len(g.by[i].briefs))
		for _, b := range g.by[i].briefs {
			if b.fault == nil {
				g.all = append(g.all, b)
			}
		}
	}
	checked := slices.Concat(samples...)
	g.habits = g.filter.Day(checked)
	for i, b := range g.all {
		g.by[b.Input].odds[b.Entry] = g.habits.Agents[b.agent.Value()].Odds(&checked[i].Sample)
	}
	g.weigh()
	return nil
}

// weigh adds up the quality of each run and the frames of each agent, where
// factors depend on them: over all judged attempts, whatever becomes of them, in
// the order of the inputs.
func (g *grouper) weigh() {
	g.weights.config = g.Config.Multiplier
	if !g.Config.Multiplier.NeedsDay() {
		return
	}
	if g.Config.Multiplier.NeedsRuns() {
		g.weights.runs = map[string]multiplier.Quality{}
	}
	var passages []frames.Passage
	for _, b := range g.all {
		if !b.standing.Value().hasDialogue || g.all[g.habits.CountedCopy[b.id]] != b {
			continue
		}
		if g.weights.runs != nil {
			run := b.run.Value()
			g.weights.runs[run] = g.weights.runs[run].Add(b.score)
		}
		if b.passage != "" {
			passages = append(passages, frames.Passage{Agent: b.agent.Value(), Problem: b.asked.Value(), Text: b.passage})
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
	return g.filter.Revise(x.Structure, g.by[at.Input].odds[at.Entry], g.habits.Agents[x.Agent])
}
