// Package webclient makes HTTP clients for untrusted servers that a user names.
package webclient

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// New returns a client with a timeout for requests and a maximum size for replies. It follows no
// redirects, so that texts and keys are sent only to the named server.
func New(timeout time.Duration, maxBytes int64) *http.Client {
	return &http.Client{
		Timeout:   timeout,
		Transport: bounded{http.DefaultTransport, maxBytes},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// NewWithKey returns a client like New, without a timeout, that sends key as the bearer token of every
// request; "" for none. The key stays with the named server, since no redirect is followed.
func NewWithKey(key string, maxBytes int64) *http.Client {
	client := New(0, maxBytes)
	if key != "" {
		client.Transport = withKey{client.Transport, key}
	}
	return client
}

type withKey struct {
	next http.RoundTripper
	key  string
}

// RoundTrip sends a copy of a request with the bearer token.
func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.next.RoundTrip(r)
}

type bounded struct {
	next     http.RoundTripper
	maxBytes int64
}

// RoundTrip sends a request and returns the reply, of whose body more than maxBytes cannot be
// read.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, b.maxBytes)
	}
	return res, err
}

// Local reports whether a host, with or without a port, is "localhost" or a loopback address.
func Local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}

// patience is the time that Page waits for a reply. Those who ask for pages of a server ask again.
const patience = 5 * time.Second

// Page returns the reply with status 200 to a GET request for url, of at most maxBytes and
// within five seconds. key is the bearer token, "" for none.
func Page(
	ctx context.Context,
	url, key string,
	maxBytes int64,
) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := New(0, maxBytes).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("get page: status %d", res.StatusCode)
	}
	return string(b), err
}

// Sleep waits for d. If ctx ends earlier, it returns the context's cause.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// RetryAfter returns how long a reply asks the client to wait in its Retry-After header. The
// header has seconds, or a date, which is compared with the server's clock if the reply has its
// time. asked is false without a valid header.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, asked bool) {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second)), true
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, until.Sub(now)), true
}
