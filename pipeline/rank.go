package pipeline

import (
	"cmp"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// selection is the attempts of one problem that become rows, best first.
type selection struct {
	pool  guard.Pool
	split string
	// sft holds what the sft config gets; rest what only pref and kto get.
	sft  []candidate
	rest []candidate
}

func (c *selection) all() []candidate { return slices.Concat(c.sft, c.rest) }

// rankProblems orders the candidates of every problem and keeps the best,
// writing the fates of the others.
func (g *grouper) rankProblems() []selection {
	byProblem := make([][]candidate, len(g.day.Problems.All))
	for i := range g.by {
		for _, c := range g.by[i].candidates {
			byProblem[c.problem] = append(byProblem[c.problem], c)
		}
	}
	var out []selection
	for problem, cs := range byProblem {
		if c := g.rankProblem(problem, cs); len(c.sft)+len(c.rest) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (g *grouper) rankProblem(problem int, cs []candidate) selection {
	slices.SortFunc(cs, better)
	pool := g.protect.Pools[problem]
	out := selection{pool: pool, split: splitOf(pool)}
	sft := choose.Thinner{Near: g.Config.Select.Near, PerRequest: g.Config.Select.Top, Full: reasonTop}
	rest, place := sft, 0
	for _, c := range cs {
		if c.kept {
			place++
			was, f := &g.by[c.Input].fates[c.Entry], out.add(&c, &sft)
			f.Axis, f.Place, f.Better, f.Alike = was.Axis, place, c.Better, c.Alike
			*was = f
		} else if rest.Offer(&c.Row) == "" {
			out.rest = append(out.rest, c)
		}
	}
	if out.split == "" {
		return selection{}
	}
	return out
}

// add takes in the next best attempt, where it may stay, and gives its fate.
func (s *selection) add(c *candidate, sft *choose.Thinner) choose.Fate {
	if reason := sft.Offer(&c.Row); reason != "" {
		return choose.Fate{Stage: stageRank, Reason: reason}
	}
	if s.split == "" {
		return choose.Fate{Stage: stageSplit, Reason: withoutSplit[s.pool]}
	}
	s.sft = append(s.sft, *c)
	return choose.Fate{Split: s.split, Rank: len(s.sft)}
}

// better orders attempts at one problem: by reward, then by what the filter
// makes of the trajectory, then by when its run began, so that no copy passes its
// original, then by id. Ids are unique, so the order is total.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.rank, a.rank), cmp.Compare(a.started, b.started), cmp.Compare(a.ID, b.ID))
}

// withoutSplit are the reasons of attempts at problems whose pool no split holds.
var withoutSplit = map[guard.Pool]string{guard.PoolHeldOut: reasonHeldOut, guard.PoolNeverTouch: reasonNeverTouch}

// splitOf is the split of a pool; what was held out and never-touch are in none.
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

// weights turn the judgements in the blocks into factors on the outcome. They
// belong to the configuration of the corpus: a block keeps the judgement alone.
type weights struct {
	config multiplier.Config
	// runs are the qualities of the runs by their id; nil where no factor
	// depends on them.
	runs map[string]multiplier.Quality
	// framed are the agents whose days are flagged; nil where that weighs nothing.
	framed map[string]bool
}

// factor is what an attempt's outcome is weighed with; nil where it is left
// out. What the subnet's verifier ruled is not weighed.
func (w *weights) factor(x *block.Entry) *float64 {
	if !x.HasDialogue {
		return nil
	}
	if x.Outcome.Ruling != nil {
		return new(1.0)
	}
	return w.config.Factor(x.Score, w.runs[x.RunID], w.framed[x.Agent])
}

// quality is what an attempt's reasoning counts as beside another's at the same
// problem: its own grade, or that of its run where the researcher lets this
// stand for a missing one.
func (w *weights) quality(x *block.Entry) *float64 {
	if x.Score != nil || w.config.Unscored == multiplier.Excluded {
		return x.Score
	}
	return w.runs[x.Attempt.RunID].Mean()
}

// reward is the outcome times the quality of the reasoning, 0 to 1, or what the
// subnet's verifier paid.
func (w *weights) reward(x *block.Entry) float64 {
	if r := x.Outcome.Ruling; r != nil && r.Score != nil {
		return *r.Score
	}
	if m := w.factor(x); m != nil && x.Outcome.Success {
		return *m
	}
	return 0
}
