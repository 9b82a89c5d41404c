package cli

import "errors"

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
