package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// TestHelpNamesTheKindOfEveryFlag: pflag takes what stands between back quotes
// in a description for the kind of the value, so that a quoted command would
// stand where string or int does.
func TestHelpNamesTheKindOfEveryFlag(t *testing.T) {
	t.Parallel()
	eachCommand(newRoot(&cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if kind, _ := pflag.UnquoteUsage(f); strings.Contains(kind, " ") {
				t.Errorf("%s --%s: kind %q", c.CommandPath(), f.Name, kind)
			}
		})
	})
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, inner := range c.Commands() {
		eachCommand(inner, visit)
	}
}
