package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/traces"
)

// Reading say how the attempts of days are read.
type Reading struct {
	// RunID is the run of records that name none.
	RunID string
	// MaxUnreadable is the share of records that may be unreadable, 0 to 1.
	MaxUnreadable float64
}

// Register adds the flags.
func (f *Reading) Register(c *cobra.Command) {
	c.Flags().Var(runID{&f.RunID}, "run-id", "run of records that name none (default: the file they are in, by its content; stdin for -)")
	f.MaxUnreadable = traces.DefaultMaxUnreadable
	c.Flags().Var(part{&f.MaxUnreadable}, "max-unreadable", "share of records that may be unreadable; beyond it the exit code is 3")
}

// part is the value of a flag from 0 to 1.
type part struct{ of *float64 }

// String is pflag.Value.
func (p part) String() string {
	if p.of == nil {
		return "" // pflag asks the zero value for its default
	}
	return strconv.FormatFloat(*p.of, 'g', -1, 64)
}

// Set is pflag.Value.
func (p part) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return errors.New("a share is a number from 0 to 1")
	}
	*p.of = v
	return nil
}

// Type is pflag.Value.
func (part) Type() string { return "share" }

// runID is the value of --run-id. An empty one is refused: a script whose
// variable is not set would name its run like everybody's.
type runID struct{ name *string }

// String is pflag.Value.
func (r runID) String() string {
	if r.name == nil {
		return "" // pflag asks the zero value for its default
	}
	return *r.name
}

// Set is pflag.Value.
func (r runID) Set(name string) error {
	if name == "" {
		return errors.New("a run needs a name")
	}
	*r.name = name
	return nil
}

// Type is pflag.Value.
func (runID) Type() string { return "string" }
