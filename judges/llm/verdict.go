package llm

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/reply"
)

// verdict is the panel's result for one question, or for several questions joined.
type verdict struct {
	outcome arena.JudgeOutcome
	answer
	// member is the index of the panel member that answered.
	member int
	model  string
	cost   ledger.Spent
	// votes are the scores that were joined; nil for a single vote.
	votes []arena.Vote
	// cached is set if no request was sent: the ledger had the answer.
	cached bool
	detail string
}

// answer is a model's answer: a score with its reasons, or a verdict on each step.
type answer struct {
	reply.Answer
	steps []arena.StepVerdict
	// expected is the mean of the scores by their probabilities, nil if the server gave none.
	expected *float64
	// doubt describes what is wrong with the quotes of the answer; it is empty if nothing is.
	doubt arena.JudgeDoubt
}

// merge joins the verdicts on several samples or votes into one, by calling join. If one of the
// verdicts has no answer, the result has none: without one of its members a panel is another panel
// and could grade otherwise.
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
			merged.doubt = v.doubt
			merged.detail = v.detail
		}
	}
	merged.model = strings.Join(models, "+")
	if merged.outcome != arena.JudgeScored {
		return merged
	}
	joined := join(verdicts)
	merged.answer = joined.answer
	merged.expected = meanExpected(verdicts)
	merged.member = joined.member
	merged.detail = joined.detail
	return merged
}

// meanExpected returns the mean of the expected scores of several verdicts (each the mean of the
// scores that a model might have written, by their probabilities), or nil if one verdict has none.
func meanExpected(verdicts []verdict) *float64 {
	sum := 0.0
	for _, v := range verdicts {
		if v.expected == nil {
			return nil
		}
		sum += *v.expected
	}
	return new(sum / float64(len(verdicts)))
}

// byScore returns a function that joins verdicts by their scores: choose selects one of the scores,
// and the first verdict with that score is the result.
func byScore(choose func([]float64) float64) func([]verdict) verdict {
	return func(verdicts []verdict) verdict {
		scores := slicesx.Map(verdicts, func(v verdict) float64 { return v.Score })
		return verdicts[slices.Index(scores, choose(scores))]
	}
}

// lowerMedian returns the median of the scores. Of an even number of scores, it is the lower one of
// the two in the middle.
func lowerMedian(scores []float64) float64 {
	return slices.Sorted(slices.Values(scores))[(len(scores)-1)/2]
}

// lowerMode returns the most frequent score. If several are equally frequent, it returns the lowest
// of these.
func lowerMode(scores []float64) float64 {
	counts := map[float64]int{}
	for _, s := range scores {
		counts[s]++
	}
	return slices.MaxFunc(slicesx.SortedKeys(counts), func(a, b float64) int {
		return counts[a] - counts[b]
	})
}

// majority joins several verdicts on the steps of an attempt into one. A step gets the need (waste,
// unclear or needed) that more than half of the votes give it, with the first such vote's reason.
// If there is no such majority, the step is unclear. votes must not be empty.
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
