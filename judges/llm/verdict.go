package llm

import (
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/reply"
)

// verdict is what came of one question, or of several joined.
type verdict struct {
	outcome arena.JudgeOutcome
	answer
	member int
	model  string
	spent  ledger.Spent
	// held reports whether nothing was asked: the ledger had the answer.
	held   bool
	detail string
}

// answer is what a model said: a score with its reasons, or a verdict on each
// step.
type answer struct {
	reply.Answer
	steps []arena.StepVerdict
	// doubt is what is wrong with its quotes.
	doubt arena.JudgeDoubt
}

// merge joins verdicts into one by the rule given. One without an answer
// decides: a panel that lost a member is another panel.
func merge(all []verdict, join func([]verdict) verdict) verdict {
	joined := verdict{outcome: arena.JudgeScored, spent: ledger.Free(), held: true, member: all[0].member}
	var models []string
	for _, v := range all {
		joined.spent = joined.spent.Plus(v.spent)
		joined.held = joined.held && v.held
		if v.model != "" && !slices.Contains(models, v.model) {
			models = append(models, v.model)
		}
		if v.outcome != arena.JudgeScored {
			joined.outcome, joined.detail = v.outcome, v.detail
		}
	}
	joined.model = strings.Join(models, "+")
	if joined.outcome != arena.JudgeScored {
		return joined
	}
	first := join(all)
	joined.answer, joined.member, joined.detail = first.answer, first.member, first.detail
	return joined
}

// byScore gives the first verdict with the score that choose picks.
func byScore(choose func([]float64) float64) func([]verdict) verdict {
	return func(all []verdict) verdict {
		scores := make([]float64, len(all))
		for i, v := range all {
			scores[i] = v.Score
		}
		return all[slices.Index(scores, choose(scores))]
	}
}

// lowerMedian is the median, of two middle ones the lower.
func lowerMedian(scores []float64) float64 {
	return slices.Sorted(slices.Values(scores))[(len(scores)-1)/2]
}

// lowerMode is the commonest score, of several the lowest.
func lowerMode(scores []float64) float64 {
	counts := map[float64]int{}
	for _, s := range scores {
		counts[s]++
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b float64) int { return counts[a] - counts[b] })
}
