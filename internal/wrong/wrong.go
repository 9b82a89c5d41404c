// Package wrong collects all that is wrong with a configuration, so that its user is
// told everything at once, and says where an error arose.
package wrong

import (
	"errors"
	"fmt"
)

// List is a list of errors; empty if nothing is wrong.
type List []error

// Unless adds an error, formatted by fmt.Errorf, if ok is false.
func (l *List) Unless(ok bool, format string, args ...any) {
	if !ok {
		*l = append(*l, fmt.Errorf(format, args...))
	}
}

// Wrap wraps err in what was being done. It returns nil for nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Err returns the joined errors, or nil if there are none.
func (l *List) Err() error { return errors.Join(*l...) }
