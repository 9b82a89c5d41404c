package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/text"
)

// axisLabel is what a line of a labels file says of its attempt.
type axisLabel struct {
	Family string `json:"family"`
	// Agentic is nil where there is nothing to judge.
	Agentic *bool `json:"agentic"`
}

// calibrate prints the filter against labels.
func (d *filterDay) calibrate(ctx context.Context, w io.Writer, days []string) error {
	labels, err := cli.ReadByAttempt[axisLabel](d.flags.calibrate, "give a JSONL file with eval_run_id, problem_id, family and agentic")
	if err != nil {
		return err
	}
	all, err := d.read(ctx, days)
	if err != nil {
		return err
	}
	var labelled []filters.Labelled
	for i := range all {
		l, ok := labels[all[i].ID]
		if !ok || l.Agentic == nil {
			continue
		}
		s := &all[i].structure
		labelled = append(labelled, filters.Labelled{Family: l.Family, Agentic: *l.Agentic, Axis: s.Axis, Confidence: s.Confidence})
	}
	if len(labelled) == 0 {
		return cli.Failed(errors.New("no attempt of the day has a label"), "labels name attempts by eval_run_id and problem_id")
	}
	c := filters.Calibrate(labelled)
	return printCalibration(w, &c)
}

func printCalibration(w io.Writer, c *filters.Calibration) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "family\tattempts\tagentic right\tcalled scripted\tscripted right\tcalled agentic\tunknown\tright\t95 %\t")
	for _, f := range append(c.Families, c.Total) {
		right := habits.Tally{Part: f.Right(), Whole: f.All()}
		lo, hi := right.Interval()
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.4f\t%.4f-%.4f\t\n", text.Line(f.Family), f.All(), f.TrueAgentic, f.FalseScripts, f.TrueScripted, f.FalseAgentic, f.Unknown, right.Share(), lo, hi)
	}
	fmt.Fprintln(t, "\nmeasure\tshare\t95 %\t")
	share(t, "precision of agentic", c.Total.TrueAgentic, c.Total.TrueAgentic+c.Total.FalseAgentic)
	share(t, "recall of agentic", c.Total.TrueAgentic, c.Total.Agentic)
	fmt.Fprintf(t, "Brier score\t%.4f\t\t\n", c.Brier)
	fmt.Fprintln(t, "\nprobability\tattempts\tclaimed\ttrue\t")
	for _, b := range c.Bins {
		if b.N > 0 {
			fmt.Fprintf(t, "%.2f-%.2f\t%d\t%.3f\t%.3f\t\n", b.Low, b.High, b.N, b.Claimed, b.True)
		}
	}
	return t.Flush()
}

func share(w io.Writer, name string, part, whole int) {
	t := habits.Tally{Part: part, Whole: whole}
	if whole == 0 {
		fmt.Fprintf(w, "%s\t-\t\t\n", name)
		return
	}
	lo, hi := t.Interval()
	fmt.Fprintf(w, "%s\t%.4f\t%.4f-%.4f\t\n", name, t.Share(), lo, hi)
}
