package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"
)

// line is one connection, which asks and hears by turns.
type line struct {
	conn net.Conn
	// from bounds what is read of the connection while a head is.
	from io.LimitedReader
	in   *bufio.Reader
	// deaf reports whether the server does not take all that is written.
	deaf bool
}

const (
	// buffer holds the head of a reply and, of most, the body. One is held by each
	// request that waits.
	buffer = 2 << 10
	// maxHeads bounds the heads of a reply: what comes before its body.
	maxHeads = 1 << 20
)

func newLine(conn net.Conn) *line {
	l := &line{conn: conn, from: io.LimitedReader{R: conn}}
	l.in = bufio.NewReaderSize(&l.from, buffer)
	return l
}

// interrupt ends what is being written or read, for good.
func (l *line) interrupt() { _ = l.conn.SetDeadline(time.Unix(1, 0)) } // a broken one has ended already

// ask sends a request and gives the reply, whose body is yet to be read. A server
// may refuse what it has not read to the end, and close: its reply counts.
func (l *line) ask(r *http.Request) (*http.Response, error) {
	sent := l.send(r)
	if sent != nil && !l.deaf {
		return nil, fmt.Errorf("send request: %w", sent)
	}
	res, err := l.hear(r)
	if err != nil {
		return nil, errors.Join(sent, err)
	}
	res.Close = res.Close || l.deaf
	return res, nil
}

func (l *line) send(r *http.Request) error {
	w := writers.Get().(*bufio.Writer) //nolint:forcetypeassert // nothing else is put there
	defer writers.Put(w)
	w.Reset(l)
	defer w.Reset(nil)
	if err := r.Write(w); err != nil {
		return err //nolint:wrapcheck // ask does
	}
	return w.Flush() //nolint:wrapcheck // ask does
}

// Write implements io.Writer and no more: a connection that could take in a body
// by itself would do so through memory that it makes for each.
func (l *line) Write(p []byte) (int, error) {
	n, err := l.conn.Write(p)
	l.deaf = l.deaf || err != nil
	return n, err //nolint:wrapcheck // ask does
}

// hear reads heads up to the last one: those of status 1xx are no reply.
func (l *line) hear(r *http.Request) (*http.Response, error) {
	l.from.N = maxHeads
	// Waiting here, and not where heads are read, halves the stacks of those that wait.
	if _, err := l.in.Peek(1); err != nil {
		return nil, fmt.Errorf("wait for a response: %w", err)
	}
	for {
		res, err := http.ReadResponse(l.in, r)
		if err != nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		if res.StatusCode/100 != 1 {
			l.from.N = math.MaxInt64
			return res, nil
		}
	}
}

// body is what is left of a reply.
type body struct {
	io.ReadCloser
	ctx   context.Context //nolint:containedctx // it bounds the reading, as the request's does with net/http
	whole bool
	// end is told whether the body was read to its end; nil once it was.
	end func(whole bool)
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.whole = errors.Is(err, io.EOF); err != nil && !b.whole {
		err = because(b.ctx, err)
	}
	return n, err //nolint:wrapcheck // io.EOF must stay what it is
}

// Close implements io.Closer. It does not read on.
func (b *body) Close() error {
	if b.end != nil {
		b.end(b.whole)
		b.end = nil
	}
	return nil
}

// because is the context's error where that is why the connection failed.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err() //nolint:wrapcheck // as net/http gives it
	}
	return err
}
