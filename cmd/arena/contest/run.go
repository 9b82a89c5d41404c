package contest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/match"
	"github.com/trajectory-arena/arena/report"
)

type runFlags struct {
	json bool
	dir  string
}

func newRun(s *cli.Streams) *cobra.Command {
	f := runFlags{}
	c := cli.Command("run CONTEST.yaml -o RUN", "Run a round between your own models, to a decision or weights", cli.NumArgs(1, 1),
		func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, args[0])
		})
	c.Flags().StringVarP(&f.dir, "out", "o", "", "folder of the run; the same command goes on with one that was interrupted")
	c.Flags().BoolVar(&f.json, "json", false, "write JSON instead of tables")
	cli.Writes(c, "out")
	cli.ReadsFiles(c)
	return c
}

func (f *runFlags) run(ctx context.Context, s *cli.Streams, path string) error {
	if f.dir == "" {
		return cli.Usage(fmt.Errorf("no folder for the run"), "give it with -o RUN")
	}
	config := match.DefaultConfig()
	settings := cli.Settings{
		File:    path,
		Page:    "docs/how-to/contest.md",
		Example: "draw=40",
	}
	if err := settings.Fill(&config); err != nil {
		return err
	}
	if err := config.Validate(); err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err), "docs/how-to/contest.md has whole examples")
	}
	if err := match.CheckFolder(f.dir); err != nil {
		return cli.DefaultHint(err, "give -o a new folder, or that of the round to go on with")
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	if err := cli.Lock(s, f.dir); err != nil {
		return err
	}
	r, err := match.Run(ctx, &config, f.dir)
	if err != nil {
		return cli.DefaultHint(err, "run the same command again: answers that were recorded are not asked again")
	}
	if config.Teacher.Dump == "" {
		s.Notef("%d requests were sent; all answers are in %s\n", r.Asked, filepath.Join(f.dir, match.AnswersFile))
	}
	if f.json {
		return json.NewEncoder(s.Out).Encode(r)
	}
	return report.MatchPage(r).Text(s.Out)
}
