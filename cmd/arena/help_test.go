package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/pipeline/recipe"
)

// TestHelpNamesTheKindOfEveryFlag checks that no flag description has a quoted command: pflag takes
// the text between back quotes as the type of the value and prints it where string or int is
// expected.
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

// TestEveryHelpTextIsACommands checks that every help text belongs to a command, since another
// would never be printed. The text of arena recipe names every recipe with the recipe's own
// summary.
func TestEveryHelpTextIsACommands(t *testing.T) {
	t.Parallel()
	inHelp := map[string]bool{}
	eachCommand(newRoot(&cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}), func(c *cobra.Command) {
		inHelp[strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "arena "), " ", "-")+".txt"] = true
		if c.CommandPath() != "arena recipe" {
			return
		}
		for _, r := range recipe.All() {
			if words := strings.Join(strings.Fields(c.Long), " "); !strings.Contains(words, r.Name+" "+r.Doc) {
				t.Errorf("the help of arena recipe has no %q for %s", r.Doc, r.Name)
			}
		}
	})
	files, err := texts.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !inHelp[f.Name()] {
			t.Errorf("help/%s is of no command", f.Name())
		}
	}
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, inner := range c.Commands() {
		eachCommand(inner, visit)
	}
}
