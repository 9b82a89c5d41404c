package judgements

import (
	"github.com/trajectory-arena/arena"
)

// stepsLine is a judgement of steps as a file holds it: where there are no
// verdicts, steps is null.
type stepsLine struct {
	RunID     string             `json:"eval_run_id"`
	ProblemID string             `json:"problem_id"`
	Judge     string             `json:"judge"`
	Outcome   arena.JudgeOutcome `json:"outcome"`
	Steps     []verdict          `json:"steps"`
	asked
}

type verdict struct {
	Step    int        `json:"step"`
	Verdict arena.Need `json:"verdict"`
	Reason  *string    `json:"reason"`
	Quote   *string    `json:"quote"`
}

// AppendSteps appends the line of one attempt's judgement of steps, without its
// line end.
func AppendSteps(dst []byte, t *arena.Trace, j *arena.StepJudgement) ([]byte, error) {
	l := stepsLine{RunID: t.RunID, ProblemID: t.ProblemID, Judge: j.Judge, Outcome: j.Outcome, asked: newAsked(&j.Judgement)}
	for _, v := range j.Steps {
		l.Steps = append(l.Steps, verdict{v.Step, v.Need, named(v.Reason), named(v.Quote)})
	}
	return encode(dst, l)
}
