//go:build !unix

package store

// Map reads a file whole, where the system has no mapping that this program
// knows.
func Map(path string) (data []byte, unmap func() error, err error) { return readWhole(path) }
