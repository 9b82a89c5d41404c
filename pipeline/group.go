package pipeline

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
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
	"github.com/trajectory-arena/arena/pipeline/shuffle"
	"github.com/trajectory-arena/arena/traces"
)

// groupedInput is the state of one input in the group step, which decides on every record. Its
// lists have one element for each record, in the order of the input.
type groupedInput struct {
	// copies says which records are copies of an attempt that is read elsewhere too.
	copies []copyKind
	// odds are the filter's evidence on who made the calls of each attempt (a model or a program),
	// from all attempts of its agent.
	odds      []habits.Odds
	decisions []decision
	// files has the number of records of each trace file of the input.
	files []traces.Summary
}

// copyKind says whether a record is a copy of another one with its trace ID.
type copyKind uint8

const (
	// original is a record that counts, duplicate one with the same content as the one that counts,
	// and collision one with another content.
	original copyKind = iota
	duplicate
	collision
)

// grouper runs the group step, which decides on every record whether it is kept, and selects the
// training rows. It reads all blocks twice and has, for each record, only the lists of groupedInput
// in memory. What else it has to compare is divided into partitions, of which each worker reads one
// at a time.
type grouper struct {
	session *session
	// inputs are in the order of session.inputs.
	inputs []groupedInput
	// ids are the trace IDs, in partitions by ID. samples are the input of the filter's second pass,
	// in partitions by agent: what the filter recorded of each attempt. hashes is the number of
	// hashes of replies and dialogues in them. candidates are in partitions by problem.
	ids        *shuffle.Store
	samples    *shuffle.Store
	candidates *shuffle.Store
	hashes     atomic.Int64
	// agents are the habits of the agents over all their attempts, by the agent's identity.
	agents  map[string]*habits.Agent
	weights weights
	plan    *plan
	mu      sync.Mutex // for agents, weights and plan
}

// maxSamples is the maximum size in bytes of the samples (what the filter recorded of each attempt)
// that the group step keeps in memory. It suffices for some 50,000 attempts. The same limit holds for
// the trace IDs and for the candidates.
const maxSamples = 16 << 20

func (s *session) newGrouper(limit int) *grouper {
	store := func(name string) *shuffle.Store {
		return shuffle.New(s.FS, filepath.Join(s.staging.Dir, name), limit)
	}
	return &grouper{
		session:    s,
		inputs:     make([]groupedInput, len(s.inputs)),
		ids:        store("ids"),
		samples:    store("samples"),
		candidates: store("candidates"),
		agents:     map[string]*habits.Agent{},
		weights:    weights{config: s.Config.Multiplier, framed: map[string]bool{}, adding: map[string]bool{}},
	}
}

func (g *grouper) close() error {
	return errors.Join(g.ids.Close(), g.samples.Close(), g.candidates.Close())
}

// readBlocks reads the stored results of all inputs once. From them it finds the copies of
// attempts, computes what is typical of each agent over all its attempts (its habits), and sums the
// judge's grades of each run.
func (g *grouper) readBlocks(ctx context.Context) error {
	s := g.session
	err := s.eachEntry(ctx, s.Config.Workers, block.PartSample, func(pos ref, x *block.Entry) error {
		in := &g.inputs[pos.Input]
		in.copies = append(in.copies, original)
		if x.Fault != nil {
			return nil
		}
		g.hashes.Add(int64(len(x.Sample.Replies) + 1))
		err := g.ids.Add(shuffle.PartitionOf(x.TraceID), func(b []byte) []byte {
			b = habits.AppendText(appendPosition(b, pos), x.TraceID)
			b = habits.AppendText(b, x.RecordSHA256)
			return habits.AppendText(b, x.Agent)
		})
		if err != nil {
			return err
		}
		return g.samples.Add(shuffle.PartitionOf(x.Agent), func(b []byte) []byte {
			b = habits.AppendText(appendPosition(b, pos), x.Agent)
			b = habits.AppendText(b, x.ProblemID)
			if x.HasDialogue {
				b = habits.AppendText(b, x.Passage)
			} else {
				b = habits.AppendText(b, "")
			}
			b = binary.AppendVarint(b, int64(x.Origin))
			return x.Sample.Append(b)
		})
	})
	if err == nil {
		err = g.findCopies(ctx)
	}
	if err == nil {
		err = g.findHabits(ctx)
	}
	if err == nil {
		err = g.sumGrades(ctx)
	}
	return err
}

func appendPosition(b []byte, pos ref) []byte {
	b = binary.AppendVarint(b, int64(pos.Input))
	return binary.AppendVarint(b, int64(pos.Entry))
}

// isCopy reports whether the attempt at pos does not count, because it is a copy of another one.
func (g *grouper) isCopy(pos ref) bool { return g.inputs[pos.Input].copies[pos.Entry] != original }

// identified is an attempt as the search for copies reads it.
type identified struct {
	ref
	id, record, agent string
}

// precedes reports whether x, and not y, counts if both have the same ID.
func (x *identified) precedes(y *identified) bool {
	return cmp.Or(
		filters.CompareCopies(
			[]byte(x.record),
			x.agent,
			[]byte(y.record),
			y.agent,
		),
		cmp.Compare(x.Input, y.Input),
		cmp.Compare(x.Entry, y.Entry),
	) < 0
}

