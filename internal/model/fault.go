package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/webclient"
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
	// Unreadable: the server said all is well and sent no answer.
	Unreadable Kind = "unreadable"
)

// Fault is a request without an answer: the instrument failed, not the model.
type Fault struct {
	Kind Kind
	// Reason is a stable word for it: http_STATUS, timeout, unreachable,
	// connection, unreadable, or what a gate or a caller says.
	Reason string
	// Status is the HTTP status, 0 where no reply came.
	Status int
	// RetryAfter is how long the server asked to wait, 0 if it did not.
	RetryAfter time.Duration
	// Detail is in the server's words, clipped, without secrets and without
	// control characters.
	Detail string
	// Overflow reports whether the prompt is longer than the model's context.
	Overflow bool
	// overload reports whether the server has too many requests, silent whether
	// all of a try's time passed, unreachable whether no connection could be made.
	overload, silent, unreachable bool
}

func (f *Fault) Error() string {
	if f.Status == 0 {
		return fmt.Sprintf("%s: %s", f.Kind, f.Detail)
	}
	return fmt.Sprintf("%s (status %d): %s", f.Kind, f.Status, f.Detail)
}

// Away reports whether no connection could be made.
func (f *Fault) Away() bool { return f.unreachable || f.Reason == away }

func (f *Fault) passes() bool {
	return f.Kind == Limited || f.Kind == Server || f.Kind == Network || f.Kind == Unreadable
}

// endOf is what the gate learns of a request; its fault is nil where it was
// answered. One that was given up says nothing of the server; one whose caller's
// time is up was not answered in all that time.
func endOf(ctx context.Context, f *Fault) *Fault {
	switch {
	case f == nil || ctx.Err() == nil:
		return f
	case errors.Is(ctx.Err(), context.Canceled):
		return &Fault{Kind: Unwanted}
	}
	late := *f
	late.silent = true
	return &late
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

// statusOverloaded is what some servers answer in place of 503.
const statusOverloaded = 529

// faultOf says why a reply with a status is no answer; err is what reading it
// said, nil where the status alone says enough.
func (p *Pool) faultOf(res *http.Response, body []byte, err error) *Fault {
	status := res.StatusCode
	// Routers that had answered before their own server failed write so.
	if within := int(gjson.GetBytes(body, "error.code").Int()); status == http.StatusOK && within >= 400 && within <= 599 {
		status = within
	}
	f := &Fault{Kind: kindOf(status), Reason: "http_" + strconv.Itoa(res.StatusCode), Status: res.StatusCode, Detail: said(res, body)}
	if res.StatusCode == http.StatusOK {
		f.Reason = "unreadable"
		if f.Kind == Unreadable && err != nil && gjson.GetBytes(body, "error").Type == gjson.Null {
			f.Detail = err.Error()
		}
	}
	f.Detail = p.secrets.words(f.Detail)
	f.overload = status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == statusOverloaded
	f.Overflow = status >= 400 && status < 500 && status != http.StatusTooManyRequests && overflows(body)
	if f.Kind == Limited || f.Kind == Server {
		f.RetryAfter, _ = webclient.RetryAfter(res.Header, p.config.Now())
		if longest := p.config.LongestPause; longest > 0 {
			f.RetryAfter = min(f.RetryAfter, longest)
		}
	}
	return f
}

func (p *Pool) broken(ctx context.Context, err error, status int) *Fault {
	f := &Fault{Kind: Network, Reason: "connection", Status: status, Detail: p.secrets.words(err.Error())}
	var late net.Error
	var op *net.OpError
	f.unreachable = errors.As(err, &op) && op.Op == "dial"
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil, errors.As(err, &late) && late.Timeout():
		f.Reason, f.Detail, f.silent = "timeout", "no reply within the time-out", true
	case f.unreachable:
		f.Reason = "unreachable"
	case status == http.StatusOK:
		f.Reason = "unreadable"
	}
	return f
}

// said is what a server gave as its reason: the message of an OpenAI error, or
// the body as it is.
func said(res *http.Response, body []byte) string {
	var told openai.ErrorResponse
	switch {
	case json.Unmarshal(body, &told) == nil && told.Error != nil:
		return told.Error.Message
	case len(body) > 0:
		return string(body)
	}
	return "error, status code: " + res.Status
}
