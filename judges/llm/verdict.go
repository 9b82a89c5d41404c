package llm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
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
		scores := slicesx.Map(all, func(v verdict) float64 { return v.Score })
		return all[slices.Index(scores, choose(scores))]
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
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b float64) int { return counts[a] - counts[b] })
}

// StepsName is the versioned name of the judge of steps.
func (j *Judge) StepsName() string { return "llm_steps_v1_" + j.steps.prompt.sha256[:8] }

// StepsHash is the configuration's for judging steps.
func (j *Judge) StepsHash() (string, error) { return j.cfg.hash(j.steps.prompt) }

// Steps judges each step of one attempt in its normal form, with the panel,
// budget and ledger of Judge, and with its errors. A step that stands in the
// part left out of a very long attempt is unclear.
func (j *Judge) Steps(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.StepJudgement, error) {
	v, err := j.ask(ctx, j.steps, t, d)
	out := arena.StepJudgement{Judgement: judgement(j.StepsName(), j.steps, v)}
	if v.outcome != arena.JudgeScored {
		return out, err
	}
	for i := range d.Turns {
		if d.Turns[i].User != "" {
			continue
		}
		said := arena.StepVerdict{Need: arena.StepUnclear, Reason: "the step was not shown to the judge"}
		if !leftOut(i, d) {
			said, v.steps = v.steps[0], v.steps[1:]
		}
		said.Step = t.StepNumber(d.Turns[i].Step)
		out.Steps = append(out.Steps, said)
	}
	return out, err
}

// HasSteps says if an attempt has a step to judge. One without has no verdicts,
// which is no failure of the judge's.
func HasSteps(d *arena.Dialogue) bool { return len(shown(d)) > 0 }

// shown are the positions of the turns of the model that a judge is shown.
func shown(d *arena.Dialogue) []int {
	var turns []int
	for i := range d.Turns {
		if d.Turns[i].User == "" && !leftOut(i, d) {
			turns = append(turns, i)
		}
	}
	return turns
}

// renderNumbered shows an attempt with its steps numbered from 1, since
// dialogues may number theirs as they like.
func renderNumbered(t *arena.Trace, d *arena.Dialogue) string {
	numbers := map[int]int{}
	for i, turn := range shown(d) {
		numbers[turn] = i + 1
	}
	return render(t, d, func(turn int) string {
		if number := numbers[turn]; number > 0 {
			return fmt.Sprintf("step %d", number)
		}
		return "the customer speaks"
	}, view{result: maxResult})
}

// majority gives each step the verdict of more than half of the votes, with the
// words of the first of them; without such a majority it is unclear.
func majority(all []verdict) verdict {
	joined := all[0]
	joined.steps = make([]arena.StepVerdict, len(all[0].steps))
	for step := range joined.steps {
		joined.steps[step] = arena.StepVerdict{Need: arena.StepUnclear, Reason: "the votes differ"}
		count := map[arena.Need]int{}
		for _, v := range all {
			count[v.steps[step].Need]++
		}
		for _, v := range all {
			if said := v.steps[step]; 2*count[said.Need] > len(all) {
				joined.steps[step] = said
				break
			}
		}
	}
	return joined
}
