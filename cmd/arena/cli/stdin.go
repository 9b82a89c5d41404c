package cli

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
)

// cancellable reads from a stream whose reads may wait for ever, such as a
// terminal, until ctx is done. The stream is not touched before the first
// read.
type cancellable struct {
	ctx    context.Context //nolint:containedctx // io.Reader asks without one
	stream io.Reader
	once   sync.Once
	pipe   *io.PipeReader
}

// Cancellable makes one of a stream.
func Cancellable(ctx context.Context, stream io.Reader) io.Reader {
	return &cancellable{ctx: ctx, stream: stream}
}

// Read is io.Reader.
func (c *cancellable) Read(p []byte) (int, error) {
	c.once.Do(func() {
		r, w := io.Pipe()
		c.pipe = r
		context.AfterFunc(c.ctx, func() { _ = w.CloseWithError(context.Cause(c.ctx)) }) // a pipe's close never fails
		go func() {
			_, err := io.Copy(w, c.stream)
			_ = w.CloseWithError(err) // likewise
		}()
	})
	return c.pipe.Read(p)
}

// Stat says of which file the stream is read, where it is one.
func (c *cancellable) Stat() (os.FileInfo, error) {
	if f, ok := c.stream.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}
