package build

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/traces/fetch"
)

type fetchFlags struct {
	fetch.Fetch
	since string
	base  string
	rate  int
}

const (
	// fetchTimeout is the time for one request to the public API from which `arena fetch` downloads
	// traces.
	fetchTimeout = 2 * time.Minute
	// fetchBytes limits the size in bytes of one answer of the API from which traces are downloaded.
	// An attempt has 110 KB, and a run some hundred attempts.
	fetchBytes = 64 << 20
	// apiBase is the default address of the public API from which `arena fetch` downloads traces.
	apiBase = "https://api.oroagents.com"
)

// NewFetch returns `arena fetch`.
func NewFetch(s *cli.Streams) *cobra.Command {
	f := fetchFlags{}
	c := cli.Command("fetch --race ID | --since DATE | --agent ID | --run ID -o DAYS", "Download days from the subnet's public API", cli.NumArgs(0, 0),
		func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), s)
		})
	fl := c.Flags()
	fl.StringVar(&f.Race, "race", "", "a race by its id")
	fl.StringVar(&f.Agent, "agent", "", "all runs of an agent version")
	fl.StringVar(&f.Query.Run, "run", "", "one evaluation run")
	fl.StringVar(&f.since, "since", "", "all races that ended on this day or later, such as 2026-11-01 (UTC)")
	fl.StringVar(&f.base, "api", apiBase, "address of the API, without a path")
	cli.Choice(
		c,
		&f.Network,
		"network",
		[]string{"mainnet", "testnet", "local"},
		"mainnet, testnet or local, as it stands beside each run; by default what the address says",
	)
	fl.IntVar(&f.rate, "rate", 90, "maximum number of requests per minute; the service allows about 100")
	fl.StringVarP(&f.Out, "output", "o", "", "folder of the days")
	fl.BoolVarP(&f.DryRun, "dry-run", "n", false, "print the number of requests, and fetch nothing")
	cli.Writes(c, "output")
	return c
}

func (f *fetchFlags) run(ctx context.Context, s *cli.Streams) error {
	if err := f.check(); err != nil {
		return err
	}
	f.Client = &fetch.Client{
		Base:      strings.TrimRight(f.base, "/"),
		HTTP:      webclient.New(fetchTimeout, fetchBytes),
		PerMinute: f.rate,
		Logf:      s.Linef,
	}
	var refused *fetch.Refusal
	switch err := f.Run(ctx); {
	case errors.As(err, &refused):
		return cli.Failed(err, "the id may be of another network: --api names the server")
	case err != nil:
		return cli.Failed(err, "run the same command again to go on from what is on disk")
	}
	return nil
}

func (f *fetchFlags) check() error {
	asked := len(slices.DeleteFunc([]string{f.Race, f.Agent, f.Query.Run, f.since}, func(q string) bool {
		return q == ""
	}))
	if asked != 1 {
		return cli.Usage(fmt.Errorf("%d of --race, --since, --agent and --run", asked), "give one of them")
	}
	if f.since != "" {
		var err error
		if f.Since, err = time.Parse(time.DateOnly, f.since); err != nil {
			return cli.Usage(fmt.Errorf("--since %q is no date", f.since), "write it as 2026-11-01")
		}
	}
	if f.Out == "" {
		return cli.Misuse("no folder for the days", "give -o FOLDER")
	}
	if f.rate < 1 {
		return cli.Usage(fmt.Errorf("--rate %d", f.rate), "give at least 1")
	}
	base, err := url.Parse(f.base)
	isHTTP := err == nil && (base.Scheme == "https" || base.Scheme == "http")
	if !isHTTP || base.Host == "" {
		return cli.Misuse("--api is no address", "for example "+apiBase)
	}
	switch host := base.Hostname(); {
	case f.Network != "":
	case webclient.Local(host):
		f.Network = "local"
	case strings.Contains(host, "test"):
		f.Network = "testnet"
	default:
		f.Network = "mainnet"
	}
	return nil
}
