package evaluate

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/shop"
)

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
