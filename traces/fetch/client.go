// Package fetch downloads days of attempts from the subnet's public API into folders that a
// build reads. Paths and fields are those of oro-sdk 7. Responses are untrusted.
package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/trajectory-arena/arena/internal/webclient"
)

// Client sends requests to a server at a constant rate. It must not be used by several
// goroutines at once.
type Client struct {
	// Base is the server's address without a path, such as https://api.example.
	Base string
	// HTTP must limit the size of bodies and follow no redirect (webclient.New).
	HTTP *http.Client
	// PerMinute is the maximum number of requests in a minute, at least 1.
	PerMinute int
	// Logf is called with messages about the progress, and before each pause after a failure.
	Logf func(format string, a ...any)
	// Requests is the number of requests sent.
	Requests int
	// last is the time of the last request.
	last time.Time
}

// Refusal is the error of a response with another status than OK.
type Refusal struct {
	Status int
	// Code is the error code in the response, such as RACE_IN_FLIGHT, or empty.
	Code string `json:"error_code"`
	// retryAfter is the pause that the Retry-After header requests, if hasRetryAfter is set.
	retryAfter    time.Duration
	hasRetryAfter bool
}

// Error returns the status and the code.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the server answers %d %.60q", r.Status, r.Code)
}

// A request that failed temporarily is sent maxTries times at most. The first pause between two
// tries is firstPause, and each further one is twice as long. A Retry-After header replaces the
// pause, up to maxRetryAfter; a longer one is an error.
const (
	maxTries      = 6
	firstPause    = time.Second
	maxRetryAfter = 5 * time.Minute
)

// get sends a GET request for a path of the public API and decodes the JSON response into dst.
// Errors are those of call.
func (c *Client) get(ctx context.Context, path string, dst any) error {
	return c.call(ctx, http.MethodGet, c.Base+"/v1/public/"+path, nil, dst)
}

// call sends a request, again after temporary failures, and decodes the JSON response into dst. A
// *json.RawMessage receives the response unchanged. The error is a *Refusal if the last status is
// not 200, and errDamaged if the response cannot be decoded.
func (c *Client) call(
	ctx context.Context,
	method, address string,
	body []byte,
	dst any,
) error {
	text, err := c.sendWithRetry(ctx, method, address, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, dst); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// sendWithRetry sends a request until it succeeds, and returns the body of the response. It
// stops after maxTries tries, or at an error that is not temporary.
func (c *Client) sendWithRetry(
	ctx context.Context,
	method, address string,
	body []byte,
) ([]byte, error) {
	pause := firstPause
	for try := 1; ; try++ {
		text, err := c.send(ctx, method, address, body)
		if err == nil {
			return text, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if try == maxTries || !isTemporary(err) {
			return nil, err
		}

		wait := pause
		if refusal, ok := errors.AsType[*Refusal](err); ok && refusal.hasRetryAfter {
			wait = refusal.retryAfter
			if wait > maxRetryAfter {
				return nil, fmt.Errorf("%w and asks for a pause of %s", err, wait)
			}
		}
		c.Logf("%v: asked again in %s, try %d of %d", err, wait, try+1, maxTries)
		if webclient.Sleep(ctx, wait) != nil {
			return nil, ctx.Err()
		}
		pause *= 2
	}
}

// isTemporary reports whether a request that failed with err may succeed later: the status is 429
// or at least 500, or no complete response was received. It is false for a response that is too
// large or damaged, since the next would be the same.
func isTemporary(err error) bool {
	if _, isLong := errors.AsType[*http.MaxBytesError](err); isLong || errors.Is(err, errDamaged) {
		return false
	}
	refusal, ok := errors.AsType[*Refusal](err)
	return !ok || refusal.Status == http.StatusTooManyRequests || refusal.Status >= 500
}

// send waits until the rate allows a request, sends the request once, and returns the body of
// the response. The error is a *Refusal if the status is not 200.
func (c *Client) send(
	ctx context.Context,
	method, address string,
	body []byte,
) ([]byte, error) {
	if err := c.waitTurn(ctx); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: its address is none", errDamaged)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.Requests++
	res, err := c.HTTP.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address, which is secret if it is signed
		}
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode == http.StatusOK {
		return text, nil
	}
	if err != nil && res.StatusCode == http.StatusOK {
		return nil, fmt.Errorf("read an answer: %w", err)
	}
	return nil, newRefusal(res, text)
}

func newRefusal(res *http.Response, body []byte) *Refusal {
	r := &Refusal{}
	_ = json.Unmarshal(body, r) // the code is optional
	r.Status = res.StatusCode
	now := time.Now() //nolint:forbidigo // a pause is of real time and reaches no data
	r.retryAfter, r.hasRetryAfter = webclient.RetryAfter(res.Header, now)
	return r
}

// waitTurn waits until the configured rate allows the next request. Successive requests are at
// least a minute divided by PerMinute apart. The first request waits for one interval too, so that
// a process that is restarted again and again does not exceed the rate.
func (c *Client) waitTurn(ctx context.Context) error {
	now := time.Now() //nolint:forbidigo // a rate is of real time and reaches no data
	if c.last.IsZero() {
		c.last = now
	}
	distance := time.Minute/time.Duration(max(1, c.PerMinute)) + time.Millisecond
	if webclient.Sleep(ctx, c.last.Add(distance).Sub(now)) != nil {
		return ctx.Err()
	}
	c.last = time.Now() //nolint:forbidigo // as above
	return nil
}
