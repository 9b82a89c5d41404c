// Package wrong collects all that is wrong with a configuration, so that its user is
// told everything at once, and says where an error arose.
package wrong

import (
	"errors"
	"fmt"
)

// List is what is wrong; empty where nothing is.
type List []error

// Unless adds an error where ok is false, in the words of fmt.Errorf.
func (l *List) Unless(ok bool, format string, args ...any) {
	if !ok {
		*l = append(*l, fmt.Errorf(format, args...))
	}
}

// In says of an error what was being done; nil stays nil.
func In(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Err joins the list; nil where nothing is wrong.
func (l *List) Err() error { return errors.Join(*l...) }
