package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// TestEveryCommandRefusesWrongUsage holds that an unknown flag and a wrong value of -j end with
// exit code 2 and a hint, and that no command accepts both no argument and 99 arguments.
func TestEveryCommandRefusesWrongUsage(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, inner := range c.Commands() {
			walk(inner, append(slices.Clone(path), inner.Name()))
		}
		if !c.Runnable() || c.HasSubCommands() || c.Name() == "help" || c.Parent().Name() == "completion" {
			return
		}
		for _, args := range [][]string{{"--nope"}, {"-j", "x"}, {"-j", "1000000000"}} {
			var words strings.Builder
			code := run(t.Context(), slices.Concat(path, args), strings.NewReader(""), io.Discard, &words)
			if code != cli.ExitUsage || !strings.Contains(words.String(), "arena: hint: ") {
				t.Errorf("arena %v %v: exit %d: %s", path, args, code, words.String())
			}
		}
		if c.Args == nil || c.Args(c, nil) == nil && c.Args(c, make([]string, 99)) == nil {
			t.Errorf("arena %v takes any number of arguments", path)
		}
	}
	root := newRoot(&cli.Streams{})
	root.InitDefaultCompletionCmd()
	walk(root, nil)
}
