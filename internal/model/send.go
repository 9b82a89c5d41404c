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

// Body is the body of a request in pieces. Concurrent requests share pieces, so that no text is
// in memory twice.
type Body [][]byte

func (b Body) reader() io.ReadCloser {
	pieces := net.Buffers(slices.Clone(b)) // reading consumes the list
	return io.NopCloser(&pieces)
}

// route is how one server is reached: its address, a transport, and the headers of every
// request. It does not use http.Client, which would follow redirects: prompts and the key must
// be sent only to the configured server.
type route struct {
	address   address
	transport http.RoundTripper
	header    http.Header
}

func (c Config) route(base string) route {
	a, _ := newAddress(base) // checked by Validate
	// Without Accept-Encoding, the server could choose any encoding.
	h := http.Header{
		"Content-Type":    {"application/json"},
		"Accept":          {"application/json"},
		"Accept-Encoding": {"identity"},
	}
	switch {
	case c.Key != "":
		h.Set("Authorization", "Bearer "+c.Key)
	case a.user != nil:
		password, _ := a.user.Password()
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
	// A host that is switched off does not answer, and the operating system would wait for two
	// minutes.
	const connectTimeout = 30 * time.Second
	// The headers and most replies fit into readBuffer, and most requests into writeBuffer, so that
	// they are sent at once. Each connection has both.
	const readBuffer, writeBuffer = 2 << 10, 16 << 10
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		MaxIdleConnsPerHost:    c.Concurrency,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

func (r route) newRequest(
	ctx context.Context,
	path string,
	body Body,
) *http.Request {
	req := http.Request{
		Method: http.MethodPost,
		URL:    r.address.page(path),
		Header: r.header,
		Body:   body.reader(),
		GetBody: func() (io.ReadCloser, error) {
			return body.reader(), nil
		},
	}
	for _, piece := range body {
		req.ContentLength += int64(len(piece))
	}
	return req.WithContext(ctx)
}

// send sends a request once to the server of route. If there is a fault, the answer has what was
// received of the reply.
func (p *Pool) send(
	ctx context.Context,
	route route,
	r Request,
) (a Answer, fault *Fault) {
	tryCtx, cancel := context.WithTimeout(ctx, cmp.Or(r.Timeout, p.config.Timeout))
	defer cancel()
	start := p.config.Now()
	defer func() {
		a.Latency = p.config.Now().Sub(start)
	}()
	a.sent = true
	res, err := route.transport.RoundTrip(route.newRequest(tryCtx, r.Path, r.Body))
	if err != nil {
		return a, p.transportFault(ctx, err, 0)
	}
	defer res.Body.Close() //nolint:errcheck // read to the end, or abandoned
	return p.readAnswer(ctx, tryCtx, res, r)
}

// readAnswer reads the body of a reply. It returns a fault if the reply is not an answer. ctx is
// the context of the request, tryCtx that of the current try.
func (p *Pool) readAnswer(
	ctx, tryCtx context.Context,
	res *http.Response,
	r Request,
) (Answer, *Fault) {
	a := Answer{Status: res.StatusCode, sent: true}
	body, free, err := p.readBody(tryCtx, res, r.MaxBytes)
	if h, ok := ctx.Value(holdKey{}).(*Hold); ok {
		h.Release()
		h.free = free
	} else {
		defer free()
	}
	a.Body = p.secrets.hide(body)
	if errors.Is(err, errTooLong) {
		a.Body = nil
		return a, p.replyFault(res, nil, fmt.Errorf("the reply is longer than %d bytes", r.MaxBytes))
	}
	if err != nil && res.StatusCode < 300 {
		return a, p.transportFault(ctx, err, res.StatusCode)
	}
	a.Body = JoinStream(a.Body)
	if res.StatusCode == http.StatusOK {
		if err = r.Read(a.Body); err == nil {
			return a, nil
		}
	}
	return a, p.replyFault(res, a.Body, err)
}

const (
	// smallReply is a size in bytes that almost no reply exceeds. A longer reply is read only
	// when a part of a shared budget of largeReplies bytes is free, so that memory does not grow
	// with the requests in flight.
	smallReply   = 256 << 10
	largeReplies = 2 * MaxChat
)

// Hold extends the memory reservation for a large reply beyond the call that received it. The
// reply is copied about twenty times until it is in the journal, the trace and the results.
type Hold struct{ free func() }

type holdKey struct{}

// Context returns a context for receiving a large reply. The memory for the reply stays reserved
// until Release is called or another reply is received.
func (h *Hold) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, holdKey{}, h)
}

// Release frees the reserved memory.
func (h *Hold) Release() {
	if h.free != nil {
		h.free()
		h.free = nil
	}
}

var errTooLong = errors.New("the reply is too long")

// readBody reads the body of a reply of at most maxBytes bytes; the error for a longer one is
// errTooLong. For a large reply, it first reserves memory in p.large, which free releases. With
// any other error, it returns the bytes that were read.
func (p *Pool) readBody(
	ctx context.Context,
	res *http.Response,
	maxBytes int64,
) (_ []byte, free func(), err error) {
	free = func() {}
	smallBytes := min(maxBytes, smallReply) + 1
	sizeHint := max(0, min(res.ContentLength, smallBytes))
	b := bytes.NewBuffer(make([]byte, 0, sizeHint+bytes.MinRead))
	_, err = b.ReadFrom(io.LimitReader(res.Body, smallBytes))
	if err != nil || int64(b.Len()) < smallBytes {
		return b.Bytes(), free, err
	}
	if int64(b.Len()) > maxBytes || res.ContentLength > maxBytes {
		return nil, free, errTooLong
	}

	reserved := min(maxBytes, largeReplies)
	if err = p.large.Acquire(ctx, reserved); err != nil {
		return b.Bytes(), free, err
	}
	free = func() { p.large.Release(reserved) }
	_, err = b.ReadFrom(io.LimitReader(res.Body, maxBytes+1-int64(b.Len())))
	if int64(b.Len()) > maxBytes {
		return nil, free, errTooLong
	}
	return b.Bytes(), free, err
}
