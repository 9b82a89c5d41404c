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

// grouper is what the group step learns of all entries.
type grouper struct {
	*session
	// winners hold, for every trace id, the copy of the attempt that stays.
	winners map[string]occurrence
	agents  map[string]filters.AgentStats
	weights weights
	// fates and candidates are by input, then in the order of its entries.
	fates      [][]fate
	candidates [][]candidate
	replies    []replies
	// tries are scored attempts by problem.
	tries [][]try
}

// replies counts those of the judge and of the step judge.
type replies struct{ whole, steps replyCount }

// replyCount counts attempts that a judge was asked about, and those of them that it
// gave no answer to.
type replyCount struct{ all, without int }

func (a *replyCount) add(o arena.JudgeOutcome) {
	a.all++
	if o != arena.JudgeScored {
		a.without++
	}
}

// occurrence is one of the copies of an attempt: that with the smaller record hash
// stays.
type occurrence struct {
	record string
	ref
}

func (c occurrence) before(o occurrence) bool {
	return cmp.Or(cmp.Compare(c.record, o.record), cmp.Compare(c.Input, o.Input), cmp.Compare(c.Entry, o.Entry)) < 0
}

// head is what the first pass keeps of one attempt.
type head struct {
	id    string
	agent string
	occurrence
	sample filters.Sample
	// judged and score are there where factors depend on the whole run.
	judged bool
	run    string
	score  *float64
}

// learn is the first pass: which copy of each attempt stays, and how each
// agent behaved over its day.
func (g *grouper) learn(ctx context.Context) error {
	byInput := make([][]head, len(g.inputs))
	read := (*block.Reader).Heads
	if g.Config.Multiplier.NeedsRuns() {
		read = (*block.Reader).Entries
	}
	err := g.entries(ctx, read, func(at ref, x *block.Entry) error {
		if x.Fault != nil {
			return nil
		}
		byInput[at.Input] = append(byInput[at.Input], head{
			id: x.Attempt.ID, agent: agentOf(&x.Attempt), occurrence: occurrence{x.Attempt.RecordSHA256, at}, sample: x.Sample,
			judged: x.Attempt.HasDialogue, run: x.Attempt.RunID, score: score(x),
		})
		return nil
	})
	if err != nil {
		return err
	}
	g.winners = map[string]occurrence{}
	for _, all := range byInput {
		for _, s := range all {
			if w, known := g.winners[s.id]; !known || s.before(w) {
				g.winners[s.id] = s.occurrence
			}
		}
	}
	g.agentDays(byInput)
	g.weigh(byInput)
	return nil
}

// weigh adds up the quality of each run, where factors depend on it: over all
// its judged attempts, whatever becomes of them, in the order of the inputs.
func (g *grouper) weigh(byInput [][]head) {
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

func (g *grouper) agentDays(byInput [][]head) {
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
func (g *grouper) revised(x *block.Entry) arena.Structure {
	return g.filter.Revise(x.Structure, x.Sample, g.agents[agentOf(&x.Attempt)])
}
