// Command arena turns days of graded shopping attempts into training corpora
// and measures the students trained on them.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // a second Ctrl-C ends the program at once
		time.Sleep(oneSignal)
		stop()
	})
	code := run(ctx, os.Args[1:], &cancellable{ctx: ctx, stream: os.Stdin}, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// oneSignal is how long a repeated signal counts as the one before it: timeout(1)
// and service managers signal a process and then the group it is in, and what
// they end must still tidy up.
const oneSignal = time.Second

// run is the whole program: it parses args, does what they say and returns
// the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	profiles := &profiler{}
	format := logFormatOf(args)
	stderr = words{stderr}
	if format == logJSON {
		stderr = newLogLines(stderr)
	}
	out := &checked{to: stdout}
	root := newRoot(&streams{in: stdin, out: out, err: stderr})
	profiles.flags(root)
	root.PersistentFlags().Var(&format, "log-format", "what is said on standard error: text, or json for one object a line")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return profiles.start() }
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	err := profiles.stop(root.ExecuteContext(ctx))
	if err == nil {
		err = out.failed
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = cancelled()
	}
	return tellError(stderr, misnamed(err, args))
}

// streams are the three standard streams of a run. Data goes to out, words
// for people to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "arena",
		Short:         "From graded agent attempts to training corpora and evaluated students",
		Long:          rootHelp,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(badFlag)
	root.AddCommand(
		newAgreement(s),
		newBuild(s),
		newCompare(s),
		newConvert(s),
		newDedup(s),
		newEval(s),
		newExport(s),
		newFilter(s),
		newFilters(s),
		newImport(s),
		newInspect(s),
		newJudge(s),
		newJudges(s),
		newLeak(s),
		newMix(s),
		newProfiles(s),
		newRecipe(s),
		newResults(s),
		newScore(s),
		newShop(s),
		newStage(s),
		newVerify(s),
	)
	return root
}

const rootHelp = `arena reads days of graded shopping attempts, keeps those in which the model
itself acts, scores and judges them, keeps held-out problems out, and writes
Parquet corpora that trainers load at once.

  arena build testdata/day -o out     the whole way, with embedded defaults
  arena verify out                    every promise of its manifest, again`
