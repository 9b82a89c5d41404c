package pipeline

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// candidate is an attempt that may become a row of one of the dataset's configs sft, pref and kto.
type candidate struct {
	entry *entrySummary
	// score is the attempt's reward, 0 to 1, by which candidates are ordered.
	score float64
	// isKept reports whether no stage before the ranking dropped the attempt. An attempt that was
	// dropped may still become a row of pref and kto.
	isKept bool
}

// groupedInput is the state of one input in the group step, which decides on every record. Its
// lists have one element for each record, in the order of the input: entries (summaries of the
// stored results), odds (evidence on whether a model made the calls) and decisions.
type groupedInput struct {
	entries []*entrySummary
	// odds are the filter's evidence on who made the calls of each attempt (a model or a program),
	// from all attempts of its agent.
	odds       []habits.Odds
	decisions  []choose.Decision
	candidates []candidate
}

// grouper runs the group step, which decides on every record whether it is kept, and selects the
// training rows.
type grouper struct {
	session *session
	// inputs are in the order of session.inputs.
	inputs []groupedInput
	// samples are the input of the filter's second pass, in partitions by agent: what the filter
	// recorded of each attempt. hashes is the number of hashes of replies and dialogues in them.
	samples *shuffle.Store
	hashes  atomic.Int64
	// maxSamples is the maximum size in bytes of the samples in memory; all further ones are in a
	// file.
	maxSamples int
	// agents are the habits of the agents over all their attempts, by the agent's identity.
	agents  map[string]*habits.Agent
	weights weights
}

// maxSamples is the maximum size in bytes of the samples (what the filter recorded of each attempt)
// that the group step keeps in memory. It suffices for some 50,000 attempts.
const maxSamples = 16 << 20

// readBlocks reads the stored results of all inputs once. From them it finds the copies of
// attempts, computes what is typical of each agent over all its attempts (its habits), and sums the
// judge's grades of each run.
func (g *grouper) readBlocks(ctx context.Context) error {
	s := g.session
	g.inputs = make([]groupedInput, len(s.inputs))
	g.samples = shuffle.New(s.FS, filepath.Join(s.staging.Dir, "samples"), g.maxSamples)
	parts := block.PartFound | block.PartSample
	err := s.eachEntry(ctx, s.Config.Workers, parts, func(pos ref, x *block.Entry) error {
		e := newEntrySummary(pos, x)
		in := &g.inputs[pos.Input]
		in.entries = append(in.entries, e)
		if e.fault != nil {
			return nil
		}
		g.hashes.Add(int64(len(x.Sample.Replies) + 1))
		return g.samples.Add(shuffle.PartitionOf(x.Agent), func(b []byte) []byte {
			b = binary.AppendVarint(b, int64(pos.Input))
			b = binary.AppendVarint(b, int64(pos.Entry))
			return x.Sample.Append(b)
		})
	})
	if err == nil {
		err = g.findCopies(ctx)
	}
	if err == nil {
		err = g.findHabits(ctx)
	}
	if err = errors.Join(err, g.samples.Close()); err != nil {
		return err
	}
	g.sumWeights()
	return nil
}

// findCopies finds attempts with the same trace ID, such as those of a file that was uploaded
// twice. The first counts as the original, in the order of filters.CompareCopies; for each other
// one it sets which attempt it is a copy of.
func (g *grouper) findCopies(ctx context.Context) error {
	parts := make([][]*entrySummary, shuffle.Partitions)
	for e := range g.attempts() {
		part := shuffle.PartitionOf(e.id)
		parts[part] = append(parts[part], e)
	}
	return inorder.Each(ctx, g.session.Config.Workers, len(parts), func(_ context.Context, i int) error {
		counted := make(map[string]*entrySummary, len(parts[i]))
		for _, e := range parts[i] {
			if first := counted[e.id]; first == nil || compareCopies(e, first) < 0 {
				counted[e.id] = e
			}
		}
		for _, e := range parts[i] {
			if first := counted[e.id]; first != e {
				e.original = first
			}
		}
		parts[i] = nil
		return nil
	})
}

func compareCopies(a, b *entrySummary) int {
	return filters.CompareCopies(
		a.record[:],
		a.agent.Value(),
		b.record[:],
		b.agent.Value(),
	)
}

// attempts returns an iterator over the summaries of all readable records, in the order of the
// inputs.
func (g *grouper) attempts() iter.Seq[*entrySummary] {
	return func(yield func(*entrySummary) bool) {
		for i := range g.inputs {
			for _, e := range g.inputs[i].entries {
				if e.fault == nil && !yield(e) {
					return
				}
			}
		}
	}
}

