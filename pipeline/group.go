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
	row   choose.Row
	entry *entrySummary
	// isKept reports whether no stage before the ranking dropped the attempt. An attempt that was
	// dropped may still become a row of pref and kto.
	isKept bool
}

// groupedInput is the state of the group step for one input. entries, odds and decisions have one
// element for each record, in the order of the input.
type groupedInput struct {
	entries []*entrySummary
	// odds are the filter's evidence on who made the calls of each attempt (a model or a program),
	// from all attempts of its agent.
	odds       []habits.Odds
	decisions  []choose.Decision
	candidates []candidate
}

// grouper runs the group step, which decides on every record and selects the rows.
type grouper struct {
	session *session
	// inputs are in the order of session.inputs.
	inputs []groupedInput
	// filterDay has, for each attempt, the index in attempts of the copy that counts, and for each
	// agent its habits.
	filterDay *filters.Day
	attempts  []*entrySummary
	weights   weights
}

// readBlocks reads the results of the map step. It finds out which copy of each attempt counts, and
// computes the habits of each agent over all its attempts.
func (g *grouper) readBlocks(ctx context.Context) error {
	s := g.session
	g.inputs = make([]groupedInput, len(s.inputs))
	samples := make([][]*filters.Checked, len(s.inputs))
	parts := block.PartFound | block.PartSample
	err := s.eachEntry(ctx, s.Config.Workers, parts, func(pos ref, x *block.Entry) error {
		e := newEntrySummary(pos, x)
		in := &g.inputs[pos.Input]
		in.entries = append(in.entries, e)
		if e.fault == nil {
			c := &filters.Checked{
				ID:     e.id,
				Record: e.record,
				Agent:  e.agent.Value(),
				Sample: x.Sample,
			}
			samples[pos.Input] = append(samples[pos.Input], c)
		}
		return nil
	})
	if err != nil {
		return err
	}

	for i := range g.inputs {
		in := &g.inputs[i]
		in.odds = make([]habits.Odds, len(in.entries))
		for _, e := range in.entries {
			if e.fault == nil {
				g.attempts = append(g.attempts, e)
			}
		}
	}
	checked := slices.Concat(samples...)
	g.filterDay = s.filter.Day(checked)
	for i, e := range g.attempts {
		agent := g.filterDay.Agents[e.agent.Value()]
		g.inputs[e.Input].odds[e.Entry] = agent.Odds(&checked[i].Sample)
	}
	g.sumWeights()
	return nil
}

// sumWeights sums the grades of each run, and finds the agents whose graded passages follow one
// template, if the configured multipliers depend on these. It reads one copy of every attempt with
// a dialogue, whatever is decided on it, in the order of the inputs.
func (g *grouper) sumWeights() {
	config := g.session.Config.Multiplier
	g.weights.config = config
	if !config.NeedsDay() {
		return
	}
	if config.NeedsRuns() {
		g.weights.runs = map[string]multiplier.Quality{}
	}
	var passages []frames.Passage
	for _, e := range g.attempts {
		if !e.traits.Value().hasDialogue || g.attempts[g.filterDay.CountedCopy[e.id]] != e {
			continue
		}
		if g.weights.runs != nil && isGradable(e.traits.Value().judged) {
			run := e.run.Value()
			g.weights.runs[run] = g.weights.runs[run].Add(e.score)
		}
		if e.passage != "" {
			passages = append(passages, frames.Passage{
				Agent:   e.agent.Value(),
				Problem: e.problemID.Value(),
				Text:    e.passage,
			})
		}
	}
	g.weights.framed = map[string]bool{}
	for _, f := range frames.Flags(passages) {
		if f.Framed {
			g.weights.framed[f.Agent] = true
		}
	}
}

// revised returns the filter's result for an attempt after the second pass, which takes into account
// how the agent behaved in all its attempts of the day.
func (g *grouper) revised(pos ref, x *block.Entry) arena.Structure {
	return g.session.filterOf(x).Revise(
		x.Structure,
		g.inputs[pos.Input].odds[pos.Entry],
		g.filterDay.Agents[x.Agent],
	)
}

// isGradable reports whether an attempt with this outcome of its judgement counts in the mean of its
// run: the judge was asked, or would have been.
func isGradable(o arena.JudgeOutcome) bool {
	return o != arena.JudgeUnsaid && o != arena.JudgeNotMeasured
}
