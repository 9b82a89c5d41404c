package cli

import "io"

// Streams are the three standard streams of a run. Data goes to Out, words
// for people to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}
