package contest

import (
	"fmt"
	"os"
	"slices"
	"strings"

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
		Args:  cli.Takes(1, 1),
		RunE:  func(_ *cobra.Command, paths []string) error { return runEvolai(s, &o, paths[0]) },
	}
	o.flags(c, "a gate line")
	cli.ReadsFiles(c)
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
		rows[i] = gateRow{g.Epoch, g.Track, g.UID, g.Improve, g.Change, g.Ratio, g.Consistent, g.Gate, strings.Join(slices.Concat(g.Differs, g.Open), "; ")}
	}
	if err = table(s, o.parquet, rows); err != nil {
		return err
	}
	if err = o.write(s, r, report.GatesPage(r)); err != nil {
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
