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

	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

type flagValue struct {
	// kind is the name of the value's type in help texts.
	kind string
	show func() string
	set  func(text string) error
}

func (v flagValue) String() string { return v.show() }

func (v flagValue) Set(text string) error { return v.set(text) }

func (v flagValue) Type() string { return v.kind }

// Out adds the flag -o for a file that is written as a whole; "-" is standard output.
func Out(c *cobra.Command, value *string) {
	c.Flags().StringVarP(value, "output", "o", "-", "output file; - is standard output")
	Replaces(c, "output")
}

// Jobs adds the flag -j for the number of workers. Its default is the value of *dst.
func Jobs(c *cobra.Command, dst *int, doc string) {
	c.Flags().VarP(flagValue{"int", func() string {
		return strconv.Itoa(*dst)
	}, func(text string) (err error) {
		if *dst, err = strconv.Atoi(text); err != nil || *dst < 1 || *dst > inorder.MaxWorkers {
			return fmt.Errorf("give 1 to %d", inorder.MaxWorkers)
		}
		return nil
	}}, "jobs", "j", doc)
}

// Share adds a flag for a number from 0 to 1. Its default is the value of *dst.
func Share(c *cobra.Command, dst *float64, name, doc string) {
	c.Flags().Var(flagValue{"share", func() string {
		return fmt.Sprint(*dst)
	}, func(text string) (err error) {
		if *dst, err = strconv.ParseFloat(text, 64); err != nil || !(*dst >= 0 && *dst <= 1) {
			return errors.New("a share is a number from 0 to 1")
		}
		return nil
	}}, name, doc)
}

// Choice adds a flag for one of a few words, which shells can complete. Its default is the value
// of *dst.
func Choice[T ~string](
	c *cobra.Command,
	dst *T,
	name string,
	words []T,
	doc string,
) {
	choices := slicesx.Map(words, func(w T) string {
		return string(w)
	})
	c.Flags().Var(oneOf(dst, choices), name, doc)
	if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // two flags of one name are a mistake in the program
	}
}

func oneOf[T ~string](dst *T, words []string) flagValue {
	return flagValue{"string", func() string {
		return string(*dst)
	}, func(text string) error {
		if !slices.Contains(words, text) {
			return errors.New("want one of " + strings.Join(words, ", "))
		}
		*dst = T(text)
		return nil
	}}
}

// Number adds a flag for a number. *dst is nil if the flag is not set.
func Number[T any](
	c *cobra.Command,
	dst **T,
	name string,
	parse func(string) (T, error),
	doc string,
) {
	c.Flags().Var(flagValue{fmt.Sprintf("%T", *new(T)), func() string {
		return text.Optional(*dst, "%v", "")
	}, func(text string) error {
		n, err := parse(text)
		*dst = &n
		return err
	}}, name, doc)
}

// mayBeNegative are the numbers that may be less than 0: what a model server is told.
var mayBeNegative = []string{"frequency-penalty", "presence-penalty", "seed", "top-k"}

// checkNumbers returns an error for a flag of c that is set to a negative number, or to none. No
// flag but those of mayBeNegative has a meaning for it.
func checkNumbers(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		isNumber := slices.Contains([]string{"int", "int64", "float64", "duration"}, f.Value.Type())
		value := f.Value.String()
		isBad := value == "NaN" || strings.HasPrefix(value, "-")
		if isNumber && isBad && !slices.Contains(mayBeNegative, f.Name) {
			err = Usage(fmt.Errorf("--%s is %s", f.Name, value), "give 0 or more")
		}
	})
	return err
}

// noteGroup is the prefix of the keys of a command's annotations that put a flag under a heading in
// the help: the value of noteGroup+"out" is the heading of the flag --out.
const noteGroup = "arena_group "

// Group calls register to add flags to c, and lists them under a separate heading in the help.
func Group(
	c *cobra.Command,
	heading string,
	register func(*cobra.Command),
) {
	before := map[string]bool{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		before[f.Name] = true
	})
	register(c)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] {
			c.Annotations[noteGroup+f.Name] = heading
		}
	})
}

// printUsage prints the usage of a command: first examples, then commands and flags by group.
// Flags that every command has are listed only in the help of the program.
func printUsage(c *cobra.Command) error {
	w := c.OutOrStderr()
	line := c.UseLine()
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " COMMAND"
		if strings.Contains(c.Use, " ") { // it does something itself too
			line = c.UseLine() + "\n  " + line
		}
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", line)
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	for _, g := range c.Groups() {
		printCommands(w, c, g.Title, g.ID)
	}
	if c.HasAvailableSubCommands() {
		printCommands(w, c, "Commands:", "")
	}
	printFlags(w, c)
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nRun `%s COMMAND --help` for the help of a command.\n", c.CommandPath())
	}
	return nil
}

// failUnknownHelp changes root so that asking for help on an unknown command is an error. The
// returned pointer refers to that error, which is set after root has run.
func failUnknownHelp(root *cobra.Command) *error {
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

func printCommands(w io.Writer, c *cobra.Command, title, group string) {
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

func printFlags(w io.Writer, c *cobra.Command) {
	const ungrouped = "Flags:"
	headings := []string{ungrouped}
	sets := map[string]*pflag.FlagSet{ungrouped: pflag.NewFlagSet("", pflag.ContinueOnError)}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		heading := c.Annotations[noteGroup+f.Name]
		switch {
		case heading == "":
			heading = ungrouped
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
