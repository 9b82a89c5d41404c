package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/webclient"
)

// Kind is the kind of a fault, which determines how it is handled.
type Kind string

// The kinds of faults.
const (
	// Auth means that the server refused the key. No other request can succeed.
	Auth Kind = "auth"
	// Limited means that there were too many requests. Retry later or at another server.
	Limited Kind = "limited"
	// Server means that the server failed. Retry later or at another server.
	Server Kind = "server"
	// Network means that there was no reply, or that the connection broke or timed out.
	Network Kind = "network"
	// Rejected means that the server refuses this request. Retrying does not help.
	Rejected Kind = "rejected"
	// Missing means that the server does not have the model.
	Missing Kind = "missing"
	// Schema means that the server refused structured output or a parameter. Ask again, since
	// later requests are sent without it.
	Schema Kind = "schema"
	// Withdrawn means that the caller withdrew the question before it was sent.
	Withdrawn Kind = "unwanted"
	// Unreadable means that the server reported success without a readable answer.
	Unreadable Kind = "unreadable"
)

// Fault is the error of a request without an answer. It is a failure of the infrastructure, not
// of the model.
type Fault struct {
	Kind Kind
	// Reason is a code: http_STATUS, timeout, unreachable, connection, unreadable, or the code
	// of the gate or the caller.
	Reason string
	// Status is the HTTP status, 0 if there was no reply.
	Status int
	// RetryAfter is the pause that the server requested, 0 if there is none.
	RetryAfter time.Duration
	// Detail is the server's message, shortened, without secrets and control characters.
	Detail string
	// Overflow reports whether the prompt is longer than the model's context. Length reports
	// whether the server mentions tokens, length or context, which after the first turn of a
	// conversation means the same.
	Overflow, Length bool
	// RefusedOutput reports whether the server could not parse what the model wrote.
	RefusedOutput bool
	// away reports whether the server behind a router is missing or overloaded.
	away bool
	// overload reports whether the server has too many requests.
	overload bool
	// timedOut reports whether the try used all of its time.
	timedOut bool
	// unreachable reports whether no connection could be made.
	unreachable bool
}

func (f *Fault) Error() string {
	if f.Status == 0 {
		return fmt.Sprintf("%s: %s", f.Kind, f.Detail)
	}
	return fmt.Sprintf("%s (status %d): %s", f.Kind, f.Status, f.Detail)
}

// Unreachable reports whether no connection to the server could be made.
func (f *Fault) Unreachable() bool { return f.unreachable || f.Reason == reasonServerDown }

// Waits reports whether the server may be ready soon: it cannot be reached, a router has no
// server behind it, or it limits the rate of requests.
func (f *Fault) Waits() bool { return f.away || f.Unreachable() }

// refusesParameter reports whether the server refuses a parameter that reasoning models refuse,
// such as temperature.
func (f *Fault) refusesParameter() bool {
	namesParameter := strings.Contains(f.Detail, usualLimit) || strings.Contains(f.Detail, temperatureParameter)
	return f.Kind == Rejected && namesParameter && strings.Contains(f.Detail, "support")
}

// isTemporary reports whether another try of the request may succeed.
func (f *Fault) isTemporary() bool {
	if f.Overflow || f.RefusedOutput {
		return false
	}
	return f.Kind == Limited || f.Kind == Server || f.Kind == Network || f.Kind == Unreadable
}

// gateFault returns the fault that the gate (the scheduler of requests) counts against the
// server. It returns nil if the request was answered, and a time-out if the deadline of ctx
// passed. If ctx was canceled, it returns a fault of kind Withdrawn, which shows nothing about
// the server.
func gateFault(ctx context.Context, f *Fault) *Fault {
	switch {
	case f == nil || ctx.Err() == nil:
		return f
	case errors.Is(ctx.Err(), context.Canceled):
		return &Fault{Kind: Withdrawn}
	}
	late := *f
	late.timedOut = true
	return &late
}

