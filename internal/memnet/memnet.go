// Package memnet provides an in-memory network with one server for tests. Tests with
// testing/synctest can wait for its traffic in virtual time, which would stop while they wait
// for a real connection.
package memnet

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Serve starts a server and returns it with a transport that connects every request to it,
// whatever the address. Both are closed at the end of the test.
func Serve(t testing.TB, h http.Handler) (*httptest.Server, *http.Transport) {
	l := &listener{
		conns:  make(chan net.Conn),
		closed: make(chan struct{}),
	}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	server := &httptest.Server{
		Listener: l,
		Config:   &http.Server{Handler: h},
	} //nolint:gosec // nobody is slow on purpose
	server.Start()
	way := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		way.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return server, way
}

type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.close()
	return nil
}

func (l *listener) Addr() net.Addr {
	return &net.UnixAddr{
		Net:  "memory",
		Name: "models.test",
	}
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, &net.OpError{
			Op:   "dial",
			Net:  "memory",
			Addr: l.Addr(),
			Err:  net.ErrClosed,
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
