package contest

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/report"
)

// gateRow is a gate line as a row of the table.
type gateRow struct {
	Epoch      int64    `parquet:"epoch"`
	Track      string   `parquet:"track"`
	UID        int64    `parquet:"uid"`
	Improve    string   `parquet:"improve"`
	Change     *float64 `parquet:"change,optional"`
	Ratio      *float64 `parquet:"consistency_ratio,optional"`
	Consistent bool     `parquet:"consistent"`
	Gate       string   `parquet:"gate"`
	Notes      string   `parquet:"notes"`
}

func newEvolai(s *cli.Streams) *cobra.Command {
	o := outputs{}
	c := &cobra.Command{
		Use:   "evolai ROUNDS",
		Short: "Check the order and the gates of subnet 47's rounds",
		Long: `Check a log of subnet 47's validator. ROUNDS has JSON lines of three kinds:
gates, as the log prints them ({epoch, track, uid, kl_current, kl_next,
previous_kl_on_the_same_rows, ema_current, ema_next, …}), decided again from their
own numbers; events ({event: lock|seed|evaluate, epoch, uid, block, revision, seed,
set}), held against the order lock, seed, evaluate; answers to side quests
({uid, block_hash, sample_index, answers}). What the log leaves out is named, not
guessed: its mapping of KL to a score is not published.

Exit 3: a line that differs from its own numbers, or an event out of order.`,
		Example: `  arena contest evolai testdata/contest/evolai/gates.jsonl
  arena contest evolai testdata/contest/evolai/gates.jsonl --json --page gates.html`,
		Args: cli.Takes(1, 1),
		RunE: func(_ *cobra.Command, paths []string) error { return runEvolai(s, &o, paths[0]) },
	}
	o.flags(c, "a gate line")
	return c
}

func runEvolai(s *cli.Streams, o *outputs, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return cli.Failed(err, "name a log as JSON lines")
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := evolai.Read(f)
	if err != nil {
		return cli.Failed(fmt.Errorf("%s: %w", path, err), "--help says what the lines hold")
	}
	rows := make([]gateRow, len(r.Gates))
	for i := range r.Gates {
		g := &r.Gates[i]
		rows[i] = gateRow{g.Epoch, g.Track, g.UID, g.Improve, g.Change, g.Ratio, g.Consistent, g.Gate, notes(g)}
	}
	if err = table(s, o.parquet, rows); err != nil {
		return err
	}
	err = o.write(s, r, func(w io.Writer) error { return printEvolai(w, r) },
		func() (*report.Page, error) { return report.GatesPage(r), nil })
	if err != nil {
		return err
	}
	return outOfOrder(path, r)
}

// outOfOrder is the failure of a log that contradicts itself.
func outOfOrder(path string, r *evolai.Report) error {
	for _, v := range r.Violations {
		return cli.Limit(fmt.Errorf("%s: %s out of order, first line %d: %s", path, cli.Counted(len(r.Violations), "event", "events"), v.Line, v.Why),
			"what was measured in such a round says nothing")
	}
	for i := range r.Gates {
		if g := &r.Gates[i]; len(g.Differs) > 0 {
			return cli.Limit(fmt.Errorf("%s: epoch %d, uid %d differs from its own numbers: %s", path, g.Epoch, g.UID, g.Differs[0]), "ask the validator for the line")
		}
	}
	return nil
}

// notes are all that is to be said of a gate line.
func notes(g *evolai.Gate) string {
	return strings.Join(slices.Concat(g.Differs, g.Open), "; ")
}

func printEvolai(w io.Writer, r *evolai.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "epoch\ttrack\tuid\timprove\tgate\t")
	for i := range r.Gates {
		g := &r.Gates[i]
		fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%s\n", g.Epoch, cli.Printable(g.Track), g.UID, g.Improve, g.Gate, cli.Printable(notes(g)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Gates) > 0 {
		fmt.Fprintf(w, "\ngate lines as printed: %s; averages that follow from those before: %d of %d\n", r.Reproduced, r.AveragesEqual, r.Averages)
		fmt.Fprintf(w, "standard deviation of one set's KL, as a share: %s\n", r.Noise)
	}
	fmt.Fprintf(w, "events: %d, out of order: %d\n", r.Events, len(r.Violations))
	for _, v := range r.Violations {
		fmt.Fprintf(w, "line %d: epoch %d, uid %d: %s\n", v.Line, v.Epoch, v.UID, cli.Printable(v.Why))
	}
	for _, q := range r.Quests {
		fmt.Fprintf(w, "side quests of uid %d, sample %d: %d of %d answered\n", q.UID, q.Sample, q.Solved, len(q.Quests))
	}
	return nil
}
