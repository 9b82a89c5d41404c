package llm

import (
	"context"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
)

// StepsName returns the versioned name of the judge of steps.
func (j *Judge) StepsName() string { return "llm_steps_v1_" + j.steps.prompt.sha256[:8] }

// StepsHash returns the hash of the configuration for judging steps.
func (j *Judge) StepsHash() (string, error) { return j.cfg.hash(j.steps.prompt) }

// Steps returns a verdict on each step of one attempt in its normal form, with the
// panel, budget, ledger and errors of Judge. A step that is omitted from a very long
// attempt is unclear.
func (j *Judge) Steps(
	ctx context.Context,
	t *arena.Trace,
	d *arena.Dialogue,
) (arena.StepJudgement, error) {
	v, err := j.judge(ctx, j.steps, t, d)
	out := arena.StepJudgement{Judgement: newJudgement(j.StepsName(), j.steps, v)}
	if v.outcome != arena.JudgeScored {
		return out, err
	}
	for i := range d.Turns {
		if d.Turns[i].User != "" {
			continue
		}
		step := arena.StepVerdict{Need: arena.StepUnclear, Reason: "the step was not shown to the judge"}
		if !isOmitted(i, d) {
			step = v.steps[0]
			v.steps = v.steps[1:]
		}
		step.Step = t.StepNumber(d.Turns[i].Step)
		out.Steps = append(out.Steps, step)
	}
	return out, err
}

// HasSteps reports whether an attempt has a step to judge. An attempt without steps
// has no verdicts, which is no failure of the judge.
func HasSteps(d *arena.Dialogue) bool { return len(renderedTurns(d)) > 0 }

// renderNumbered returns an attempt as text for a judge that says of each step whether it was
// needed. The steps are numbered 1, 2, 3 and so on, whatever numbers the dialogue gives them.
// Unlike the text for a grade of the reasoning, it has no lists of what earlier results contain.
func renderNumbered(_ *domain.Domain, t *arena.Trace, d *arena.Dialogue) string {
	numbers := map[int]int{}
	for i, turn := range renderedTurns(d) {
		numbers[turn] = i + 1
	}
	heading := func(turn int) string {
		if number := numbers[turn]; number > 0 {
			return fmt.Sprintf("step %d", number)
		}
		return "the customer speaks"
	}
	return render(t, d, heading, view{resultLimit: maxResult})
}
