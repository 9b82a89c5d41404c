package python

import "fmt"

// raised is an exception of a Python program. Code that reproduces the program panics with it
// where the program would raise it.
type raised struct{ error }

// Raise panics with an error formatted like by fmt.Errorf. Catch returns the error.
func Raise(format string, args ...any) { panic(raised{fmt.Errorf(format, args...)}) }

// Reraise panics with fault as Raise does. It does nothing if fault is nil.
func Reraise(fault error) {
	if fault != nil {
		panic(raised{fault})
	}
}

// Must returns v. If fault is not nil, it raises fault instead.
func Must[T any](v T, fault error) T {
	Reraise(fault)
	return v
}

// Catch calls code and returns the error that code raises, like Python's except. It returns nil
// if there is none.
func Catch(code func()) (fault error) {
	defer func() { fault = raisedBy(recover()) }()
	code()
	return nil
}

// Within adds the name of a step to an error that the step raised. It must be deferred.
func Within(where string) {
	if fault := raisedBy(recover()); fault != nil {
		Raise("%s: %w", where, fault)
	}
}

// raisedBy returns the error in p, a recovered panic that Raise or Reraise caused. It returns
// nil if there was no panic, and panics again with any other value.
func raisedBy(p any) error {
	r, is := p.(raised)
	if p != nil && !is {
		panic(p)
	}
	return r.error
}
