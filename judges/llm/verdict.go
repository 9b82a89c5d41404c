package llm

import (
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/reply"
)

// verdict is the result of one question, or of several joined.
type verdict struct {
	outcome arena.JudgeOutcome
	answer
	member int
	model  string
	cost   ledger.Spent
	// cached is set if no request was sent: the ledger had the answer.
	cached bool
	detail string
}

// answer is a model's answer: a score with its reasons, or a verdict on each step.
type answer struct {
	reply.Answer
	steps []arena.StepVerdict
	// doubt describes what is wrong with its quotes.
	doubt arena.JudgeDoubt
}

// merge joins verdicts into one. If any has no answer, the result has none: a panel
// without one of its members is another panel.
func merge(verdicts []verdict, join func([]verdict) verdict) verdict {
	merged := verdict{
		outcome: arena.JudgeScored,
		cost:    ledger.Free(),
		cached:  true,
		member:  verdicts[0].member,
	}
	var models []string
	for _, v := range verdicts {
		merged.cost = merged.cost.Plus(v.cost)
		merged.cached = merged.cached && v.cached
		if v.model != "" {
			models = slicesx.AppendUnique(models, v.model)
		}
		if v.outcome != arena.JudgeScored {
			merged.outcome = v.outcome
			merged.detail = v.detail
		}
	}
	merged.model = strings.Join(models, "+")
	if merged.outcome != arena.JudgeScored {
		return merged
	}
	joined := join(verdicts)
	merged.answer = joined.answer
	merged.member = joined.member
	merged.detail = joined.detail
	return merged
}

// byScore returns a function that returns the first verdict with the score that
// choose returns.
func byScore(choose func([]float64) float64) func([]verdict) verdict {
	return func(verdicts []verdict) verdict {
		scores := slicesx.Map(verdicts, func(v verdict) float64 { return v.Score })
		return verdicts[slices.Index(scores, choose(scores))]
	}
}

func lowerMedian(scores []float64) float64 {
	return slices.Sorted(slices.Values(scores))[(len(scores)-1)/2]
}

func lowerMode(scores []float64) float64 {
	counts := map[float64]int{}
	for _, s := range scores {
		counts[s]++
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b float64) int {
		return counts[a] - counts[b]
	})
}

// majority returns for each step the first verdict that more than half of the votes
// share; unclear if there is none.
func majority(votes []verdict) verdict {
	joined := votes[0]
	joined.steps = make([]arena.StepVerdict, len(votes[0].steps))
	for step := range joined.steps {
		joined.steps[step] = arena.StepVerdict{Need: arena.StepUnclear, Reason: "the votes differ"}
		counts := map[arena.Need]int{}
		for _, v := range votes {
			counts[v.steps[step].Need]++
		}
		for _, v := range votes {
			if s := v.steps[step]; 2*counts[s.Need] > len(votes) {
				joined.steps[step] = s
				break
			}
		}
	}
	return joined
}
