package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/shop"
)

func newShopIndex(s *cli.Streams) *cobra.Command {
	var out string
	var verify bool
	c := &cobra.Command{
		Use:   "index CATALOG -o INDEX",
		Short: "Build the search index of a catalogue",
		Long: `Build the search index of a JSONL catalogue into one file, which serve, call and
eval map into memory at once. The index refers to the catalogue, which must stay
as it is; --verify reads both whole and compares their checksums.`,
		Example: `  arena shop index testdata/day/catalog.jsonl -o catalog.idx
  arena shop index testdata/day/catalog.jsonl -o catalog.idx --verify`,
		Args: cli.Takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return cli.Usage(errors.New("no output given"), "name the index with -o")
			}
			if verify {
				return verifyIndex(c.Context(), s, args[0], out)
			}
			return buildIndex(c.Context(), s, args[0], out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "index file")
	c.Flags().BoolVar(&verify, "verify", false, "check an index instead of building it")
	cli.ReadsFiles(c)
	cli.Replaces(c, "output")
	return c
}

func buildIndex(ctx context.Context, s *cli.Streams, catalog, out string) error {
	start := time.Now()
	f, err := atomicfile.Create(out)
	if err != nil {
		return cli.Failed(fmt.Errorf("create index %s: %w", out, cli.Cause(err)), "the folder of -o must exist and take new files")
	}
	if err = shop.BuildIndex(ctx, catalog, f.File); err != nil {
		return cli.Failed(errors.Join(err, f.Drop()), "every line of a catalogue is a JSON object with product_id and a numeric price; decompress it first")
	}
	if err = f.Commit(); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	st, err := os.Stat(out)
	if err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	fmt.Fprintf(s.Err, "%s: %.1f MB in %s\n", out, float64(st.Size())/1e6, time.Since(start).Round(time.Millisecond))
	return nil
}

func verifyIndex(ctx context.Context, s *cli.Streams, catalog, out string) error {
	c, err := shop.Open(ctx, catalog, out)
	if err != nil {
		return cli.Failed(err, "build it again with `arena shop index`")
	}
	if err := errors.Join(c.Verify(), c.Close()); err != nil {
		return cli.Failed(err, "build it again with `arena shop index`")
	}
	fmt.Fprintf(s.Err, "%s: good\n", out)
	return nil
}
