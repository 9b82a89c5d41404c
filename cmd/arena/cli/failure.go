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

// The exit codes of the program. ExitUsage means that the command line is wrong: a flag, a
// configuration file, or a path that does not exist. A file that exists and is invalid means
// ExitFailure, even if a flag names it.
const (
	ExitOK        = 0
	ExitFailure   = 1
	ExitUsage     = 2
	ExitLimit     = 3
	ExitCancelled = 130
)

// RunHint says what a run is.
const RunHint = "a run is a folder that `arena eval` finished, a log of inspect_ai, or results of verifiers or tau2-bench"

// Failure is an error with its exit code and a hint on what to do.
type Failure struct {
	err  error
	hint string
	code int
}

// Error returns the text of the wrapped error.
func (f *Failure) Error() string { return f.err.Error() }
func (f *Failure) Unwrap() error { return f.err }

// Usage returns an error with ExitUsage, for a wrong command line.
func Usage(err error, hint string) error { return &Failure{err, hint, ExitUsage} }

// Misuse returns an error with ExitUsage that says what is wrong with a command line.
func Misuse(problem, hint string) error { return Usage(errors.New(problem), hint) }

// Limit returns an error with ExitLimit, for a run that finished but exceeded a limit.
func Limit(err error, hint string) error { return &Failure{err, hint, ExitLimit} }

// Failed returns an error with ExitFailure, for any other failure with a hint.
func Failed(err error, hint string) error { return &Failure{err, hint, ExitFailure} }

// asUsageError returns err with the exit code ExitUsage if its cause is that one of paths, which
// the user gave, does not exist. Any other error is returned unchanged.
func asUsageError(err error, paths []string) error {
	for _, e := range fileErrors(err) {
		if !errors.Is(e, fs.ErrNotExist) || !slices.ContainsFunc(paths, func(path string) bool { return isAbsent(path) && Within(path, e.Path) }) {
			continue
		}
		failure := &Failure{hint: "check the path: nothing is there"}
		errors.As(err, &failure)
		return Usage(err, failure.hint)
	}
	return err
}

func isAbsent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func printError(stderr io.Writer, err error) int {
	if err == nil {
		return ExitOK
	}
	f := &Failure{code: ExitFailure}
	errors.As(err, &f)
	text := withoutRepeats(err)
	hint := f.hint
	if errors.Is(err, syscall.ENOSPC) { // whatever else would help
		hint = "free some of the disk, or write to another one: -o for what stays, TMPDIR for what does not"
	}
	if log, ok := stderr.(*logLines); ok {
		log.printError(text, hint, f.code)
		return f.code
	}
	fmt.Fprintf(stderr, "arena: error: %s\n", text)
	if hint != "" {
		fmt.Fprintf(stderr, "arena: hint: %s\n", hint)
	}
	return f.code
}

// withoutRepeats returns the text of err without repeated paths. An error of the file system
// contains an operation and a path. If the text before it already contains the path, only the
// reason is kept. This is done here because only this function has the complete error.
func withoutRepeats(err error) string {
	text := err.Error()
	for _, e := range fileErrors(err) {
		if before, after, ok := strings.Cut(text, e.Error()); ok && strings.Contains(before[strings.LastIndexByte(before, '\n')+1:], e.Path) {
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
		var pathErrs []*fs.PathError
		for _, inner := range e.Unwrap() {
			pathErrs = append(pathErrs, fileErrors(inner)...)
		}
		return pathErrs
	}
	return nil
}

// Counted returns a number with its noun: one in singular, many in plural.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// UnknownCommand returns an error for an unknown command and names the nearest one.
func UnknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "run `" + c.CommandPath() + " --help` for the commands"
	c.SuggestionsMinimumDistance = maxTypos
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean `%s %s`?", c.CommandPath(), near[0])
	}
	return Usage(fmt.Errorf("unknown command %q", args[0]), hint)
}

// Command returns a command with its usage line, one line of help, the check of its arguments,
// and the function that runs it.
func Command(
	use, short string,
	args cobra.PositionalArgs,
	run func(*cobra.Command, []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use:         use,
		Short:       short,
		Args:        args,
		RunE:        run,
		Annotations: map[string]string{},
	}
}

// Family returns a command that only groups other commands.
func Family(use, short string, inner ...*cobra.Command) *cobra.Command {
	c := Command(use, short, UnknownCommand, func(c *cobra.Command, _ []string) error {
		return c.Help()
	})
	c.AddCommand(inner...)
	return c
}

// maxTypos is the maximum edit distance between a mistyped word and the suggested one. Two
// swapped letters, the most common mistake, have distance 2.
const maxTypos = 2

// BadFlag returns the error for a flag that cannot be parsed. If the flag does not exist, the
// hint names the most similar flag.
func BadFlag(c *cobra.Command, err error) error {
	hint := "run `" + c.CommandPath() + " --help` for its flags and an example"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		at := maxTypos + 1
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if d := text.Distance(unknown.GetSpecifiedName(), f.Name); d < at {
				at = d
				hint = fmt.Sprintf("did you mean --%s?", f.Name)
			}
		})
	}
	return Usage(err, hint)
}

// AnyNumber is the maximum of NumArgs for commands that take any number of arguments.
const AnyNumber = math.MaxInt

// NumArgs returns a function that checks that a command has at least minArgs and at most maxArgs
// arguments.
func NumArgs(minArgs, maxArgs int) cobra.PositionalArgs {
	want := Counted(minArgs, "argument", "arguments")
	if maxArgs == AnyNumber {
		want += " or more"
	}
	return func(c *cobra.Command, args []string) error {
		if len(args) >= minArgs && len(args) <= maxArgs {
			return nil
		}
		return Usage(
			fmt.Errorf("%s takes %s, not %d", c.CommandPath(), want, len(args)),
			"usage: "+c.UseLine()+"; --help has an example",
		)
	}
}
