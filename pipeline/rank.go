package pipeline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/records"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// candidate is an attempt that may become a row of one of the dataset's configs sft, pref and kto.
type candidate struct {
	row     chosen
	problem int
	id      string
	// score is the attempt's reward, 0 to 1, by which candidates are ordered. rank is the filter's
	// score of the trajectory; higher is better.
	score, rank float64
	// started is the start of the attempt's run in Unix milliseconds. It is the largest int64 if
	// the start is unknown.
	started int64
	// before is the decision on the attempt without regard to others at its problem.
	before choose.Decision
	// completion is the MinHash signature of the texts that the model wrote.
	completion minhash.Packed
}

// addCandidate writes the attempt at pos as a candidate. before is the decision on it so far.
func (g *decider) addCandidate(pos records.Position, x *block.Entry, before *choose.Decision) {
	started := int64(math.MaxInt64)
	if x.RunDate != nil {
		started = *x.RunDate
	}
	row := chosen{pos, before.Axis == arena.AxisAgentic, x.Body.Bytes}
	part := shuffle.RangeOf(x.Problem, len(g.session.day.Problems.All))
	g.out.Add(candidateStream, part, func(b []byte) []byte {
		b = records.AppendInts(row.append(b), x.Problem, int(started))
		b = habits.AppendFloat(b, g.weights.reward(x))
		b = habits.AppendFloat(b, x.Rank)
		b = habits.AppendText(b, x.TraceID)
		b = records.AppendDecision(b, before)
		return append(b, x.Body.Signature[:]...)
	})
}

func unpackCandidate(u *habits.Unpacker) *candidate {
	c := &candidate{
		row:     unpackChosen(u),
		problem: u.Int(),
		started: int64(u.Int()),
		score:   u.Float(),
		rank:    u.Float(),
		id:      u.Text(),
		before:  records.UnpackDecision(u),
	}
	copy(c.completion[:], u.Bytes(len(c.completion)))
	return c
}

// selection has those attempts at one problem that become rows of the corpus, best first.
type selection struct {
	problem int
	split   string
	// sft are the rows of config sft, others the attempts that only pref and kto use.
	sft    []chosen
	others []chosen
}

// chosen is an attempt that becomes a row.
type chosen struct {
	records.Position
	// IsAgentic reports whether the model decided the calls of the attempt.
	IsAgentic bool `json:"a,omitempty"`
	// bytes is the size of the attempt's texts.
	bytes int64
}

func (c *chosen) append(b []byte) []byte {
	b = records.AppendInts(b, c.Input, c.Entry, int(c.Offset), int(c.Size), int(c.bytes))
	return habits.AppendFlag(b, c.IsAgentic)
}

func unpackChosen(u *habits.Unpacker) chosen {
	pos := records.UnpackPosition(u)
	pos.Offset = int64(u.Int())
	pos.Size = int64(u.Int())
	bytes := int64(u.Int())
	return chosen{pos, u.Flag(), bytes}
}

func (s *selection) rows() []chosen { return slices.Concat(s.sft, s.others) }

func (s *selection) append(b []byte) []byte {
	b = habits.AppendText(records.AppendInts(b, s.problem), s.split)
	for _, list := range [...][]chosen{s.sft, s.others} {
		b = records.AppendInts(b, len(list))
		for i := range list {
			b = list[i].append(b)
		}
	}
	return b
}

func unpackSelection(u *habits.Unpacker) *selection {
	s := &selection{problem: u.Int(), split: u.Text()}
	for _, list := range [...]*[]chosen{&s.sft, &s.others} {
		for range u.Int() {
			*list = append(*list, unpackChosen(u))
		}
	}
	return s
}

// rankProblems orders, for every problem in a partition, the attempts that may become rows, selects
// the best, and writes the decision on each attempt that no earlier stage dropped. It writes one
// selection for each problem with rows.
func (g *grouper) rankProblems(_ context.Context, part int, out *shuffle.Store) error {
	byProblem := map[int][]*candidate{}
	err := g.Each(candidateStream, part, func(u *habits.Unpacker) {
		c := unpackCandidate(u)
		byProblem[c.problem] = append(byProblem[c.problem], c)
	})
	for _, problem := range slicesx.SortedKeys(byProblem) {
		selected := g.rankProblem(problem, byProblem[problem], func(pos records.Position, d *choose.Decision) {
			out.Add(rankStream, g.Partition(pos), func(b []byte) []byte {
				return records.AppendDecision(pos.Append(b), d)
			})
		})
		if len(selected.sft)+len(selected.others) > 0 {
			out.Add(selectionStream, part, selected.append)
		}
	}
	return err
}

func (g *grouper) rankProblem(problem int, candidates []*candidate, decide func(pos records.Position, d *choose.Decision)) selection {
	slicesx.SortFunc(candidates, compareCandidates)
	config := g.session.Config.Select
	pool := g.session.protection.Pools[problem]
	out := selection{problem: problem, split: splitOf(pool)}
	sft := choose.Thinner{
		Near:       config.Near,
		PerRequest: config.Top,
		FullReason: reasonTop,
	}
	if g.session.Config.Recorded {
		sft = choose.Thinner{Near: math.Inf(1)}
	}
	others := sft
	place := 0
	for _, c := range candidates {
		row := choose.Row{ID: c.id, Score: c.score, Completion: &c.completion}
		if !c.before.IsKept() { // it may still become a row of pref and kto
			if others.Offer(&row) == "" {
				out.others = append(out.others, c.row)
			}
			continue
		}
		place++
		d := out.add(c, &row, &sft, pool)
		d.Axis = c.before.Axis
		d.Stripped = c.before.Stripped
		d.Place = place
		d.Better = row.Better
		d.Similarity = row.Similarity
		decide(c.row.Position, &d)
	}
	if out.split == "" {
		return selection{}
	}
	return out
}

