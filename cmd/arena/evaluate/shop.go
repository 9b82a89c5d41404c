package evaluate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/shop"
)

// NewShop makes `arena shop`.
func NewShop(s *cli.Streams) *cobra.Command {
	return cli.Family(&cobra.Command{
		Use:   "shop",
		Short: "The product search and tools that students act in",
	}, newShopIndex(s), newShopServe(s), newShopCall(s))
}

// catalogFlags say where the products are and by whose rules they are found.
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

// searchRules are the rules of servers, by whose they are.
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
	c := &cobra.Command{
		Use:   "serve --catalog F",
		Short: "Serve the search over HTTP, a drop-in for the subnet's server",
		Long: `Serve /find_product, /view_product_information, /get_product_raw and /health with
the parameters, bodies and status codes of the subnet's own search server.
/health answers as soon as searches do.`,
		Example: `  arena shop serve --catalog testdata/day/catalog.jsonl --listen 127.0.0.1:5632`,
		Args:    cli.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			local, err := f.open(c.Context())
			if err != nil {
				return err
			}
			words := fmt.Sprintf("%d products", local.Catalog.Len())
			return errors.Join(cli.Serve(c.Context(), s, listen, words, shop.Handler(local)), local.Catalog.Close())
		},
	}
	f.add(c)
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:5632", "address to listen on; port 0 takes a free one")
	return c
}
