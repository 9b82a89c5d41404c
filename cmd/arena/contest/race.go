package contest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/race"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/report"
	"github.com/trajectory-arena/arena/traces/fetch"
)

type raceFlags struct {
	outputs
	source string
	save   string
	base   string
	corpus string
}

// maxRace is the maximum size in bytes of the JSON document about a race, in which a subnet ranks
// the competing agents. Real ones have some hundred kilobytes.
const maxRace = 64 << 20

// NewRace returns the command `arena race`.
func NewRace(s *cli.Streams) *cobra.Command {
	return cli.Family("race", "Check what the subnet published of a race", newRaceVerify(s))
}

func newRaceVerify(s *cli.Streams) *cobra.Command {
	f := raceFlags{}
	c := cli.Command("verify [ID] [--from FILE]", "Check a race's seed, beacon, validators and winner", cli.NumArgs(0, 1),
		func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, args)
		})
	cli.File(c, &f.source, "from", "a file that --save wrote")
	c.Flags().StringVar(&f.save, "save", "", "write the API's answers to this file")
	c.Flags().StringVar(&f.base, "api", "https://api.oroagents.com", "address of the API, without a path")
	f.flags(c, "")
	cli.File(c, &f.corpus, "corpus", "also check that a corpus is of this race: each attempt of a run of the race, and no run lost")
	cli.Replaces(c, "save")
	return c
}

func (f *raceFlags) run(
	ctx context.Context,
	s *cli.Streams,
	args []string,
) error {
	if len(args)+min(1, len(f.source)) != 1 {
		return cli.Misuse("no race is named", "give its ID, or --from FILE")
	}
	text, err := f.document(ctx, s, args)
	if err != nil {
		return err
	}
	d, err := race.Parse(text)
	if err != nil {
		return cli.Failed(err, "--help says what the file holds")
	}
	r := race.Verify(d)
	if f.corpus != "" {
		attempts, readErr := countAttempts(f.corpus)
		if readErr != nil {
			return cli.Failed(readErr, "--corpus is a folder that arena build wrote")
		}
		r.Findings = append(r.Findings, d.CheckCorpus(attempts)...)
	}
	err = f.write(s, r, report.RacePage(r))
	if err == nil && r.CountWrong() > 0 {
		err = cli.Failed(fmt.Errorf("%d things do not hold", r.CountWrong()), "each stands above with what was found")
	}
	return err
}

func (f *raceFlags) document(ctx context.Context, s *cli.Streams, args []string) ([]byte, error) {
	if f.source != "" {
		file, err := os.Open(f.source)
		if err != nil {
			return nil, cli.Failed(err, "give a file that --save wrote")
		}
		defer file.Close() //nolint:errcheck // only read
		return plaintext.ReadAll(file, maxRace)
	}
	c := fetch.Client{
		Base:      strings.TrimRight(f.base, "/"),
		HTTP:      webclient.New(time.Minute, maxRace),
		PerMinute: 90,
		Logf:      s.Linef,
	}
	text, err := c.RaceDocument(ctx, args[0])
	if err != nil {
		return nil, cli.Failed(err, "the id may be of another network: --api names the server")
	}
	if f.save != "" {
		err = cli.WriteText(s, f.save, string(text))
	}
	return text, err
}

// countAttempts returns, for each evaluation run whose traces are in a corpus, how many attempts
// the corpus has of it. The corpus is the folder dir.
func countAttempts(dir string) (map[string]int, error) {
	attempts := map[string]int{}
	path := filepath.Join(dir, "tables", "attempts.parquet")
	err := corpus.ReadRows(corpus.Disk{}, path, func(a *rows.Attempt) error {
		attempts[a.RunID]++
		return nil
	})
	return attempts, err
}
