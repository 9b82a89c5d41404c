// Package contest holds the commands that check what contests on subnets publish:
// `arena contest kl`, distil, evolai and yuma.
package contest

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/report"
)

// NewContest makes `arena contest`.
func NewContest(s *cli.Streams) *cobra.Command {
	return cli.Family(&cobra.Command{
		Use:   "contest",
		Short: "Check what distillation contests and their consensus published",
	}, newKL(s), newDistil(s), newEvolai(s), newYuma(s))
}

// outputs are the ways out of every contest.
type outputs struct {
	json    bool
	out     string
	parquet string
}

// flags adds the flags; rows says what a row of the table is, empty where there is none.
func (o *outputs) flags(c *cobra.Command, rows string) {
	c.Flags().BoolVar(&o.json, "json", false, "write JSON instead of tables")
	cli.Out(c, &o.out)
	if rows != "" {
		c.Flags().StringVar(&o.parquet, "parquet", "", "also write a Parquet file: a row "+rows)
		cli.Replaces(c, "parquet")
	}
}

// write writes the report as JSON or as text.
func (o *outputs) write(s *cli.Streams, all any, page *report.Page) error {
	return cli.WriteWhole(s, o.out, func(w io.Writer) error {
		if o.json {
			return json.NewEncoder(w).Encode(all)
		}
		return page.Text(w)
	})
}

// table writes rows as Parquet where a path was given.
func table[T any](s *cli.Streams, path string, rows []T) error {
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