// add decides whether c, the next best attempt at the problem, becomes a row of config sft, adds it
// if so, and returns the decision. It is dropped as a near-duplicate of a better one, beyond the
// limit of rows of its problem, or if its problem is in no split.
func (s *selection) add(c *candidate, row *choose.Row, sft *choose.Thinner, pool guard.Pool) choose.Decision {
	if reason := sft.Offer(row); reason != "" {
		return choose.Decision{Stage: stageRank, Reason: reason}
	}
	if s.split == "" {
		return choose.Decision{Stage: stageSplit, Reason: reasonsWithoutSplit[pool]}
	}
	s.sft = append(s.sft, c.row)
	return choose.Decision{Split: s.split, Rank: len(s.sft)}
}

// compareCandidates orders the attempts at one problem, best first: by reward, then by the filter's
// score, then by the start of the run, the earlier first, so that no copy precedes its original,
// and then by ID. IDs are unique unless attempts are taken as they were recorded; then the order of
// the records decides.
func compareCandidates(a, b *candidate) int {
	return cmp.Or(
		cmp.Compare(b.score, a.score),
		cmp.Compare(b.rank, a.rank),
		cmp.Compare(a.started, b.started),
		cmp.Compare(a.id, b.id),
		cmp.Compare(a.row.Input, b.row.Input),
		cmp.Compare(a.row.Entry, b.row.Entry),
	)
}

// reasonsWithoutSplit has, for the pools held-out and never-touch, which are in no split, the
// reason that is recorded when an attempt at such a problem is dropped.
var reasonsWithoutSplit = map[guard.Pool]string{
	guard.PoolHeldOut:    reasonHeldOut,
	guard.PoolNeverTouch: reasonNeverTouch,
}

// splitOf returns the split, train or eval, that a pool of problems belongs to. It returns "" for
// the pools held-out and never-touch, which are in no split.
func splitOf(p guard.Pool) string {
	switch p {
	case guard.PoolTrain:
		return corpus.SplitTrain
	case guard.PoolEval:
		return corpus.SplitEval
	case guard.PoolHeldOut, guard.PoolNeverTouch:
	}
	return ""
}

// weights computes, from the judge's grade of a successful attempt, the factor from 0 to 1 by which
// its reward is multiplied. The stored results have only the grade, since the factor depends on
// settings that may change later.
type weights struct {
	config multiplier.Config
	// runs are the sums of the judge's grades of the runs by run ID, nil if no factor depends on
	// them.
	runs map[string]multiplier.Quality
	// framed has the agents whose deciding passages (the texts on which grades rest) follow one
	// template.
	framed map[string]bool
	// isRecorded reports whether attempts are taken as they were recorded.
	isRecorded bool
}

// weights returns the weights for these sums of grades, and flags of agents.
func (s *session) weights(runs map[string]multiplier.Quality, flags []frames.Flag) *weights {
	framed := map[string]bool{}
	for _, f := range flags {
		framed[f.Agent] = f.Framed
	}
	return &weights{s.Config.Multiplier, runs, framed, s.Config.Recorded}
}

// factor returns the factor, 0 to 1, by which an attempt's success is multiplied for the judge's
// grade. It is 1 if the grade must not count: a verifier or the source decided the outcome, or the
// judge was not measured on this kind of task. It returns nil if the attempt is excluded, because
// it has no dialogue, or no grade although the configuration requires one.
func (w *weights) factor(x *block.Entry) *float64 {
	if w.isRecorded {
		return new(1.0)
	}
	if !x.HasDialogue {
		return nil
	}
	if x.Outcome.Ruling != nil || x.Judgement.Outcome == arena.JudgeNotMeasured {
		return new(1.0)
	}
	if x.Judgement.Outcome == arena.JudgeUnsaid {
		return w.config.Ungradable(w.framed[x.Agent])
	}
	run := w.runs[x.RunID]
	if run.Mean() == nil && x.Withheld != nil { // all grades of the run are withheld
		run = run.Add(x.Withheld)
	}
	return w.config.Factor(cmp.Or(x.Score, x.Withheld), run, w.framed[x.Agent])
}

// quality returns the grade by which an attempt is compared with others at its problem. If the
// judge failed to give one, it returns the mean grade of the attempt's run. It returns nil if that
// is unknown, if the configuration excludes ungraded attempts, or if the attempt cannot have a
// grade, because no model wrote its thinking or the judge was not measured on this kind of task.
func (w *weights) quality(x *block.Entry) *float64 {
	if x.Score != nil || !x.Judgement.Outcome.IsGradable() || w.config.Unscored == multiplier.Excluded {
		return x.Score
	}
	return w.runs[x.Attempt.RunID].Mean()
}

// reward returns the reward of an attempt, 0 to 1. If attempts are taken as they were recorded, it
// is what the source declares, of any size. It is the score from a verifier or the source if there
// is one. Otherwise it is 0 for a failure, and for a success the factor that follows from the
// judge's grade.
func (w *weights) reward(x *block.Entry) float64 {
	if w.isRecorded {
		return *cmp.Or(x.Reward, new(0.0))
	}
	if r := x.Outcome.Ruling; r != nil && r.Score != nil {
		return *r.Score
	}
	if m := w.factor(x); m != nil && x.Outcome.Success {
		return *m
	}
	return 0
}
