package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// Body is the body of a request in pieces. Requests that wait for their replies
// can share them, and hold nothing twice.
type Body [][]byte

// route is the way to one server: a transport, and what all requests have in
// common. An http.Client between them would follow redirects, and prompts and the
// key are for the server that they are meant for.
type route struct {
	address   address
	transport http.RoundTripper
	header    http.Header
}

func (c Config) route(base string) route {
	a, _ := newAddress(base) // Validate found it good
	// Without Accept-Encoding any encoding would be welcome.
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Accept-Encoding": {"identity"}}
	switch password, _ := a.user.Password(); {
	case c.Key != "":
		h.Set("Authorization", "Bearer "+c.Key)
	case a.user != nil:
		r := http.Request{Header: h}
		r.SetBasicAuth(a.user.Username(), password)
	}
	for name, value := range c.Headers {
		h.Set(name, value)
	}
	return route{a, c.transport(), h}
}

func (c Config) transport() http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	// A host that is switched off answers nothing, and the system would wait for
	// two minutes.
	const connecting = 30 * time.Second
	// Heads fit, and so do most bodies: one of each is held by each connection.
	const buffer = 2 << 10
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{Timeout: connecting}).DialContext(ctx, network, address)
		return &conn{Conn: c}, err
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, TLSHandshakeTimeout: connecting,
		MaxIdleConnsPerHost: c.Concurrency, DisableCompression: true, ForceAttemptHTTP2: true,
		ReadBufferSize: buffer, WriteBufferSize: buffer, MaxResponseHeaderBytes: 1 << 20,
	}
}

// conn sends a request in one call of the system: its head, which it is given first, and
// the pieces of its body as they are. Copied, each body would take new memory.
type conn struct {
	net.Conn
	// head waits for its body; empty where none does.
	head []byte
}

// Write keeps the head of a request, which a body always follows. What TLS and proxies
// say begins in other ways.
func (c *conn) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(b, []byte(http.MethodPost+" ")) || !bytes.HasSuffix(b, []byte("\r\n\r\n")) {
		return c.Conn.Write(b)
	}
	c.head = append(c.head[:0], b...)
	return len(b), nil
}

// ReadFrom is called with a reader of a body that is as long as it says. It counts the
// body alone: less than nothing where not even the head was sent.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	body, head := r.(*io.LimitedReader).R.(*unread), int64(len(c.head)) //nolint:forcetypeassert // post makes no other, and net/http limits it
	body.Buffers[0], c.head = c.head, c.head[:0]
	n, err := body.WriteTo(c.Conn)
	return n - head, err
}

// unread is the body of a request that is to be sent, behind a place for its head.
type unread struct{ net.Buffers }

// Close implements io.Closer.
func (*unread) Close() error { return nil }

func (r route) post(ctx context.Context, path string, body Body) *http.Request {
	whole := func() (io.ReadCloser, error) { return &unread{slices.Concat(net.Buffers{nil}, net.Buffers(body))}, nil }
	req := http.Request{Method: http.MethodPost, URL: r.address.at(path), Header: r.header, GetBody: whole}
	for _, piece := range body {
		req.ContentLength += int64(len(piece))
	}
	req.Body, _ = whole() // it never fails
	return req.WithContext(ctx)
}

// send sends a request on the way to a server. The answer is what came, also beside a
// fault.
func (p *Pool) send(ctx context.Context, way route, r Request) (a Answer, fault *Fault) {
	own, cancel := context.WithTimeout(ctx, cmp.Or(r.Timeout, p.config.Timeout))
	defer cancel()
	start := p.config.Now()
	defer func() { a.Latency = p.config.Now().Sub(start) }()
	a.sent = true
	res, err := way.transport.RoundTrip(way.post(own, r.Path, r.Body))
	if err != nil {
		return a, p.broken(ctx, err, 0)
	}
	defer res.Body.Close() //nolint:errcheck // read to the end, or given up
	return p.taken(ctx, own, res, r)
}

func (p *Pool) taken(ctx, own context.Context, res *http.Response, r Request) (Answer, *Fault) {
	a := Answer{Status: res.StatusCode, sent: true}
	body, free, err := p.body(own, res, r.Most)
	if h, held := ctx.Value(holding{}).(*Hold); held {
		h.Release()
		h.free = free
	} else {
		defer free()
	}
	a.Body = p.secrets.hide(body)
	if errors.Is(err, errTooLong) {
		a.Body = nil
		return a, p.faultOf(res, nil, fmt.Errorf("the reply is longer than %d bytes", r.Most))
	}
	if err != nil && res.StatusCode < 300 {
		return a, p.broken(ctx, err, res.StatusCode)
	}
	a.Body = Unstreamed(a.Body)
	if res.StatusCode == http.StatusOK {
		if err = r.Read(a.Body); err == nil {
			return a, nil
		}
	}
	return a, p.faultOf(res, a.Body, err)
}

const (
	// usualReply is what nearly all replies are shorter than. What is longer waits
	// for its part of largeReplies: memory must not grow with the requests in flight,
	// whatever servers send.
	usualReply   = 256 << 10
	largeReplies = 2 * MaxChat
)

// Hold keeps the part of a large reply beyond the call that asked for it: a reply is
// written down some twenty times on its way into journal, trace and results.
type Hold struct{ free func() }

type holding struct{}

// In is a context whose large replies are held until Release, or the next of them.
func (h *Hold) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, holding{}, h)
}

// Release lets others have large replies.
func (h *Hold) Release() {
	if h.free != nil {
		h.free()
		h.free = nil
	}
}

var errTooLong = errors.New("the reply is too long")

// body reads a reply of at most most bytes; free gives back what it takes of the
// memory for large ones. What came before an error is given too.
func (p *Pool) body(ctx context.Context, res *http.Response, most int64) (_ []byte, free func(), err error) {
	first := min(most, usualReply) + 1
	b := bytes.NewBuffer(make([]byte, 0, max(0, min(res.ContentLength, first))+bytes.MinRead))
	if _, err = b.ReadFrom(io.LimitReader(res.Body, first)); err != nil || int64(b.Len()) < first {
		return b.Bytes(), func() {}, err
	}
	if int64(b.Len()) > most || res.ContentLength > most {
		return nil, func() {}, errTooLong
	}
	if err = p.large.Acquire(ctx, min(most, largeReplies)); err != nil {
		return b.Bytes(), func() {}, err
	}
	free = func() { p.large.Release(min(most, largeReplies)) }
	_, err = b.ReadFrom(io.LimitReader(res.Body, most+1-int64(b.Len())))
	if int64(b.Len()) > most {
		return nil, free, errTooLong
	}
	return b.Bytes(), free, err
}
