package pipeline

import (
	"cmp"
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// candidate is an attempt that may become a row of one of the configs.
type candidate struct {
	ref
	problem   int
	id        string
	reward    float64
	rank      float64
	success   bool
	bytes     int64
	signature minhash.Signature
	// kept reports whether nothing but its rank can still keep it out of sft.
	kept bool
}

// grouping is what the group step learns of all entries.
type grouping struct {
	*opened
	// winners hold, for every trace id, the copy of the attempt that stays.
	winners map[string]copyOf
	agents  map[string]filters.AgentStats
	weights weights
	// fates and candidates are by input, then in the order of its entries.
	fates      [][]fate
	candidates [][]candidate
	judged     []judged
	// tries are scored attempts by problem.
	tries [][]try
}

// judged counts the answers of the judge and of the step judge.
type judged struct{ whole, steps asked }

// asked counts attempts that a judge was asked about, and those of them that it
// gave no answer to.
type asked struct{ all, without int }

func (a *asked) add(o arena.JudgeOutcome) {
	a.all++
	if o != arena.JudgeScored {
		a.without++
	}
}

// copyOf orders the copies of one attempt: the smaller record hash stays.
type copyOf struct {
	record string
	ref
}

func (c copyOf) before(o copyOf) bool {
	return cmp.Or(cmp.Compare(c.record, o.record), cmp.Compare(c.Input, o.Input), cmp.Compare(c.Entry, o.Entry)) < 0
}

// sampled is what the first pass keeps of one attempt.
type sampled struct {
	id    string
	agent string
	copyOf
	sample filters.Sample
	// judged and score are there where factors depend on the whole run.
	judged bool
	run    string
	score  *float64
}

// learn is the first pass: which copy of each attempt stays, and how each
// agent behaved over its day.
func (g *grouping) learn(ctx context.Context) error {
	byInput := make([][]sampled, len(g.inputs))
	read := (*block.Reader).Heads
	if g.Config.Multiplier.NeedsRuns() {
		read = (*block.Reader).Entries
	}
	err := g.entries(ctx, read, func(at ref, x *block.Entry) error {
		if x.Fault != nil {
			return nil
		}
		byInput[at.Input] = append(byInput[at.Input], sampled{
			id: x.Attempt.ID, agent: agentOf(&x.Attempt), copyOf: copyOf{x.Attempt.RecordSHA256, at}, sample: x.Sample,
			judged: x.Attempt.HasDialogue, run: x.Attempt.RunID, score: score(x),
		})
		return nil
	})
	if err != nil {
		return err
	}
	g.winners = map[string]copyOf{}
	for _, all := range byInput {
		for _, s := range all {
			if w, known := g.winners[s.id]; !known || s.before(w) {
				g.winners[s.id] = s.copyOf
			}
		}
	}
	g.agentDays(byInput)
	g.weigh(byInput)
	return nil
}

// weigh adds up the quality of each run, where factors depend on it: over all
// its judged attempts, whatever becomes of them, in the order of the inputs.
func (g *grouping) weigh(byInput [][]sampled) {
	g.weights.config = g.Config.Multiplier
	if !g.Config.Multiplier.NeedsRuns() {
		return
	}
	g.weights.runs = map[string]multiplier.Quality{}
	for _, all := range byInput {
		for _, s := range all {
			if s.judged && g.winners[s.id].ref == s.ref {
				g.weights.runs[s.run] = g.weights.runs[s.run].Add(s.score)
			}
		}
	}
}

func (g *grouping) agentDays(byInput [][]sampled) {
	days, offered := map[string][]filters.Sample{}, filters.Offered{}
	for _, all := range byInput {
		for _, s := range all {
			if g.winners[s.id].ref == s.ref {
				offered.Add(&s.sample)
				days[s.agent] = append(days[s.agent], s.sample)
			}
		}
	}
	g.agents = make(map[string]filters.AgentStats, len(days))
	for agent, samples := range days {
		g.agents[agent] = g.filter.AgentDay(samples, offered)
	}
}

// agentOf names an agent by the most precise thing that is known of it.
func agentOf(a *block.Attempt) string { return cmp.Or(a.Agent.VersionID, a.Agent.Hotkey, a.RunID) }

// revised is the attempt's structure after the look at its agent's whole day.
func (g *grouping) revised(x *block.Entry) arena.Structure {
	return g.filter.Revise(x.Structure, x.Sample, g.agents[agentOf(&x.Attempt)])
}