// findCopies finds attempts with the same trace ID, such as those of a file that was uploaded
// twice. The first counts, in the order of filters.CompareCopies.
func (g *grouper) findCopies(ctx context.Context) error {
	return g.eachPart(ctx, g.ids, func(u *habits.Unpacker) {
		var all []identified
		first := map[string]int{} // index in all
		for u.More() {
			x := identified{ref: unpackPosition(u), id: u.Text(), record: u.Text(), agent: u.Text()}
			if k, ok := first[x.id]; !ok || x.precedes(&all[k]) {
				first[x.id] = len(all)
			}
			all = append(all, x)
		}
		for k := range all {
			x := &all[k]
			counted := &all[first[x.id]]
			switch {
			case counted == x:
			case counted.record == x.record:
				g.inputs[x.Input].copies[x.Entry] = duplicate
			default:
				g.inputs[x.Input].copies[x.Entry] = collision
			}
		}
	})
}

func unpackPosition(u *habits.Unpacker) ref { return ref{Input: u.Int(), Entry: u.Int()} }

// findHabits computes what is typical of each agent over all its attempts (its habits), and for
// each attempt the odds that a model, not a program, made its calls. It reads the samples (what the
// filter recorded of each attempt) three times: to find texts that occur more than once, to find
// which agents have them, and to compute the habits.
func (g *grouper) findHabits(ctx context.Context) error {
	for i := range g.inputs {
		in := &g.inputs[i]
		in.odds = make([]habits.Odds, len(in.copies))
	}
	repeats := habits.NewRepeats(int(g.hashes.Load()))
	err := g.eachSample(ctx, func(x *sampled) {
		repeats.Add(&x.sample)
	})
	if err != nil {
		return err
	}
	index := habits.NewIndex(repeats)
	err = g.eachSample(ctx, func(x *sampled) {
		if g.isCopy(x.ref) {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		index.Add(&x.sample, x.agent)
	})
	if err != nil {
		return err
	}
	return g.eachPart(ctx, g.samples, func(u *habits.Unpacker) {
		g.addHabits(u, index)
	})
}

// eachPart calls visit once for each partition of a store, with a reader of the partition's records.
// Several workers call it at once.
func (g *grouper) eachPart(ctx context.Context, store *shuffle.Store, visit func(u *habits.Unpacker)) error {
	return inorder.Each(ctx, g.session.Config.Workers, shuffle.Partitions, func(_ context.Context, part int) error {
		records, err := store.Partition(part)
		if err != nil {
			return err
		}
		u := habits.NewUnpacker(records)
		visit(u)
		return u.Err()
	})
}

// sampled is what the group step reads of an attempt to find the habits of its agent.
type sampled struct {
	ref
	agent, problem string
	// passage is the passage of the attempt that decided the judge's grade.
	passage string
	origin  arena.Origin
	sample  habits.Sample
}

func (x *sampled) unpack(u *habits.Unpacker) {
	x.ref = unpackPosition(u)
	x.agent = u.Text()
	x.problem = u.Text()
	x.passage = u.Text()
	x.origin = arena.Origin(u.Int()) //nolint:gosec // packed above
	u.Sample(&x.sample)
}

// eachSample calls visit for every attempt. Several workers call it at once. x is valid only during
// its call.
func (g *grouper) eachSample(ctx context.Context, visit func(x *sampled)) error {
	return g.eachPart(ctx, g.samples, func(u *habits.Unpacker) {
		x := &sampled{}
		for u.More() {
			x.unpack(u)
			visit(x)
		}
	})
}

// addHabits adds the habits of the agents in one partition (what is typical of an agent over all its
// attempts) to g.agents, and the agents whose cited passages (the texts on which the judge's grades
// rest) follow one template to the weights. It also sets the odds of their attempts: the evidence on
// whether a model made the calls. Copies of attempts do not count; an agent that has only copies has
// habits without samples.
func (g *grouper) addHabits(u *habits.Unpacker, index habits.Index) {
	var all []*sampled
	needsPassages := g.weights.config.NeedsDay()
	var passages []frames.Passage
	counted := map[string][]*habits.Sample{}
	for u.More() {
		x := &sampled{}
		x.unpack(u)
		all = append(all, x)
		samples := counted[x.agent]
		if !g.isCopy(x.ref) {
			samples = append(samples, &x.sample)
			if needsPassages {
				passages = append(passages, frames.Passage{
					Agent:   x.agent,
					Problem: x.problem,
					Text:    x.passage,
					Origin:  x.origin,
				})
			}
		}
		counted[x.agent] = samples
	}
	agents := make(map[string]*habits.Agent, len(counted))
	for name, samples := range counted {
		agents[name] = g.session.filter.Agent(name, samples, index)
	}
	for _, x := range all {
		g.inputs[x.Input].odds[x.Entry] = agents[x.agent].Odds(&x.sample)
	}
	flags := frames.Flags(passages)
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.Copy(g.agents, agents)
	for _, f := range flags {
		if f.Framed {
			g.weights.framed[f.Agent] = true
		}
		if f.Adds {
			g.weights.adding[f.Agent] = true
		}
	}
}

// sumGrades sums the judge's grades of each run, if rewards depend on it. Each attempt with a
// dialogue counts once, even if it is dropped.
func (g *grouper) sumGrades(ctx context.Context) error {
	if !g.weights.config.NeedsRuns() {
		return nil
	}
	runs := map[string]multiplier.Quality{}
	g.weights.runs = runs
	return g.session.eachEntry(ctx, 1, block.PartFound, func(pos ref, x *block.Entry) error {
		if x.Fault == nil && x.HasDialogue && !g.isCopy(pos) && isGradable(x.Judgement.Outcome) {
			runs[x.RunID] = runs[x.RunID].Add(x.Score)
		}
		return nil
	})
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
