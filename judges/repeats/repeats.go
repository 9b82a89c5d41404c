// Package repeats labels steps in any domain by one rule: a step is waste if it only repeats calls
// whose results the model has already. It says nothing about other steps.
package repeats

import (
	"context"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Name is the versioned name of the rule.
const Name = domain.RepeatsV1

// The reasons of verdicts.
const (
	// Repeated: each call of the step repeats an earlier one.
	Repeated = "repeated_call"
	// NotRepeated: the rule does not know whether the step was needed.
	NotRepeated = "not_repeated"
)

// Judge labels the steps of attempts of a domain.
type Judge struct{ Domain *domain.Domain }

// Steps returns a verdict on every turn of the model in order. A turn is waste if it has calls and
// no text, and each of its calls has the tool, the arguments and the result of a call in an earlier
// turn, and the result reports no error. Since then, that turn included, no user wrote and only tools
// that change nothing were called. Every other turn is unclear. The outcome is failed only if the
// attempt has no turn of the model.
func (j Judge) Steps(_ context.Context, t *arena.Trace, d *arena.Dialogue) (arena.StepJudgement, error) {
	out := arena.StepJudgement{Judgement: arena.Judgement{
		Judge:   Name,
		Outcome: arena.JudgeScored,
	}}
	known := map[call]bool{} // the calls so far since which nothing changed
	for i := range d.Turns {
		turn := &d.Turns[i]
		if turn.User != "" {
			clear(known)
			continue
		}
		v := arena.StepVerdict{Step: t.StepNumber(turn.Step), Need: arena.StepUnclear, Reason: NotRepeated}
		if isRepeat(turn, known) {
			v.Need = arena.StepWaste
			v.Reason = Repeated
		}
		out.Steps = append(out.Steps, v)
		j.update(known, turn)
	}
	if len(out.Steps) == 0 {
		out.Outcome = arena.JudgeFailed
		out.Detail = "the attempt left no step to judge"
	}
	return out, nil
}

// call is a call without its ID.
type call struct {
	name      string
	arguments arena.Raw
	result    arena.Raw
}

func newCall(c *arena.Call) call { return call{c.Name, c.Arguments, c.Result} }

// isRepeat reports whether a turn has nothing but calls that are known.
func isRepeat(turn *arena.Turn, known map[call]bool) bool {
	if len(turn.Calls) == 0 || turn.Text != "" {
		return false
	}
	for i := range turn.Calls {
		c := &turn.Calls[i]
		if !known[newCall(c)] || isError(c.Result) {
			return false
		}
	}
	return true
}

// isError reports whether a result says that the call failed, so that it may be worth repeating.
func isError(result arena.Raw) bool {
	text := result.Text()
	return result.Kind() == arena.Absent ||
		strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "error") ||
		gjson.Get(text, "error").Exists()
}

// update adds the calls of a turn to those that are known, unless one of the turn's tools may change
// something. Then nothing is known any more.
func (j Judge) update(known map[call]bool, turn *arena.Turn) {
	for i := range turn.Calls {
		if !j.Domain.IsReading(turn.Calls[i].Name) {
			clear(known)
			return
		}
	}
	for i := range turn.Calls {
		known[newCall(&turn.Calls[i])] = true
	}
}

// Labels returns the verdicts as labels of a training row, which know no third value: a turn that is
// not known to be waste has the label of a needed one. It returns nil if no turn is waste, since the
// row would then say nothing.
func Labels(verdicts []arena.StepVerdict) []arena.StepVerdict {
	isWaste := func(v arena.StepVerdict) bool { return v.Need == arena.StepWaste }
	if !slices.ContainsFunc(verdicts, isWaste) {
		return nil
	}
	return slicesx.Map(verdicts, func(v arena.StepVerdict) arena.StepVerdict {
		if !isWaste(v) {
			v.Need = arena.StepNeeded
		}
		return v
	})
}
