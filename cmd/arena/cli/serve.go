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

// Serve serves h at an address until ctx ends, and then what is under way for a
// while. words say what is served. A loopback address is for ToLocalhost.
func Serve(ctx context.Context, s *Streams, listen, words string, h http.Handler) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return Failed(fmt.Errorf("listen on %s: %w", listen, err), "another address: --listen 127.0.0.1:0")
	}
	if webclient.Local(l.Addr().String()) {
		h = ToLocalhost(h)
	}
	const graceTime = 5 * time.Second
	server := boundedServer(h)
	fmt.Fprintf(s.Err, "%s on http://%s (Ctrl-C ends it)\n", words, l.Addr())
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

// ToLocalhost refuses what a page of another site sends by way of a browser: a
// server of this machine is asked by such a name.
func ToLocalhost(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !webclient.Local(r.Host) {
			http.Error(w, "this server answers to localhost alone", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// boundedServer bounds what a client may send and how long it may take. The
// subnet's server takes 256 KiB of head and ends a connection on which nothing
// moved for a minute.
func boundedServer(h http.Handler) *http.Server {
	const requestTime, quietTime, maxHead = 10 * time.Second, time.Minute, 256 << 10
	return &http.Server{Handler: h, ReadTimeout: requestTime, WriteTimeout: quietTime, IdleTimeout: quietTime, MaxHeaderBytes: maxHead}
}
