package cli

import (
	"errors"
	"fmt"
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

// Register adds the flags. An empty run is refused: a script whose variable is not
// set would name its run like everybody's.
func (f *Reading) Register(c *cobra.Command) {
	c.Flags().Func("run-id", "run of records that name none, a `string` (default: the file they are in, by its content; stdin for -)", func(name string) error {
		if f.RunID = name; name == "" {
			return errors.New("a run needs a name")
		}
		return nil
	})
	f.MaxUnreadable = traces.DefaultMaxUnreadable
	c.Flags().Func("max-unreadable", fmt.Sprintf("`share` of records that may be unreadable; beyond it the exit code is 3 (default %v)", f.MaxUnreadable), func(text string) (err error) {
		if f.MaxUnreadable, err = strconv.ParseFloat(text, 64); err != nil || !(f.MaxUnreadable >= 0 && f.MaxUnreadable <= 1) {
			return errors.New("a share is a number from 0 to 1")
		}
		return nil
	})
}
