package look

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/report/drift"
)

type driftFlags struct {
	cli.Settings
	against, out string
}

// NewDrift returns the command `arena drift`.
func NewDrift(s *cli.Streams) *cobra.Command {
	f := driftFlags{Settings: cli.Settings{Page: "`arena drift --help`", Example: "agentic=0.05"}}
	c := cli.Command("drift CORPUS --against PREVIOUS", "Compare a day with the one before", cli.NumArgs(1, 1),
		func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, args[0])
		})
	f.Flags(c)
	cli.File(c, &f.against, "against", "corpus of the day before (required)")
	cli.Out(c, &f.out)
	cli.ReadsFiles(c)
	return c
}

func (f *driftFlags) run(
	ctx context.Context,
	s *cli.Streams,
	corpus string,
) error {
	limits := drift.Defaults()
	if err := f.Fill(&limits); err != nil {
		return err
	}
	if f.against == "" {
		return cli.Misuse("no day to compare with", "name the corpus of the day before with --against")
	}
	before, err := dayOf(ctx, f.against)
	if err != nil {
		return err
	}
	after, err := dayOf(ctx, corpus)
	if err != nil {
		return err
	}
	d := drift.Between(before, after, limits)
	err = cli.WriteText(s, f.out, d.Markdown())
	if passed := d.Passed(); err == nil && len(passed) > 0 {
		return cli.Limit(fmt.Errorf("%s moved beyond a limit", strings.Join(passed, ", ")), "the table says how far; --set agentic=0.2 and the like allow more")
	}
	return err
}

func dayOf(ctx context.Context, name string) (*drift.Day, error) {
	var day *drift.Day
	err := cli.ReadCorpus(ctx, name, func(fsys corpus.FS, dir string) error {
		lines, failed := where.Read(fsys, dir, false)
		if failed != nil {
			return cli.CorpusError(fsys, dir, failed)
		}
		day = drift.NewDay(filepath.Base(name), lines)
		return nil
	})
	return day, err
}
