package cli

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/internal/webclient"
)

// Door is the address at which a command serves HTTP, with the token that requests must have.
type Door struct {
	listen   string
	tokenEnv string
}

// Add adds the flags --listen and --token-env, with their defaults, to c.
func (d *Door) Add(c *cobra.Command, listen, tokenEnv string) {
	c.Flags().StringVar(&d.listen, "listen", listen, "address to listen on; port 0 takes a free port. An address other than loopback needs a token")
	c.Flags().StringVar(&d.tokenEnv, "token-env", tokenEnv, "environment variable with the token that every request must carry")
}

// Token returns the token that requests must have, from the environment variable in --token-env.
// It returns an error if there is no token although other machines can connect.
func (d *Door) Token() (string, error) {
	token := os.Getenv(d.tokenEnv)
	if _, _, err := net.SplitHostPort(d.listen); err != nil {
		return "", Usage(err, "--listen is an address and a port, such as 127.0.0.1:8090")
	}
	if token == "" && !webclient.Local(d.listen) {
		return "", Usage(
			fmt.Errorf("%s can be asked from other machines, and there is no token", d.listen),
			"set "+d.tokenEnv+", or listen on 127.0.0.1",
		)
	}
	return token, nil
}

// Serve serves h at the address of the door until ctx ends, and then gives requests a short time
// to finish. what is the name of the service in messages. For a loopback address, requests for
// other hosts are rejected. h must check the token, for example with WithToken.
func (d *Door) Serve(
	ctx context.Context,
	s *Streams,
	what string,
	h http.Handler,
) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", d.listen)
	if err != nil {
		return Failed(fmt.Errorf("listen on %s: %w", d.listen, err), "another address: --listen 127.0.0.1:0")
	}
	if webclient.Local(l.Addr().String()) {
		h = toLocalhost(h)
	}
	const graceTime = 5 * time.Second
	server := boundedServer(h)
	s.Notef("%s on http://%s (Ctrl-C ends it)\n", what, d.address(l.Addr()))
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
		defer cancel()
		ended <- server.Shutdown(grace)
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return <-ended
}

// address returns the host of --listen as the user typed it (the listener has [::] for 0.0.0.0),
// with the port of the listener.
func (d *Door) address(listening net.Addr) string {
	host, _, err := net.SplitHostPort(d.listen)
	_, port, portErr := net.SplitHostPort(listening.String())
	if host == "" || errors.Join(err, portErr) != nil {
		return listening.String()
	}
	return net.JoinHostPort(host, port)
}

// WithToken returns a handler that answers requests without the token with status 401. The token
// is a bearer token or, from a browser, the password of HTTP's basic authentication. It returns
// h itself if token is empty.
func WithToken(h http.Handler, token string) http.Handler {
	if token == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, password, ok := r.BasicAuth(); ok {
			given = password
		}
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="arena: the token is the password"`)
			http.Error(w, "the token is missing or another one", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// toLocalhost returns a handler that rejects requests whose host is not the local one. Without
// it, the page of another site could send requests through a browser.
func toLocalhost(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !webclient.Local(r.Host) {
			http.Error(w, "this server answers to localhost alone", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// boundedServer returns a server for h with limits: 256 KiB for the header of a request, 10
// seconds for reading a request, and a minute for answering it, which h may extend. It closes a
// connection that is idle for a minute.
func boundedServer(h http.Handler) *http.Server {
	const requestTime, quietTime, maxHead = 10 * time.Second, time.Minute, 256 << 10
	return &http.Server{
		Handler:        h,
		ReadTimeout:    requestTime,
		WriteTimeout:   quietTime,
		IdleTimeout:    quietTime,
		MaxHeaderBytes: maxHead,
	}
}
