// Package long tells tests whether to run whole simulations and every case of a
// long table. With go test -tags long ./... they do; without the tag they take a
// sample.
package long

// Or gives whole where everything is to run, sample where not.
func Or[T any](whole, sample T) T {
	if Tests {
		return whole
	}
	return sample
}
