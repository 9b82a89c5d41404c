package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"
)

// anyNumber is for commands that take as many arguments as there are.
const anyNumber = math.MaxInt

// takes refuses any number of arguments but least to most.
func takes(least, most int) cobra.PositionalArgs {
	want := counted(least, "argument", "arguments")
	if most == anyNumber {
		want += " or more"
	}
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return usage(fmt.Errorf("%s takes %s, not %d", c.CommandPath(), want, len(args)), "usage: "+c.UseLine()+"; --help has an example")
	}
}
