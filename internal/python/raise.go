package python

import "fmt"

// raised is an exception of a Python program. Code that reproduces the program panics with it at
// the places at which the program would raise it.
type raised struct{ error }

// Raise panics with an error formatted by fmt.Errorf, for Catch to return.
func Raise(format string, args ...any) { panic(raised{fmt.Errorf(format, args...)}) }

// Reraise panics with err, unless it is nil.
func Reraise(fault error) {
	if fault != nil {
		panic(raised{fault})
	}
}

// Must returns v, and raises err unless it is nil.
func Must[T any](v T, fault error) T {
	Reraise(fault)
	return v
}

// Catch returns the error that f raises, as Python's except does, or nil.
func Catch(code func()) (fault error) {
	defer func() { fault = raisedBy(recover()) }()
	code()
	return nil
}

// Within wraps a raised error in the name of the step that raised it. It must be deferred.
func Within(where string) {
	if fault := raisedBy(recover()); fault != nil {
		Raise("%s: %w", where, fault)
	}
}

// raisedBy returns the error of p, a recovered panic, if Raise or Reraise caused it, and nil if
// there was no panic. It panics again with any other value.
func raisedBy(p any) error {
	r, is := p.(raised)
	if p != nil && !is {
		panic(p)
	}
	return r.error
}