// kindOf returns the kind of fault for an HTTP status. The statuses 408, 425, 429 and all 5xx
// are temporary. Any other 4xx is permanent, and so is a redirect, which would send the key to
// another server. Status 0 means that there was no reply, and one below 300 that the reply has
// no readable answer.
func kindOf(status int) Kind {
	switch {
	case status == 0:
		return Network
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

// statusOverloaded is the HTTP status that some servers send instead of 503.
const statusOverloaded = 529

// replyFault returns the fault for a reply that is not an answer. err is the error of reading
// the body, nil if the status alone is the reason.
func (p *Pool) replyFault(
	res *http.Response,
	body []byte,
	err error,
) *Fault {
	status := res.StatusCode
	// Routers answer 200 before their server fails, and then report its status in the body.
	inBody := int(gjson.GetBytes(body, "error.code").Int())
	if inBody == 0 {
		inBody = int(gjson.GetBytes(body, "choices.0.error.code").Int())
	}
	if status == http.StatusOK && inBody >= 400 && inBody <= 599 {
		status = inBody
	}
	f := &Fault{
		Kind:   kindOf(status),
		Reason: "http_" + strconv.Itoa(res.StatusCode),
		Status: res.StatusCode,
		Detail: serverMessage(res, body),
	}
	if res.StatusCode == http.StatusOK {
		f.Reason = "unreadable"
		if f.Kind == Unreadable && err != nil && gjson.GetBytes(body, "error").Type == gjson.Null {
			f.Detail = err.Error()
		}
	}
	f.Detail = p.secrets.printable(f.Detail)
	f.overload = status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == statusOverloaded
	f.RefusedOutput = isRefusedOutput(status, body)
	f.away = isAway(status, body) && !f.RefusedOutput
	f.Overflow = !f.RefusedOutput && (mentionsOverflow(status, body) || p.config.saysOverflow(status, body))
	f.Length = f.Overflow || !f.RefusedOutput && mentionsLength(status, body)
	if isRefusedAccount(status, body) {
		f.Kind = Auth
		f.away = false
	}
	if f.Kind == Limited || f.Kind == Server {
		f.RetryAfter, _ = webclient.RetryAfter(res.Header, p.config.Now())
		if longest := p.config.LongestPause; longest > 0 {
			f.RetryAfter = min(f.RetryAfter, longest)
		}
	}
	return f
}

// transportFault returns the fault for a request that failed with err before its reply was
// complete. status is the status of the incomplete reply, 0 if there was none.
func (p *Pool) transportFault(
	ctx context.Context,
	err error,
	status int,
) *Fault {
	f := &Fault{
		Kind:   Network,
		Reason: "connection",
		Status: status,
		Detail: p.secrets.printable(err.Error()),
	}
	var netErr net.Error
	var op *net.OpError
	f.unreachable = errors.As(err, &op) && op.Op == "dial"
	tryTimedOut := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	switch {
	case tryTimedOut, errors.As(err, &netErr) && netErr.Timeout():
		f.Reason = "timeout"
		f.Detail = "no reply within the time-out"
		f.timedOut = true
	case f.unreachable:
		f.Reason = "unreachable"
	case status == http.StatusOK:
		f.Reason = "unreadable"
	}
	// A connection that broke before any reply means that the server restarts, so it is waited
	// for. A server that does not reply in time is not waited for, since the next try would take
	// as long.
	f.away = f.Reason == "connection" && status == 0
	return f
}

// serverMessage returns the server's explanation of a failure: the message of an OpenAI error
// or, if there is none, the complete body or, if that is empty, the HTTP status.
func serverMessage(res *http.Response, body []byte) string {
	var message openai.ErrorResponse
	switch {
	case json.Unmarshal(body, &message) == nil && message.Error != nil:
		return message.Error.Message
	case len(body) > 0:
		return string(body)
	}
	return "error, status code: " + res.Status
}