// findHabits computes what is typical of each agent over all its attempts (its habits), and for
// each attempt the odds that a model, not a program, made its calls. It reads the samples (what the
// filter recorded of each attempt) three times: to find texts that occur more than once, to find
// which agents have them, and to compute the habits.
func (g *grouper) findHabits(ctx context.Context) error {
	for i := range g.inputs {
		in := &g.inputs[i]
		in.odds = make([]habits.Odds, len(in.entries))
	}
	repeats := habits.NewRepeats(int(g.hashes.Load()))
	err := g.eachSample(ctx, func(_ *entrySummary, sample *habits.Sample) {
		repeats.Add(sample)
	})
	if err != nil {
		return err
	}
	index := habits.NewIndex(repeats)
	var mu sync.Mutex
	err = g.eachSample(ctx, func(e *entrySummary, sample *habits.Sample) {
		if e.original != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		index.Add(sample, e.agent.Value())
	})
	if err != nil {
		return err
	}
	g.agents = map[string]*habits.Agent{}
	return g.eachPart(ctx, func(u *habits.Unpacker) {
		agents := g.habitsOf(u, index)
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(g.agents, agents)
	})
}

// eachPart calls visit once for each partition of the store, with a reader of the partition's
// samples (what the filter recorded of each attempt). Several workers call it at once.
func (g *grouper) eachPart(ctx context.Context, visit func(u *habits.Unpacker)) error {
	return inorder.Each(ctx, g.session.Config.Workers, shuffle.Partitions, func(_ context.Context, part int) error {
		records, err := g.samples.Partition(part)
		if err != nil {
			return err
		}
		u := habits.NewUnpacker(records)
		visit(u)
		return u.Err()
	})
}

// eachSample calls visit for every sample (what the filter recorded of an attempt) with the summary
// of its attempt. Several workers call it at once. A sample is valid only during its call.
func (g *grouper) eachSample(ctx context.Context, visit func(*entrySummary, *habits.Sample)) error {
	return g.eachPart(ctx, func(u *habits.Unpacker) {
		sample := &habits.Sample{}
		for u.More() {
			visit(g.unpack(u, sample), sample)
		}
	})
}

// unpack reads the next record of a partition into sample (what the filter recorded of an attempt)
// and returns the summary of the attempt.
func (g *grouper) unpack(u *habits.Unpacker, sample *habits.Sample) *entrySummary {
	input := u.Int()
	entry := u.Int()
	u.Sample(sample)
	return g.inputs[input].entries[entry]
}

// habitsOf returns the habits of the agents in one partition (what is typical of an agent over all
// its attempts), by agent. It also sets the odds of their attempts: the evidence on whether a model
// made the calls. Copies of attempts do not count for habits; an agent that has only copies has
// habits without samples.
func (g *grouper) habitsOf(u *habits.Unpacker, index habits.Index) map[string]*habits.Agent {
	var entries []*entrySummary
	var all []*habits.Sample
	counted := map[string][]*habits.Sample{}
	for u.More() {
		sample := &habits.Sample{}
		e := g.unpack(u, sample)
		entries = append(entries, e)
		all = append(all, sample)
		name := e.agent.Value()
		samples := counted[name]
		if e.original == nil {
			samples = append(samples, sample)
		}
		counted[name] = samples
	}
	agents := make(map[string]*habits.Agent, len(counted))
	for name, samples := range counted {
		agents[name] = g.session.filter.Agent(name, samples, index)
	}
	for i, e := range entries {
		g.inputs[e.Input].odds[e.Entry] = agents[e.agent.Value()].Odds(all[i])
	}
	return agents
}

// sumWeights prepares the multipliers of rewards. If their configuration needs it, it sums the
// judge's grades of each run, and finds the agents whose cited passages (the texts on which the
// judge's grades rest) follow one template. Each attempt with a dialogue counts once, even if it is
// dropped.
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
	for e := range g.attempts() {
		if !e.traits.Value().hasDialogue || e.original != nil {
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

// revised returns the filter's final result for the attempt at pos. The first result was made from
// the attempt alone; the final one takes into account how the agent behaved in all its attempts.
func (g *grouper) revised(pos ref, x *block.Entry) arena.Structure {
	return g.session.filterOf(x).Revise(
		x.Structure,
		g.inputs[pos.Input].odds[pos.Entry],
		g.agents[x.Agent],
	)
}

// isGradable reports whether an attempt with this outcome of its judgement can have a grade at all.
// It cannot if the judge was not measured on its kind of task, or if no model wrote its thinking.
// Only attempts that can have a grade count in the figures of their run: the mean grade, and the
// share of attempts that have one.
func isGradable(o arena.JudgeOutcome) bool {
	return o != arena.JudgeUnsaid && o != arena.JudgeNotMeasured
}
