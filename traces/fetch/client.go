// Package fetch brings days of attempts from the subnet's public API to disk, as
// a build reads them. Paths and fields are those of oro-sdk 7; what the server
// says is untrusted.
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
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Client asks a server at a steady pace. It is not safe for use by several
// goroutines.
type Client struct {
	// Base is the server's address without a path, such as https://api.example.
	Base string
	// HTTP sends; it must bound bodies and follow no redirect (webclient.New).
	HTTP *http.Client
	// PerMinute is how many requests any minute may see, at least 1.
	PerMinute int
	// Requests counts what was sent.
	Requests int
	last     time.Time
}

// Refusal is an answer of the server other than success.
type Refusal struct {
	Status int
	// Code is the server's own word, such as RACE_IN_FLIGHT; empty where it gave none.
	Code string `json:"error_code"`
	// wait is what Retry-After asks for, if it asks.
	wait  time.Duration
	asked bool
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the server answers %d %.60q", r.Status, r.Code)
}

// What a failure that passes is met with: most tries, the first pause, which
// doubles, and the longest that a server may ask for.
const (
	tries       = 6
	firstPause  = time.Second
	longestWait = 5 * time.Minute
)

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.call(ctx, http.MethodGet, c.Base+"/v1/public/"+path, nil, into)
}

// call sends a request and decodes its answer; a *json.RawMessage takes it as it is.
func (c *Client) call(ctx context.Context, method, address string, body []byte, into any) error {
	text, err := c.bytes(ctx, method, address, body)
	if err != nil {
		return err
	}
	return wrong.Wrap("read the answer of "+method, json.Unmarshal(text, into))
}

func (c *Client) bytes(ctx context.Context, method, address string, body []byte) (text []byte, err error) {
	pause := firstPause
	for try := 1; ; try++ {
		if text, err = c.once(ctx, method, address, body); err == nil {
			return text, nil
		}
		var refused *Refusal
		wait := pause
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &refused) && refused.Status != http.StatusTooManyRequests && refused.Status < 500, errors.As(err, new(*http.MaxBytesError)), try == tries:
			return nil, err
		case refused != nil && refused.wait > longestWait:
			return nil, fmt.Errorf("%w and asks for a pause of %s", err, refused.wait)
		case refused != nil && refused.asked:
			wait = refused.wait
		}
		if webclient.Sleep(ctx, wait) != nil {
			return nil, ctx.Err()
		}
		pause *= 2
	}
}

func (c *Client) once(ctx context.Context, method, address string, body []byte) ([]byte, error) {
	if err := c.turn(ctx); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("build request: the address is none")
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.Requests++
	res, err := c.HTTP.Do(req)
	if err != nil {
		if u, is := errors.AsType[*url.Error](err); is {
			err = u.Err // without the address: one that is signed is a secret while it lasts
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
	r := &Refusal{}
	_ = json.Unmarshal(text, r) // a refusal may come without a word
	r.Status = res.StatusCode
	r.wait, r.asked = webclient.RetryAfter(res.Header, time.Now()) //nolint:forbidigo // a pause is of real time and reaches no data
	return nil, r
}

// turn waits until the pace allows a request: they are evenly apart, the first
// counted from when the client began, so that runs that are stopped and started
// again keep the pace together.
func (c *Client) turn(ctx context.Context) error {
	now := time.Now() //nolint:forbidigo // a pace is of real time and reaches no data
	if c.last.IsZero() {
		c.last = now
	}
	gap := time.Minute/time.Duration(max(1, c.PerMinute)) + time.Millisecond
	if webclient.Sleep(ctx, c.last.Add(gap).Sub(now)) != nil {
		return ctx.Err()
	}
	c.last = time.Now() //nolint:forbidigo // as above
	return nil
}
