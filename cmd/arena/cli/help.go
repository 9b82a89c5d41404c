package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noteGroup stands before a flag's name in its command's annotations; the value
// is the heading that the flag has in the help.
const noteGroup = "arena_group "

// Group puts the flags that register adds to c under a heading of their own in the
// help.
func Group(c *cobra.Command, heading string, register func(*cobra.Command)) {
	before := map[string]bool{}
	c.Flags().VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	register(c)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] {
			c.Annotations[noteGroup+f.Name] = heading
		}
	})
}

// usage prints how a command is called: examples before flags, commands and flags
// by group. Flags that every command has stand in the help of the program alone.
func usage(c *cobra.Command) error {
	w := c.OutOrStderr()
	line := c.UseLine()
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", line)
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	for _, g := range c.Groups() {
		commands(w, c, g.Title, g.ID)
	}
	if c.HasAvailableSubCommands() {
		commands(w, c, "Commands:", "")
	}
	flags(w, c)
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help says more of a command.\n", c.CommandPath())
	}
	return nil
}

// helpOfKnown has the help asked for a word that is no command fail: the error is
// there once root ran.
func helpOfKnown(root *cobra.Command) *error {
	var unknown error
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasSubCommands() {
			unknown = UnknownCommand(c, c.Flags().Args())
		}
		if unknown == nil {
			help(c, args)
		}
	})
	return &unknown
}

func commands(w io.Writer, c *cobra.Command, title, group string) {
	var b strings.Builder
	for _, inner := range c.Commands() {
		if inner.GroupID == group && inner.IsAvailableCommand() {
			fmt.Fprintf(&b, "  %-*s  %s\n", inner.NamePadding(), inner.Name(), inner.Short)
		}
	}
	if b.Len() > 0 {
		fmt.Fprintf(w, "\n%s\n%s", title, &b)
	}
}

func flags(w io.Writer, c *cobra.Command) {
	const rest = "Flags:"
	headings, sets := []string{rest}, map[string]*pflag.FlagSet{rest: pflag.NewFlagSet("", pflag.ContinueOnError)}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		heading := c.Annotations[noteGroup+f.Name]
		switch {
		case heading == "":
			heading = rest
		case sets[heading] == nil:
			headings = append(headings, heading)
			sets[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
		}
		sets[heading].AddFlag(f)
	})
	for _, heading := range headings {
		if sets[heading].HasAvailableFlags() {
			fmt.Fprintf(w, "\n%s\n%s", heading, sets[heading].FlagUsagesWrapped(100))
		}
	}
}
