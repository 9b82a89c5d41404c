package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/trajectory-arena/arena/internal/webclient"
)

// Serve serves h at an address until ctx ends, and then lets requests finish for a short
// time. what names the service for people. A loopback address is served by ToLocalhost.
func Serve(
	ctx context.Context,
	s *Streams,
	listen, what string,
	h http.Handler,
) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return Failed(fmt.Errorf("listen on %s: %w", listen, err), "another address: --listen 127.0.0.1:0")
	}
	if webclient.Local(l.Addr().String()) {
		h = ToLocalhost(h)
	}
	const graceTime = 5 * time.Second
	server := boundedServer(h)
	fmt.Fprintf(s.Err, "%s on http://%s (Ctrl-C ends it)\n", what, l.Addr())
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

// ToLocalhost returns a handler that rejects requests whose host is not the local one. The page of
// another site could send such requests through a browser.
func ToLocalhost(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !webclient.Local(r.Host) {
			http.Error(w, "this server answers to localhost alone", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// boundedServer returns a server for h that limits the header of a request to 256 KiB, the time to
// read a request to 10 seconds, and the time to answer to a minute. It closes a connection that is
// idle for a minute.
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
