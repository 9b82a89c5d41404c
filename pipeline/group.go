package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpora/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// ref points at an entry: the position of its input, and its own in the block.
type ref struct {
	Input int `json:"i"`
	Entry int `json:"e"`
	block.Place
}

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
	// kept says that nothing but its rank can still keep it out of sft.
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

// entries calls f for every entry of every block, or for its head, one
// goroutine an input.
func (o *opened) entries(ctx context.Context, all func(*block.Reader) iter.Seq2[*block.Entry, error], f func(at ref, x *block.Entry) error) error {
	return each(ctx, o.Config.Workers, len(o.inputs), none, func(ctx context.Context, _ struct{}, i int) error {
		return o.entriesOf(ctx, i, all, f)
	})
}

// entriesOf is entries for one input.
func (o *opened) entriesOf(ctx context.Context, input int, all func(*block.Reader) iter.Seq2[*block.Entry, error], f func(at ref, x *block.Entry) error) error {
	in, err := block.Open(o.FS, o.inputs[input].dir)
	if err != nil {
		return err
	}
	defer in.Close()
	n := 0
	for x, failed := range all(in) {
		if failed == nil {
			failed = ctx.Err()
		}
		if failed == nil {
			failed = f(ref{input, n, x.Place}, x)
		}
		if failed != nil {
			return failed
		}
		n++
	}
	return nil
}

// ready checks that other processes have made every block.
func (o *opened) ready() error {
	for _, in := range o.inputs {
		s, err := block.State(o.FS, in.dir, in.key)
		if err != nil {
			return err
		}
		if s != block.Equal && s != block.Unfinished {
			return fmt.Errorf("read block of %s: %s: run the map step on all shards first", in.Path, s)
		}
	}
	return nil
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

// decide is the second pass: what becomes of each record before attempts at
// one problem are held against each other.
func (g *grouping) decide(ctx context.Context) error {
	n := len(g.inputs)
	g.fates, g.candidates, g.judged, g.tries = make([][]fate, n), make([][]candidate, n), make([]judged, n), make([][]try, n)
	return g.entries(ctx, (*block.Reader).Entries, func(at ref, x *block.Entry) error {
		f := g.fate(at, x)
		c := g.becomes(f, at, x)
		if c != nil {
			wanted, err := g.selected(x, f)
			if err != nil {
				return err
			}
			if !wanted {
				c = nil
			}
			if !wanted && f.kept() {
				f = fate{stage: stageRank, reason: "not_selected", axis: f.axis}
			}
		}
		g.fates[at.Input] = append(g.fates[at.Input], f)
		if x.Fault == nil && f.stage != stageRead {
			g.count(at, x)
		}
		if c != nil {
			g.candidates[at.Input] = append(g.candidates[at.Input], *c)
		}
		return nil
	})
}

// fate walks a record through the stages up to the guard.
func (g *grouping) fate(at ref, x *block.Entry) fate {
	if x.Fault != nil {
		return fate{stage: stageRead, reason: x.Fault.Reason, failed: true}
	}
	if g.winners[x.Attempt.ID].ref != at {
		return fate{stage: stageRead, reason: "duplicate_attempt"}
	}
	s := g.revised(x)
	f := g.judgedFate(x, &s)
	f.axis = s.Axis
	return f
}

// selected evaluates the run's own expression on an attempt that may become a
// row.
func (g *grouping) selected(x *block.Entry, f fate) (bool, error) {
	if g.where == nil {
		return true, nil
	}
	s := g.revised(x)
	line := where.Line{Attempt: g.attemptRow(x, f.stored()), Verdict: verdict(x, &s), Outcome: outcomeRow(x), Judgement: judgement(x, &x.Judgement, g.weights.factor(x))}
	return g.where.Match(line.Values())
}

func (g *grouping) judgedFate(x *block.Entry, s *arena.Structure) fate {
	sel := g.Config.Select
	switch {
	case !usable(g.filter, s, x.Outcome.Success) || x.Body.Bytes == 0 && x.Problem >= 0:
		return fate{stage: stageFilter, reason: firstReason(s.Reasons)}
	case x.Problem < 0:
		return fate{stage: stageScore, reason: "unknown_problem"}
	case x.Outcome.Scores == nil:
		return fate{stage: stageScore, reason: "no_score"}
	case !x.Outcome.Success && (sel.SuccessOnly || !s.Keep):
		return fate{stage: stageScore, reason: "unsuccessful"}
	case g.weights.factor(x) == nil:
		return fate{stage: stageJudge, reason: string(x.Judgement.Outcome), failed: true}
	case g.weights.reward(x) < sel.MinReward:
		return fate{stage: stageJudge, reason: "below_min_reward"}
	case x.Leak.Drop:
		return fate{stage: stageGuard, reason: "leak_" + x.Leak.Tier}
	default:
		return fate{}
	}
}

func firstReason(reasons []string) string {
	if len(reasons) == 0 {
		return "no_row"
	}
	return reasons[0]
}

// becomes is the candidate that an attempt is for sft, pref and kto: it stayed,
// or only its outcome or its reward keeps it out of sft. Leaking attempts are
// none.
func (g *grouping) becomes(f fate, at ref, x *block.Entry) *candidate {
	wanted := f.kept() || f.reason == "unsuccessful" || f.reason == "below_min_reward"
	if !wanted || x.Body.Bytes == 0 || x.Leak.Drop || g.weights.factor(x) == nil {
		return nil
	}
	return &candidate{
		ref: at, problem: x.Problem, id: x.Attempt.ID, reward: g.weights.reward(x), rank: x.Rank, success: x.Outcome.Success,
		bytes: x.Body.Bytes, signature: x.Body.Signature, kept: f.kept(),
	}
}

// try is one attempt's share in its problem's pass statistics.
type try struct {
	problem int
	success bool
}

// count notes what problems and judges are measured by: every attempt with a
// score counts, whoever decided its calls, as the day's own statistics do.
func (g *grouping) count(at ref, x *block.Entry) {
	if o := x.Judgement.Outcome; o != "" {
		g.judged[at.Input].whole.add(o)
	}
	if o := x.StepJudgement.Outcome; o != "" {
		g.judged[at.Input].steps.add(o)
	}
	if x.Problem >= 0 && x.Outcome.Scores != nil {
		g.tries[at.Input] = append(g.tries[at.Input], try{x.Problem, x.Outcome.Success})
	}
}

// pool is where the problem of a position may go.
func (g *grouping) pool(problem int) guard.Pool { return g.protect.Pools[problem] }
