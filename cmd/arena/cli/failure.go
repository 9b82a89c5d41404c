package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/internal/text"
)

// The exit codes of the program. Wrong usage is what the command line says: a
// flag, a configuration file, a path where nothing is. A file that is there and
// cannot be read as what it should be is a failure, whatever flag names it.
const (
	ExitOK        = 0
	ExitFailure   = 1
	ExitUsage     = 2
	ExitLimit     = 3
	ExitCancelled = 130
)

// Failure is an error with its exit code and a hint on what to do about it.
type Failure struct {
	err  error
	hint string
	code int
}

// Error implements error.
func (f *Failure) Error() string { return f.err.Error() }
func (f *Failure) Unwrap() error { return f.err }

// Usage is for what the command line itself says wrong.
func Usage(err error, hint string) error { return &Failure{err, hint, ExitUsage} }

// Limit is for a run that finished but passed a limit it was given.
func Limit(err error, hint string) error { return &Failure{err, hint, ExitLimit} }

// Failed is any other error that a hint helps with.
func Failed(err error, hint string) error { return &Failure{err, hint, ExitFailure} }

// misnamed gives an error the exit code of wrong usage where it says that a
// path that the user gave, or what would be in it, is not there: nothing was
// begun that could have failed.
func misnamed(err error, given []string) error {
	for _, e := range fileErrors(err) {
		if !errors.Is(e, fs.ErrNotExist) || !slices.ContainsFunc(given, func(path string) bool { return absent(path) && Within(path, e.Path) }) {
			continue
		}
		failure := &Failure{hint: "check the path: nothing is there"}
		errors.As(err, &failure)
		return Usage(err, failure.hint)
	}
	return err
}

func absent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func tellError(stderr io.Writer, err error) int {
	if err == nil {
		return ExitOK
	}
	f := &Failure{code: ExitFailure}
	errors.As(err, &f)
	text, hint := withoutRepeats(err), f.hint
	if errors.Is(err, syscall.ENOSPC) { // whatever else would help
		hint = "free some of the disk, or write to another one: -o for what stays, TMPDIR for what does not"
	}
	if log, ok := stderr.(*logLines); ok {
		log.tellError(text, hint, f.code)
		return f.code
	}
	fmt.Fprintf(stderr, "arena: error: %s\n", text)
	if hint != "" {
		fmt.Fprintf(stderr, "arena: hint: %s\n", hint)
	}
	return f.code
}

// withoutRepeats is the text of err. An error of the file system names its
// operation and its path; where the words before it name that path already,
// only what went wrong is left of it. This is the one place that sees all
// layers, so that none of them must know what another one said.
func withoutRepeats(err error) string {
	text := err.Error()
	for _, e := range fileErrors(err) {
		if before, after, found := strings.Cut(text, e.Error()); found && strings.Contains(before[strings.LastIndexByte(before, '\n')+1:], e.Path) {
			text = before + e.Err.Error() + after
		}
	}
	return text
}

func fileErrors(err error) []*fs.PathError {
	switch e := err.(type) { //nolint:errorlint // the tree is walked one error at a time
	case *fs.PathError:
		return []*fs.PathError{e}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return fileErrors(inner)
		}
	case interface{ Unwrap() []error }:
		var all []*fs.PathError
		for _, inner := range e.Unwrap() {
			all = append(all, fileErrors(inner)...)
		}
		return all
	}
	return nil
}

// Counted is a number with the word that goes with it.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// UnknownCommand refuses a word that is no command and names the nearest one.
func UnknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "run `" + c.CommandPath() + " --help` for the commands"
	c.SuggestionsMinimumDistance = nearEnough
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean `%s %s`?", c.CommandPath(), near[0])
	}
	return Usage(fmt.Errorf("unknown command %q", args[0]), hint)
}

// Command makes a command: how it is typed, what it does in one line, which arguments it
// takes, and what runs it.
func Command(use, short string, takes cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: takes, RunE: run, Annotations: map[string]string{}}
}

// Family makes a command that does nothing but hold others.
func Family(use, short string, inner ...*cobra.Command) *cobra.Command {
	c := Command(use, short, UnknownCommand, func(c *cobra.Command, _ []string) error { return c.Help() })
	c.AddCommand(inner...)
	return c
}

// nearEnough is how many letters of a mistyped word may differ: two neighbours
// swapped, the commonest slip, are two.
const nearEnough = 2

// BadFlag refuses a flag that cannot be read, and names the nearest one to a
// flag that does not exist.
func BadFlag(c *cobra.Command, err error) error {
	hint := "run `" + c.CommandPath() + " --help` for its flags and an example"
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		at := nearEnough + 1
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if d := text.Distance(unknown.GetSpecifiedName(), f.Name); d < at {
				at, hint = d, fmt.Sprintf("did you mean --%s?", f.Name)
			}
		})
	}
	return Usage(err, hint)
}

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
