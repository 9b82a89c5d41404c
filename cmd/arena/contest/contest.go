// Package contest has the commands that check what contests on subnets publish: `arena contest
// kl`, distil, evolai and yuma.
package contest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/contest/kl"
	"github.com/trajectory-arena/arena/report"
)

// NewContest returns the command `arena contest`.
func NewContest(s *cli.Streams) *cobra.Command {
	return cli.Family(
		"contest",
		"Check what distillation contests and their consensus published",
		newKL(s),
		newDistil(s),
		newEvolai(s),
		newYuma(s),
		newRun(s),
	)
}

type outputs struct {
	json    bool
	out     string
	parquet string
}

// flags adds the flags for the outputs to c. rows describes a row of the Parquet table. If it is
// empty, there is no flag for such a table.
func (o *outputs) flags(c *cobra.Command, rows string) {
	c.Flags().BoolVar(&o.json, "json", false, "write JSON instead of tables")
	cli.Out(c, &o.out)
	if rows != "" {
		c.Flags().StringVar(&o.parquet, "parquet", "", "also write a Parquet file: a row "+rows)
		cli.Replaces(c, "parquet")
	}
}

func (o *outputs) write(
	s *cli.Streams,
	results any,
	page *report.Page,
) error {
	return cli.WriteWhole(s, o.out, func(w io.Writer) error {
		if o.json {
			return json.NewEncoder(w).Encode(results)
		}
		return page.Text(w)
	})
}

func table[T any](
	s *cli.Streams,
	path string,
	rows []T,
) error {
	if path == "" {
		return nil
	}
	return cli.WriteWhole(s, path, func(w io.Writer) error {
		if err := parquet.Write(w, rows, parquet.Compression(&parquet.Zstd)); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
		return nil
	})
}

type measured struct {
	Student string     `json:"student"`
	Report  *kl.Report `json:"report"`
}

type klRow struct {
	Student string `parquet:"student"`
	kl.Position
}

func newKL(s *cli.Streams) *cobra.Command {
	o := outputs{}
	vocabulary := 0
	c := cli.Command("kl TEACHER STUDENT…", "Measure KL(teacher || student) from files of logits", cli.NumArgs(2, cli.AnyNumber),
		func(_ *cobra.Command, paths []string) error {
			return runKL(s, &o, paths, vocabulary)
		})
	c.Flags().IntVar(&vocabulary, "vocabulary", 0, "number of tokens of the tokenizer (default: as in the files)")
	o.flags(c, "a position of a student")
	cli.ReadsFiles(c)
	return c
}

func runKL(
	s *cli.Streams,
	o *outputs,
	paths []string,
	vocabulary int,
) error {
	var results []measured
	var reports []*kl.Report
	var rows []klRow
	for _, path := range paths[1:] {
		r, err := kl.Compare(
			kl.Rows(paths[0]),
			kl.Rows(path),
			vocabulary,
		)
		if err != nil {
			hint := "--help says what the files hold"
			if errors.Is(err, kl.ErrMismatch) {
				hint = "both files must hold the same positions in one order, of one tokenizer"
			}
			return cli.Failed(fmt.Errorf("hold %s against %s: %w", path, paths[0], err), hint)
		}
		results, reports = append(results, measured{path, r}), append(reports, r)
		for _, p := range r.ByPosition {
			if o.parquet == "" {
				break
			}
			rows = append(rows, klRow{path, p})
		}
	}
	if err := table(s, o.parquet, rows); err != nil {
		return err
	}
	return o.write(s, results, report.KLPage(paths[1:], reports))
}

func newEvolai(s *cli.Streams) *cobra.Command {
	o := outputs{}
	c := cli.Command("evolai ROUNDS", "Check the order and the gates of subnet 47's rounds", cli.NumArgs(1, 1),
		func(_ *cobra.Command, paths []string) error {
			return runEvolai(s, &o, paths[0])
		})
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
	if err = table(s, o.parquet, r.Gates); err != nil {
		return err
	}
	if err = o.write(s, r, report.GatesPage(r)); err != nil {
		return err
	}
	return outOfOrder(path, r)
}

func outOfOrder(path string, r *evolai.Report) error {
	for _, v := range r.Violations {
		return cli.Limit(fmt.Errorf(
			"%s: %s out of order, first line %d: %s",
			path,
			cli.Counted(len(r.Violations), "event", "events"),
			v.Line,
			v.Why,
		),
			"what was measured in such a round says nothing")
	}
	for i := range r.Gates {
		if g := &r.Gates[i]; len(g.Differs) > 0 {
			return cli.Limit(
				fmt.Errorf("%s: epoch %d, uid %d differs from its own numbers: %s", path, g.Epoch, g.UID, g.Differs[0]),
				"ask the validator for the line",
			)
		}
	}
	return nil
}
