package pipeline

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// judgeSteps gives a verdict on every assistant message of an attempt that may
// become a row, and notes what the judge said; none where it gave no answer.
func (m *mapper) judgeSteps(ctx context.Context, rec *arena.Record, entry *block.Entry) ([]arena.StepVerdict, error) {
	if !m.Config.Steps || m.StepJudge == nil || entry.Leak.Drop {
		return nil, nil
	}
	j, err := m.StepJudge.Steps(ctx, rec.Trace, &rec.Dialogue)
	if err != nil {
		return nil, err
	}
	for _, v := range j.Steps {
		entry.StepNeeds.Add(v.Need)
		if v.Quote != "" {
			j.Spans = append(j.Spans, arena.Span{Step: v.Step, Quote: v.Quote})
		}
	}
	entry.StepJudgement = j.Judgement
	if j.Outcome != arena.JudgeScored {
		return nil, nil
	}
	return perMessage(j.Steps, &rec.Dialogue), nil
}

// perMessage joins the verdicts on turns of the model without a call between
// them, which are one message (chat.Render): it is needed if any of them is,
// and waste if all are.
func perMessage(verdicts []arena.StepVerdict, d *arena.Dialogue) []arena.StepVerdict {
	out := make([]arena.StepVerdict, 0, len(verdicts))
	goesOn := false
	for i := range d.Turns {
		if d.Turns[i].User != "" {
			goesOn = false
			continue
		}
		v := verdicts[0]
		verdicts = verdicts[1:]
		switch last := len(out) - 1; {
		case !goesOn:
			out = append(out, v)
		case v.Need == arena.StepNeeded && out[last].Need != v.Need, v.Need == arena.StepUnclear && out[last].Need == arena.StepWaste:
			out[last] = v
		}
		goesOn = len(d.Turns[i].Calls) == 0
	}
	return out
}

// steps writes the labelled turns of the attempts of config sft. One without
// an answer of the step judge, or with none before the first message that is
// unclear to it, is no row.
func (w *unitWriter) steps(ctx context.Context) error {
	out := corpus.NewShards[rows.Steps](w.part, w.unit.Stream)
	err := w.eachRow(ctx, func(at ref, x *block.Entry, d *block.Draft) error {
		if len(d.Verdicts) == 0 {
			return nil
		}
		row, err := w.stepsRow(at, x, d)
		if err != nil || len(row.Labels) == 0 {
			return err
		}
		return out.Add(&row)
	})
	if err != nil {
		return err
	}
	return out.Close()
}

func (w *unitWriter) stepsRow(at ref, x *block.Entry, d *block.Draft) (rows.Steps, error) {
	ms, err := chat.Decode(d.Messages)
	if err != nil {
		return rows.Steps{}, err
	}
	row, err := rows.NewSteps(w.row(at, x, d), ms, d.Verdicts, w.facts(x.Problem))
	row.Rule = x.StepJudgement.Judge
	return row, err
}
