package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// The exit codes of the program.
const (
	exitOK        = 0
	exitFailure   = 1
	exitUsage     = 2
	exitLimit     = 3
	exitCancelled = 130
)

// failure is an error with its exit code and a hint on what to do about it.
type failure struct {
	err  error
	hint string
	code int
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usage(err error, hint string) error { return &failure{err, hint, exitUsage} }

// limit is for a run that finished but passed a limit it was given.
func limit(err error, hint string) error { return &failure{err, hint, exitLimit} }

// failed is any other error that a hint helps with.
func failed(err error, hint string) error { return &failure{err, hint, exitFailure} }

func cancelled() error {
	return &failure{errors.New("cancelled"), "run the same command again: finished work is kept", exitCancelled}
}

// tellError prints err for people and returns its exit code.
func tellError(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	f := &failure{code: exitFailure}
	errors.As(err, &f)
	fmt.Fprintf(stderr, "arena: error: %v\n", err)
	if f.hint != "" {
		fmt.Fprintf(stderr, "arena: hint: %s\n", f.hint)
	}
	return f.code
}

// unknownCommand refuses a word that is no command and names the nearest one.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "run `arena --help` for the commands"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean `arena %s`?", near[0])
	}
	return usage(fmt.Errorf("unknown command %q", args[0]), hint)
}
