package python

import "fmt"

// raised is an error that Python would raise: what follows a Python program panics with
// it where that raises.
type raised struct{ error }

// Raise raises an error in the words of fmt.Errorf.
func Raise(format string, args ...any) { panic(raised{fmt.Errorf(format, args...)}) }

// Reraise raises an error; nothing for nil.
func Reraise(fault error) {
	if fault != nil {
		panic(raised{fault})
	}
}

// Must is v, unless fault is to be raised.
func Must[T any](v T, fault error) T {
	Reraise(fault)
	return v
}

// Catch gives what code raises, as Python's except does; nil where it raises nothing.
func Catch(code func()) (fault error) {
	defer func() { fault = raisedBy(recover()) }()
	code()
	return nil
}

// Within is deferred and says of what the code around it raises where that was.
func Within(where string) {
	if fault := raisedBy(recover()); fault != nil {
		Raise("%s: %w", where, fault)
	}
}

// raisedBy is the error of a panic that Python would raise; others go on.
func raisedBy(p any) error {
	r, is := p.(raised)
	if p != nil && !is {
		panic(p)
	}
	return r.error
}
