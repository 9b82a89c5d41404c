// Package memnet is a network of one server in memory, for tests: what goes
// over it can be waited for in the virtual time of testing/synctest, which
// stands still while a real connection is waited for.
package memnet

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Listener accepts the connections of its own transport.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// Listen makes a listener. Within a bubble of synctest it belongs to that.
func Listen() *Listener {
	l := &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener. The port is one that URLs need not name.
func (l *Listener) Addr() net.Addr { return addr{} }

// Transport reaches this listener, whatever the address asked for. Whoever
// makes one closes its idle connections.
func (l *Listener) Transport() *http.Transport {
	return &http.Transport{DialContext: l.dial}
}

func (l *Listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: addr{}.Network(), Addr: addr{}, Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type addr struct{}

func (addr) Network() string { return "memory" }
func (addr) String() string  { return "models.test" }
