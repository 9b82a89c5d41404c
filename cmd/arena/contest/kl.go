package contest

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/kl"
	"github.com/trajectory-arena/arena/report"
)

// measured is one student's report.
type measured struct {
	Student string     `json:"student"`
	Report  *kl.Report `json:"report"`
}

// klRow is a position of one student in the table.
type klRow struct {
	Student string `parquet:"student"`
	kl.Position
}

func newKL(s *cli.Streams) *cobra.Command {
	o, vocabulary := outputs{}, 0
	c := &cobra.Command{
		Use:   "kl TEACHER STUDENT…",
		Short: "Measure KL(teacher || student) from files of logits",
		Args:  cli.Takes(2, cli.AnyNumber),
		RunE: func(_ *cobra.Command, paths []string) error {
			if vocabulary < 0 {
				return cli.Usage(fmt.Errorf("--vocabulary is %d", vocabulary), "give the tokenizer's size, or nothing")
			}
			return runKL(s, &o, paths, vocabulary)
		},
	}
	c.Flags().IntVar(&vocabulary, "vocabulary", 0, "the tokenizer's size, beyond which no token id lies (default: what the files hold)")
	o.flags(c, "a position of a student")
	cli.ReadsFiles(c)
	return c
}

func runKL(s *cli.Streams, o *outputs, paths []string, vocabulary int) error {
	var all []measured
	var reports []*kl.Report
	var rows []klRow
	for _, path := range paths[1:] {
		r, err := kl.Compare(kl.Rows(paths[0]), kl.Rows(path), vocabulary)
		if err != nil {
			hint := "--help says what the files hold"
			if errors.Is(err, kl.ErrApart) {
				hint = "both files must hold the same positions in one order, of one tokenizer"
			}
			return cli.Failed(fmt.Errorf("hold %s against %s: %w", path, paths[0], err), hint)
		}
		all, reports = append(all, measured{path, r}), append(reports, r)
		for _, p := range r.Each {
			if o.parquet == "" {
				break
			}
			rows = append(rows, klRow{path, p})
		}
	}
	if err := table(s, o.parquet, rows); err != nil {
		return err
	}
	return o.write(s, all, report.KLPage(paths[1:], reports))
}
