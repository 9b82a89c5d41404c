package cli

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"
)

// AnyNumber is for commands that take as many arguments as there are.
const AnyNumber = math.MaxInt

// Takes refuses any number of arguments but least to most.
func Takes(least, most int) cobra.PositionalArgs {
	want := Counted(least, "argument", "arguments")
	if most == AnyNumber {
		want += " or more"
	}
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return Usage(fmt.Errorf("%s takes %s, not %d", c.CommandPath(), want, len(args)), "usage: "+c.UseLine()+"; --help has an example")
	}
}
