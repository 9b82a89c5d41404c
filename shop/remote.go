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

// The timeout, the number of tries and the pauses are those of the search client in the subnet's
// agent template.
const (
	remoteTimeout  = 120 * time.Second
	remoteTries    = 2
	remoteWait     = 2 * time.Second
	remoteBusyWait = 5 * time.Second
	// maxResponseBytes is the maximum size in bytes of a response of the search server. A page of
	// the ten largest products is far smaller.
	maxResponseBytes = 16 << 20
)

// Remote is a search server that is reached over HTTP.
type Remote struct {
	base   string
	token  string
	client *http.Client
	wait   time.Duration
	busy   time.Duration
}

// NewRemote returns a client of the search server at the URL base, without "/find_product".
// token is the bearer token of its requests, "" for none.
func NewRemote(base, token string) *Remote {
	return &Remote{
		token:  token,
		base:   strings.TrimRight(base, "/"),
		client: webclient.New(remoteTimeout, maxResponseBytes),
		wait:   remoteWait,
		busy:   remoteBusyWait,
	}
}

// Get sends a request. If the request fails, Get sends it again after a pause.
func (r *Remote) Get(
	ctx context.Context,
	path string,
	params python.Value,
) (python.Value, int, bool) {
	url, err := r.url(path, params)
	if err != nil { // the parameters are to blame, not the server
		return python.Value{}, http.StatusBadRequest, false
	}
	status := 0
	v, err := backoff.Retry(ctx, func() (python.Value, error) {
		response, code, sendErr := r.send(ctx, url)
		status = code
		if code == http.StatusTooManyRequests {
			return response, backoff.RetryAfter(int(r.busy / time.Second))
		}
		return response, sendErr
	}, backoff.WithBackOff(backoff.NewConstantBackOff(r.wait)), backoff.WithMaxTries(remoteTries))
	return v, status, err == nil
}

// send sends a request to the search server once and returns the decoded response and its HTTP
// status. After an error, the status is that of the server's refusal, or 0 if there was no readable
// response.
func (r *Remote) send(ctx context.Context, url string) (v python.Value, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return v, 0, fmt.Errorf("ask search server: %w", err)
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
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
	if err != nil { // truncated, or not from the search server
		return v, 0, fmt.Errorf("read search server's answer: %w", err)
	}
	return v, res.StatusCode, nil
}

func (r *Remote) url(path string, params python.Value) (string, error) {
	var parts []string
	for _, it := range params.Dict {
		v, ok := sentParam(params, it.Key)
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
