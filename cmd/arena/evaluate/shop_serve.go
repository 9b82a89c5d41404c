package evaluate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

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
			return errors.Join(serveHTTP(c.Context(), s, listen, words, shop.Handler(local)), local.Catalog.Close())
		},
	}
	f.add(c)
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:5632", "address to listen on; port 0 takes a free one")
	return c
}

// serveHTTP serves until ctx ends, and then what is under way for a while. words say
// what is served.
func serveHTTP(ctx context.Context, s *cli.Streams, listen, words string, h http.Handler) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return cli.Failed(fmt.Errorf("listen on %s: %w", listen, err), "another address: --listen 127.0.0.1:0")
	}
	const graceTime = 5 * time.Second
	server := boundedServer(onlyHere(l.Addr(), h))
	fmt.Fprintf(s.Err, "%s on http://%s\n", words, l.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	return server.Shutdown(grace)
}

// onlyHere refuses what a page of another site sends by way of a browser: a
// server that listens on a loopback address is asked by such a name.
func onlyHere(at net.Addr, h http.Handler) http.Handler {
	if tcp, ok := at.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this server answers to localhost alone", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// boundedServer bounds what a client may send and how long it may take. The
// subnet's server takes 256 KiB of head and ends a connection on which nothing
// moved for a minute.
func boundedServer(h http.Handler) *http.Server {
	const requestTime, quietTime, maxHead = 10 * time.Second, time.Minute, 256 << 10
	return &http.Server{Handler: h, ReadTimeout: requestTime, WriteTimeout: quietTime, IdleTimeout: quietTime, MaxHeaderBytes: maxHead}
}
