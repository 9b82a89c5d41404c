package pipeline

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/chat"
	"github.com/trajectory-arena/arena/judges/steps"
)

// stepLabels says of every assistant message of a rendered attempt whether it
// was needed. Turns of the model without a call between them are one message
// (chat.Render), which is needed if any of them is.
func stepLabels(t *arena.Trace, d *arena.Dialogue) []bool {
	labels := steps.Labels(t, d)
	out := make([]bool, 0, len(labels))
	goesOn := false
	for i := range d.Turns {
		if d.Turns[i].User != "" {
			goesOn = false
			continue
		}
		needed := labels[0].Needed
		labels = labels[1:]
		if goesOn {
			out[len(out)-1] = out[len(out)-1] || needed
		} else {
			out = append(out, needed)
		}
		goesOn = len(d.Turns[i].Calls) == 0
	}
	return out
}

// steps writes the labelled turns of the attempts of config sft.
func (w *unitWriter) steps(ctx context.Context) error {
	out := corpora.NewShards[corpora.Steps](w.part, w.unit.Stream)
	for _, at := range w.unit.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := w.body(at)
		if err != nil {
			return err
		}
		ms, err := chat.Decode(b.row.Messages)
		if err != nil {
			return err
		}
		b.row.Reward = w.weights.reward(w.entries[at])
		row, err := corpora.NewSteps(&b.row, ms, b.labels, w.facts(w.entries[at].Problem))
		if err != nil {
			return err
		}
		row.Rule = steps.Name
		if err = out.Add(&row); err != nil {
			return err
		}
	}
	return out.Close()
}
