package shop

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/webclient"
)

// The client of the subnet's agent template: how long a request may take, how
// often it is tried, and how long the waits are.
const (
	remoteTimeout  = 120 * time.Second
	remoteTries    = 2
	remoteWait     = 2 * time.Second
	remoteBusyWait = 5 * time.Second
	// maxAnswer bounds what is read of one answer: ten full documents of the
	// largest kind are far below it.
	maxAnswer = 16 << 20
)

// Remote asks a real search server.
type Remote struct {
	base   string
	client *http.Client
	wait   time.Duration
	busy   time.Duration
}

// NewRemote asks the server at base, the URL before "/find_product".
func NewRemote(base string) *Remote {
	return &Remote{
		base: strings.TrimRight(base, "/"), client: webclient.New(remoteTimeout, maxAnswer),
		wait: remoteWait, busy: remoteBusyWait,
	}
}

// Get asks, and asks once more after a while if that went wrong.
func (r *Remote) Get(ctx context.Context, path string, params python.Value) (python.Value, int, bool) {
	url, err := r.url(path, params)
	if err != nil { // it cannot be sent, and so is no fault of the server's
		return python.Value{}, http.StatusBadRequest, false
	}
	status := 0
	v, err := backoff.Retry(ctx, func() (python.Value, error) {
		answer, got, once := r.once(ctx, url)
		status = got
		if got == http.StatusTooManyRequests {
			return answer, backoff.RetryAfter(int(r.busy / time.Second))
		}
		return answer, once
	}, backoff.WithBackOff(backoff.NewConstantBackOff(r.wait)), backoff.WithMaxTries(remoteTries))
	return v, status, err == nil
}

func (r *Remote) once(ctx context.Context, url string) (v python.Value, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return v, 0, fmt.Errorf("ask search server: %w", err)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return v, 0, fmt.Errorf("ask search server: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		return v, res.StatusCode, fmt.Errorf("search server answered %d", res.StatusCode)
	}
	if err == nil {
		v, err = python.Loads(string(body))
	}
	if err != nil { // it was cut off, or something before the server said this
		return v, 0, fmt.Errorf("read search server's answer: %w", err)
	}
	return v, res.StatusCode, nil
}

func (r *Remote) url(path string, params python.Value) (string, error) {
	var parts []string
	for _, it := range params.Dict {
		v, ok := sent(params, it.Key)
		if !ok {
			continue
		}
		quoted, err := python.QuotePlus(v)
		if err != nil {
			return "", err
		}
		parts = append(parts, it.Key+"="+quoted)
	}
	return r.base + path + "?" + strings.Join(parts, "&"), nil
}
