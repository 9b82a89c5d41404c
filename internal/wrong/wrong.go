// Package wrong collects all that is wrong with a configuration, so that its user is
// told everything at once.
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

// Err joins the list; nil where nothing is wrong.
func (l *List) Err() error { return errors.Join(*l...) }
