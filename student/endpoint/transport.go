package endpoint

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Each connection has a buffer to write from and one to read into. They are as
// large as most requests and replies where the connections are few. Bodies that
// are larger pass them by.
const (
	buffersOfAll   = 1 << 20
	largestWrite   = 16 << 10
	largestRead    = 4 << 10
	smallestBuffer = 1 << 10
)

// newTransport is the usual one for so many connections to each server.
func newTransport(connections int) *http.Transport {
	size := max(smallestBuffer, buffersOfAll/connections)
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true,
		WriteBufferSize: min(largestWrite, size), ReadBufferSize: min(largestRead, size), DialContext: dial, ForceAttemptHTTP2: true,
	}
}

// As long as net/http itself gives: a host that is switched off answers nothing,
// and the system would wait for two minutes.
const connecting = 30 * time.Second

// dial is the transport's own, but for what it connects with.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: connecting}
	c, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return connection{c}, nil
}

// connection writes what does not fit into its buffer by way of memory that all
// share, and not of memory that is made for each request.
type connection struct{ net.Conn }

// The usual memory of io.Copy.
const passing = 32 << 10

var passes = sync.Pool{New: func() any { return new([passing]byte) }}

// ReadFrom implements io.ReaderFrom.
func (c connection) ReadFrom(body io.Reader) (int64, error) {
	b := passes.Get().(*[passing]byte) //nolint:forcetypeassert // nothing else is put there
	defer passes.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, body, b[:])
}
