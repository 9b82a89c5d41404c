// Package webclient makes HTTP clients for servers that a user names and nobody
// vouches for.
package webclient

import (
	"net/http"
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
