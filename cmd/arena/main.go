// Command arena turns days of graded shopping attempts into training corpora
// and measures the students trained on them.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/audit"
	"github.com/trajectory-arena/arena/cmd/arena/build"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/contest"
	"github.com/trajectory-arena/arena/cmd/arena/evaluate"
	"github.com/trajectory-arena/arena/cmd/arena/export"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // a second Ctrl-C ends the program at once
		time.Sleep(oneSignal)
		stop()
	})
	code := run(ctx, os.Args[1:], cli.Cancellable(ctx, os.Stdin), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// oneSignal is how long a repeated signal counts as the one before it: timeout(1)
// and service managers signal a process and then the group it is in, and what
// they end must still tidy up.
const oneSignal = time.Second

// run is the program with its arguments and streams.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, newRoot, args, stdin, stdout, stderr)
}

func newRoot(s *cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "arena",
		Short:         "From graded agent attempts to training corpora and evaluated students",
		Long:          rootHelp,
		Version:       cli.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cli.UnknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(cli.BadFlag)
	root.AddCommand(
		audit.NewAgreement(s),
		build.NewBuild(s),
		evaluate.NewCompare(s),
		contest.NewContest(s),
		export.NewConvert(s),
		audit.NewDedup(s),
		evaluate.NewEnv(s),
		evaluate.NewEval(s),
		export.NewExport(s),
		audit.NewFilter(s),
		build.NewImport(s),
		audit.NewInspect(s),
		audit.NewJudge(s),
		audit.NewLeak(s),
		audit.NewList(s),
		build.NewMix(s),
		export.NewPublish(s),
		build.NewRecipe(s),
		evaluate.NewResults(s),
		audit.NewScore(s),
		evaluate.NewShop(s),
		build.NewStage(s),
		audit.NewVerify(s),
	)
	return root
}

const rootHelp = `arena reads days of graded shopping attempts, keeps those in which the model
itself acts, scores and judges them, keeps held-out problems out, and writes
Parquet corpora that trainers load at once.

  arena build testdata/day -o out     the whole way, with embedded defaults
  arena verify out                    every promise of its manifest, again`
