package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// TestNoNumberIsNegative sets each flag for a number, of every command, to -1. A flag that takes it
// is one of those that are told to a model server.
func TestNoNumberIsNegative(t *testing.T) {
	t.Parallel()
	took := map[string]bool{}
	for _, c := range commands(t) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			kind, _ := pflag.UnquoteUsage(f)
			number := map[string]string{"int": "-1", "uint": "-1", "float": "-1", "float64": "-1", "share": "-1", "MiB": "-1", "duration": "-1s"}[kind]
			if number == "" {
				return
			}
			args := append(strings.Fields(c.CommandPath())[1:], withInputs(c, "", "none", "--"+f.Name, number)...)
			var words strings.Builder
			code := run(t.Context(), args, strings.NewReader(""), io.Discard, &words)
			if code != cli.ExitUsage || !strings.Contains(words.String(), "--"+f.Name) {
				took[f.Name] = true
			}
		})
	}
	if want := []string{"frequency-penalty", "presence-penalty", "seed", "top-k"}; !slices.Equal(slices.Sorted(maps.Keys(took)), want) {
		t.Errorf("negative numbers are taken by %v, want %v", took, want)
	}
}
