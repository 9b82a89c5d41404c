// Command arena turns days of graded attempts into training corpora
// and measures the students trained on them.
package main

import (
	"cmp"
	"context"
	"embed"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/audit"
	"github.com/trajectory-arena/arena/cmd/arena/build"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/contest"
	"github.com/trajectory-arena/arena/cmd/arena/evaluate"
	"github.com/trajectory-arena/arena/cmd/arena/export"
	"github.com/trajectory-arena/arena/cmd/arena/look"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // a second Ctrl-C ends the program at once
		time.Sleep(oneSignal)
		stop()
	})
	os.Exit(run(
		ctx,
		os.Args[1:],
		cli.Cancellable(ctx, os.Stdin),
		os.Stdout,
		os.Stderr,
	)) // a signal is caught to the end
}

// oneSignal is the time in which a repeated signal counts as the same signal. timeout(1) and
// service managers signal a process and then its group, and the process must still be able to tidy
// up.
const oneSignal = time.Second

func run(
	ctx context.Context,
	args []string,
	stdin io.Reader,
	stdout, stderr io.Writer,
) int {
	return cli.Run(ctx, newRoot, args, stdin, stdout, stderr)
}

func newRoot(s *cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "arena",
		Short:         "From graded agent attempts to training corpora and evaluated students",
		Version:       cli.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cli.UnknownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(cli.BadFlag)
	addCommands(root, s)
	addHelp(root, "")
	return root
}

// addCommands adds all commands to root, in groups by their use.
func addCommands(root *cobra.Command, s *cli.Streams) {
	group(
		root,
		"Make a corpus:",
		build.NewFetch(s),
		build.NewBuild(s),
		build.NewImport(s),
		build.NewMix(s),
		build.NewRecipe(s),
		export.NewPublish(s),
		build.NewStage(s),
	)
	group(
		root,
		"Audit traces:",
		audit.NewFilter(s),
		audit.NewScore(s),
		audit.NewJudge(s),
		audit.NewAgreement(s),
		audit.NewLeak(s),
		audit.NewDedup(s),
		audit.NewDomain(s),
	)
	group(
		root,
		"Look and check:",
		look.NewExplain(s),
		look.NewView(s),
		look.NewLabel(s),
		look.NewDrift(s),
		audit.NewInspect(s),
		audit.NewVerify(s),
		audit.NewList(s),
		cli.NewVersion(s),
	)
	root.SetCompletionCommandGroupID("Look and check:")
	group(
		root,
		"Feed trainers:",
		export.NewExport(s),
		export.NewConvert(s),
		evaluate.NewEnv(s),
	)
	group(
		root,
		"Evaluate students:",
		evaluate.NewEval(s),
		evaluate.NewResults(s),
		evaluate.NewCompare(s),
		evaluate.NewShop(s),
	)
	group(root, "Replay contests:", contest.NewContest(s), contest.NewRace(s))
}

func group(root *cobra.Command, heading string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: heading, Title: heading})
	for _, c := range commands {
		c.GroupID = heading
		root.AddCommand(c)
	}
}

// texts has a help text for each command, in a file that is named by the command, such as
// help/label-score.txt. A line "Examples:" separates the description from the examples.
//
//go:embed help
var texts embed.FS

// addHelp adds help texts to c and the commands below it. A command without examples gets
// those of its parent.
func addHelp(c *cobra.Command, examples string) {
	name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "arena "), " ", "-")
	if text, err := texts.ReadFile("help/" + name + ".txt"); err == nil {
		c.Long, c.Example, _ = strings.Cut(strings.TrimSuffix(string(text), "\n"), "Examples:\n")
		c.Long = strings.TrimSpace(c.Long)
	}
	c.Example = cmp.Or(c.Example, examples)
	for _, inner := range c.Commands() {
		addHelp(inner, c.Example)
	}
}
