package survey

import (
	"context"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges/agreement"
)

// minSteps is the minimum number of steps with labels for which the judge of steps is measured. If
// all of 100 are right, the 95 % interval begins above the mark.
const minSteps = 100

// steps counts what the judge of steps said of the attempts.
type steps struct {
	// judged are all steps, decided those that it calls needed or waste. labelled are the decided
	// steps that people call so too, right those with the same label.
	judged, decided, labelled, right int
}

// addSteps compares the verdicts on the steps of an attempt with the labels.
func (c *Check) addSteps(ctx context.Context, t *arena.Trace, d *arena.Dialogue) error {
	j, err := c.Steps.Steps(ctx, t, d)
	if err != nil || j.Outcome != arena.JudgeScored {
		return err
	}
	c.steps.judged += len(j.Steps)
	for i, v := range j.Steps {
		if v.Need == arena.StepUnclear {
			continue
		}
		c.steps.decided++
		if c.Labels == nil {
			continue
		}
		label := c.Labels.Scores[agreement.Key{Run: t.RunID, Problem: t.ProblemID, Step: i + 1}]
		if label == nil || *label != 0 && *label != 1 {
			continue
		}
		c.steps.labelled++
		if (*label == 1) == (v.Need == arena.StepNeeded) {
			c.steps.right++
		}
	}
	return nil
}

// precision returns which share of the judge's verdicts on steps is right by people's labels. If there
// are too few labels, the result has a reason instead.
func (c *Check) precision() Result {
	s := &c.steps
	out := Result{Instrument: domain.Steps}
	if s.labelled < minSteps {
		out.Why = fmt.Sprintf("%s calls %d of %d steps needed or waste, of which %d have labels in --labels: at least %d are needed",
			c.StepsAre.Name, s.decided, s.judged, s.labelled, minSteps)
		return out
	}
	value := float64(s.right) / float64(s.labelled)
	out.Measurement = measurement(c.StepsAre, "precision", value, stats.Wilson(s.right, s.labelled), s.labelled)
	return out
}
