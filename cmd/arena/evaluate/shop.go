package evaluate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/shop"
)

// NewShop makes `arena shop`.
func NewShop(s *cli.Streams) *cobra.Command {
	return cli.Family("shop", "The product search and tools that students act in", newShopIndex(s), newShopServe(s), newShopCall(s))
}

type catalogFlags struct {
	Catalog string
	index   string
	rules   string
}

func (f *catalogFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.Catalog, "catalog", "", "product catalogue: JSONL, or .gz or .zst of it")
	c.Flags().StringVar(&f.index, "index", "", "its search index, made by arena shop index; built on the spot where none is given")
	f.rules = "subnet"
	cli.Choice(c, &f.rules, "rules", slices.Sorted(maps.Keys(searchRules)), "whose server to be: subnet or benchmark (ShoppingBench)")
	cli.Reads(c, "catalog", "index")
}

var searchRules = map[string]shop.Rules{"subnet": shop.SubnetRules, "benchmark": shop.BenchmarkRules}

// open opens the catalogue to search in. Its index is read whole once: a damaged one
// would rank otherwise and say nothing.
func (f *catalogFlags) open(ctx context.Context) (shop.Local, error) {
	if f.Catalog == "" {
		return shop.Local{}, cli.Usage(errors.New("no catalogue given"), "name one with --catalog")
	}
	hint := "the catalogue is JSONL with product_id and price on every line"
	if f.index != "" {
		hint = "an index is of one catalogue as it was, and of one version: build it again with `arena shop index`"
	}
	c, err := shop.Open(ctx, f.Catalog, f.index)
	if err == nil && f.index != "" {
		if err = c.VerifyIndex(); err != nil {
			err = errors.Join(err, c.Close())
		}
	}
	if err != nil {
		return shop.Local{}, cli.Failed(err, hint)
	}
	return shop.Local{Catalog: c, Rules: searchRules[f.rules]}, nil
}

func newShopServe(s *cli.Streams) *cobra.Command {
	var f catalogFlags
	var listen string
	c := cli.Command("serve --catalog F", "Serve the search over HTTP, a drop-in for the subnet's server", cli.Takes(0, 0),
		func(c *cobra.Command, _ []string) error {
			local, err := f.open(c.Context())
			if err != nil {
				return err
			}
			words := fmt.Sprintf("%d products", local.Catalog.Len())
			return errors.Join(cli.Serve(c.Context(), s, listen, words, shop.Handler(local)), local.Catalog.Close())
		})
	f.add(c)
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:5632", "address to listen on; port 0 takes a free one")
	return c
}

func newShopIndex(s *cli.Streams) *cobra.Command {
	var out string
	var verify bool
	c := cli.Command("index CATALOG -o INDEX", "Build the search index of a catalogue", cli.Takes(1, 1), func(c *cobra.Command, args []string) error {
		if out == "" {
			return cli.Usage(errors.New("no output given"), "name the index with -o")
		}
		if verify {
			return verifyIndex(c.Context(), s, args[0], out)
		}
		return buildIndex(c.Context(), s, args[0], out)
	})
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
