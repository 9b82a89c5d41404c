package client

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// Kind is what went wrong with a request, by what to do about it.
type Kind string

// The kinds of faults.
const (
	// Auth: the server does not accept the key; nothing else will help.
	Auth Kind = "auth"
	// Limited: too many requests; later or elsewhere.
	Limited Kind = "limited"
	// Server: the server failed; later or elsewhere.
	Server Kind = "server"
	// Network: no reply came, the connection broke or took too long.
	Network Kind = "network"
	// Rejected: the server will not answer this request, now or later.
	Rejected Kind = "rejected"
	// Missing: the server does not know the model.
	Missing Kind = "missing"
	// Schema: the server refused structured output; ask again, it is left out
	// from now on.
	Schema Kind = "schema"
	// Unwanted: the question was taken back before its turn came.
	Unwanted Kind = "unwanted"
	// Unreadable: the server said all is well and sent no completion.
	Unreadable Kind = "unreadable"
)

// Fault is a request without a completion.
type Fault struct {
	Kind Kind
	// Status is the HTTP status, 0 where no reply came.
	Status int
	// RetryAfter is how long the server asked to wait, 0 if it did not.
	RetryAfter time.Duration
	Detail     string
	// silent reports whether the request's whole time passed without a reply.
	silent bool
}

func (f *Fault) Error() string {
	if f.Status == 0 {
		return fmt.Sprintf("%s: %s", f.Kind, f.Detail)
	}
	return fmt.Sprintf("%s (status %d): %s", f.Kind, f.Status, f.Detail)
}

// kindOf sorts HTTP statuses. 408, 425 and every 5xx may pass; any other 4xx,
// and a redirect that would lead elsewhere with the key, will not.
func kindOf(status int) Kind {
	switch {
	case status == 0:
		return Network
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Auth
	case status == http.StatusTooManyRequests:
		return Limited
	case status == http.StatusNotFound:
		return Missing
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return Server
	case status >= 300:
		return Rejected
	default:
		return Unreadable
	}
}

// statusWithin is the status that an error in a reply of status 200 tells, as
// routers write it that had answered before their own server failed; 200 where
// it tells none.
func statusWithin(body []byte) int {
	code := gjson.GetBytes(body, "error.code").Int()
	if code < 400 || code > 599 {
		return http.StatusOK
	}
	return int(code)
}

// retryAfter reads the header in both its forms. A date is held against the
// server's own clock where it gives one.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now))
}
