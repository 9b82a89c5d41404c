package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/trajectory-arena/arena/student/chat"
)

// Infra is a request that got no usable answer: the instrument failed, not
// the model. Reason is a stable word.
type Infra struct {
	Reason string
	Detail string
}

func (e *Infra) Error() string { return e.Reason + ": " + e.Detail }

// ErrOverflow says that the prompt is longer than the model's context.
var ErrOverflow = errors.New("the prompt is longer than the model's context")

// attempt is one try of a request.
type attempt struct {
	status int
	body   []byte
	reply  chat.Reply
	err    error
	// gone reports whether whoever asked was cancelled, which says nothing of the server.
	gone bool
	// wait is what the server asks to wait by Retry-After.
	wait time.Duration
}

// verdict is what to do after a try.
type verdict uint8

const (
	answered verdict = iota
	overflow
	retry
	refused
)

// judge says what a try means. Refused requests are asked once: the same bytes
// would be refused again.
func (a *attempt) judge() verdict {
	if a.status >= 400 && a.status < 500 && chat.Overflows(a.body) && a.status != http.StatusTooManyRequests {
		return overflow
	}
	switch a.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return refused
	case http.StatusOK:
		if a.err == nil {
			return answered
		}
	}
	return retry
}

// overloaded reports whether the server asks for less.
func (a *attempt) overloaded() bool {
	return a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable
}

// unreachable reports whether no connection could be made.
func (a *attempt) unreachable() bool {
	var op *net.OpError
	return errors.As(a.err, &op) && op.Op == "dial"
}

// infra names the failure of a try.
func (a *attempt) infra() *Infra {
	var timeout net.Error
	switch {
	case a.status != 0 && a.status != http.StatusOK:
		return &Infra{Reason: "http_" + strconv.Itoa(a.status), Detail: clip(a.body)}
	case errors.Is(a.err, context.DeadlineExceeded) || errors.As(a.err, &timeout) && timeout.Timeout():
		return &Infra{Reason: "timeout", Detail: a.err.Error()}
	case a.unreachable():
		return &Infra{Reason: "unreachable", Detail: a.err.Error()}
	case a.status == http.StatusOK:
		return &Infra{Reason: "unreadable", Detail: fmt.Sprint(a.err)}
	default:
		return &Infra{Reason: "connection", Detail: fmt.Sprint(a.err)}
	}
}

// clip keeps the beginning of a server's words for people to read.
func clip(b []byte) string {
	const enough = 200
	if len(b) > enough {
		b = b[:enough]
	}
	return string(b)
}

// retryAfter reads the header, in seconds or as a date. now is the clock.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	const most = time.Minute // longer waits are for another run
	v := h.Get("Retry-After")
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 {
		return time.Duration(min(n, most.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, min(at.Sub(now()), most))
	}
	return 0
}
