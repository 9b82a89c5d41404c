// Package wire carries HTTP/1.1 requests in the clear over connections that are
// kept. The goroutine that asks writes and reads itself; net/http has two more
// for each connection, whose stacks and hand-overs are a large part of what
// hundreds of requests cost that wait for a model. Heads and bodies are written
// and read by net/http.
package wire

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"

	"golang.org/x/net/idna"
)

// Transport is an http.RoundTripper for URLs of scheme http. It has as many
// connections as requests at once, keeps those whose reply was read to its end,
// and sends a request once: what fails is for the caller to repeat. A request's
// context bounds all of it, the reply's body too. Its methods may be called from
// any goroutine.
type Transport struct {
	// Dial connects to host and port.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu sync.Mutex
	// idle are the connections that wait for a request, by host.
	idle map[string][]*line
}

// RoundTrip implements http.RoundTripper. Its errors are those of Dial, of the
// connection, or the context's.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	l, err := t.line(r)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // nothing of it was read
		}
		return nil, err
	}
	ctx := r.Context()
	unbind := context.AfterFunc(ctx, l.interrupt)
	res, err := l.ask(r)
	if err != nil {
		unbind()
		_ = l.conn.Close() // the request has failed already
		return nil, because(ctx, err)
	}
	res.Body = &body{ReadCloser: res.Body, ctx: ctx, end: func(whole bool) {
		if undisturbed := unbind(); undisturbed && whole && !res.Close {
			t.keep(r.URL.Host, l)
		} else {
			_ = l.conn.Close() // what is left of the reply is of no use
		}
	}}
	return res, nil
}

// CloseIdleConnections closes what waits for a request; http.Client calls it.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, lines := range t.idle {
		for _, l := range lines {
			_ = l.conn.Close() // nothing is on its way
		}
	}
	t.idle = nil
}

// line is a kept connection on which nothing has come in since its last reply,
// or a new one.
func (t *Transport) line(r *http.Request) (*line, error) {
	for l := t.kept(r.URL.Host); l != nil; l = t.kept(r.URL.Host) {
		if l.in.Buffered() == 0 && silent(l.conn) {
			return l, nil
		}
		_ = l.conn.Close() // the server has closed it, or says what nobody asked for
	}
	conn, err := t.Dial(r.Context(), "tcp", address(r.URL))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return newLine(conn), nil
}

// kept takes the connection that was used last: the others may grow old.
func (t *Transport) kept(host string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.idle[host]
	if len(lines) == 0 {
		return nil
	}
	last := lines[len(lines)-1]
	t.idle[host] = lines[:len(lines)-1]
	return last
}

func (t *Transport) keep(host string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle == nil {
		t.idle = map[string][]*line{}
	}
	t.idle[host] = append(t.idle[host], l)
}

// address is where net/http connects to: at the port of the scheme where there is
// none, and by the ASCII form of a name, which is the one that name servers know.
func address(u *url.URL) string {
	name, port := u.Hostname(), u.Port()
	if ascii, err := idna.Lookup.ToASCII(name); err == nil { // else it is an address, or a name of one's own network
		name = ascii
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(name, port)
}

// writers are as large as most requests, and in use only while one is written.
var writers = sync.Pool{New: func() any {
	const size = 16 << 10
	return bufio.NewWriterSize(nil, size)
}}
