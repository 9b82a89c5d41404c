package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

type value struct {
	// kind is what the help calls its values.
	kind string
	show func() string
	set  func(text string) error
}

func (v value) String() string { return v.show() }

func (v value) Set(text string) error { return v.set(text) }

func (v value) Type() string { return v.kind }

// Out adds -o for a file that is written as a whole; - is standard output.
func Out(c *cobra.Command, to *string) {
	c.Flags().StringVarP(to, "output", "o", "-", "output file; - is standard output")
	Replaces(c, "output")
}

// Jobs adds -j for how much is worked on at once, as usual what *to has.
func Jobs(c *cobra.Command, to *int, doc string) {
	c.Flags().VarP(value{"int", func() string { return strconv.Itoa(*to) }, func(text string) (err error) {
		if *to, err = strconv.Atoi(text); err != nil || *to < 1 {
			return errors.New("give at least 1")
		}
		return nil
	}}, "jobs", "j", doc)
}

// Share adds a flag for a share from 0 to 1, as usual what *to has.
func Share(c *cobra.Command, to *float64, name, doc string) {
	c.Flags().Var(value{"share", func() string { return fmt.Sprint(*to) }, func(text string) (err error) {
		if *to, err = strconv.ParseFloat(text, 64); err != nil || !(*to >= 0 && *to <= 1) {
			return errors.New("a share is a number from 0 to 1")
		}
		return nil
	}}, name, doc)
}

// Choice adds a flag for one of a few words, as usual the one that *to has; shells
// complete them.
func Choice[T ~string](c *cobra.Command, to *T, name string, words []T, doc string) {
	all := slicesx.Map(words, func(w T) string { return string(w) })
	c.Flags().Var(oneOf(to, all), name, doc)
	if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // two flags of one name are a mistake in the program
	}
}

func oneOf[T ~string](to *T, words []string) value {
	return value{"string", func() string { return string(*to) }, func(text string) error {
		if !slices.Contains(words, text) {
			return errors.New("want one of " + strings.Join(words, ", "))
		}
		*to = T(text)
		return nil
	}}
}

// Number adds a flag for a number that is nil where it is not given.
func Number[T any](c *cobra.Command, to **T, name string, parse func(string) (T, error), doc string) {
	c.Flags().Var(value{fmt.Sprintf("%T", *new(T)), func() string { return text.Optional(*to, "%v", "") }, func(text string) error {
		n, err := parse(text)
		*to = &n
		return err
	}}, name, doc)
}

// noteGroup stands before a flag's name in its command's annotations; the value
// is the heading that the flag has in the help.
const noteGroup = "arena_group "

// Group puts the flags that register adds to c under a heading of their own in the
// help.
func Group(c *cobra.Command, heading string, register func(*cobra.Command)) {
	before := map[string]bool{}
	c.Flags().VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	register(c)
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
