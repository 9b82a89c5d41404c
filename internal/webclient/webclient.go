// Package webclient makes HTTP clients for servers that a user names and nobody
// vouches for.
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

// New is a client that gives up on a request after timeout, reads at most most
// bytes of a reply (reading on is an error), and follows no redirect: texts and
// keys stay with the server that they are meant for.
func New(timeout time.Duration, most int64) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		Transport:     bounded{http.DefaultTransport, most},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type bounded struct {
	next http.RoundTripper
	most int64
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, b.most)
	}
	return res, err
}

// Local reports whether a host, its port aside, is this machine by name or by an address
// that other machines cannot ask.
func Local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}

// Page is what a server answers with status 200 at url, within timeout and in at
// most so many bytes. key is its bearer token, empty for none.
func Page(ctx context.Context, url, key string, timeout time.Duration, most int64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := New(0, most).Do(req)
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

// Sleep waits so long before a next try. Where ctx is done earlier, its error is why.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// RetryAfter is how long a reply asks to wait, by its header of that name: seconds,
// or a date, which is held against the server's own clock where it gives one. asked
// is false where the reply asks for nothing.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, asked bool) {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second)), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now)), true
}
