package pipeline

import (
	"cmp"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// selection is the attempts of one problem that become rows, best first.
type selection struct {
	problem int
	split   string
	// sft holds what the sft config gets; rest what only pref and kto get.
	sft  []candidate
	rest []candidate
}

func (c *selection) all() []candidate { return slices.Concat(c.sft, c.rest) }

// rankProblems orders the candidates of every problem and keeps the best,
// writing the fates of the others.
func (g *grouper) rankProblems() []selection {
	byProblem := make([][]candidate, len(g.day.Problems.All))
	for _, cs := range g.candidates {
		for _, c := range cs {
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
	out := selection{problem: problem, split: splitOf(g.pool(problem))}
	var last fate
	for _, c := range cs {
		kept := &out.rest
		if c.kept {
			kept = &out.sft
		}
		switch {
		case near(c, *kept, g.Config.Select.Near):
			last = fate{stage: stageRank, reason: "near_duplicate"}
		case len(*kept) == g.Config.Select.Top:
			last = fate{stage: stageRank, reason: "beyond_top"}
		case out.split == "":
			last = fate{stage: stageSplit, reason: "never_touch"}
			*kept = append(*kept, c)
		default:
			*kept = append(*kept, c)
			last = fate{split: out.split, rank: len(*kept)}
		}
		if c.kept {
			last.axis = g.fates[c.Input][c.Entry].axis
			g.fates[c.Input][c.Entry] = last
		}
	}
	if out.split == "" {
		return selection{}
	}
	return out
}

// better orders attempts at one problem: by reward, then by what the filter
// makes of the trajectory, then by id. Ids are unique, so the order is total.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.reward, a.reward), cmp.Compare(b.rank, a.rank), cmp.Compare(a.id, b.id))
}

// near reports whether a better attempt did and said nearly the same. It goes by
// the signatures' estimate, whose standard error at 0.8 is 0.035.
func near(c candidate, better []candidate, limit float64) bool {
	return slices.ContainsFunc(better, func(b candidate) bool { return c.signature.Similarity(&b.signature) >= limit })
}

// splitOf is the split of a pool; never-touch is in none.
func splitOf(p guard.Pool) string {
	switch p {
	case guard.PoolTrain:
		return corpus.SplitTrain
	case guard.PoolEval:
		return corpus.SplitEval
	default:
		return ""
	}
}
