// Package wrong collects everything that is wrong with a configuration, so that its user sees
// all errors at once. It also adds to an error what was being done.
package wrong

import (
	"errors"
	"fmt"
)

// List is a list of errors. It is empty if nothing is wrong.
type List []error

// Unless adds an error, formatted like by fmt.Errorf, if ok is false.
func (l *List) Unless(ok bool, format string, args ...any) {
	if !ok {
		*l = append(*l, fmt.Errorf(format, args...))
	}
}

// Wrap wraps err with a description of what was being done. It returns nil if err is nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Close calls a function that closes something, and joins its error to *err. It is for defer
// statements.
func Close(err *error, closing func() error) { *err = errors.Join(*err, closing()) }

// Err returns one error that joins all errors of the list, or nil if there are none.
func (l *List) Err() error { return errors.Join(*l...) }
