package memnet_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/internal/memnet"
)

// serve starts a server that echoes after an hour, and gives a client of it.
func serve(t *testing.T) *http.Client {
	t.Helper()
	l := memnet.Listen()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		select {
		case <-time.After(time.Hour):
			_, _ = w.Write(text) // the client may be gone
		case <-r.Context().Done():
		}
		if err != nil {
			t.Error(err)
		}
	}))
	server.Listener = l
	server.Start()
	transport := l.Transport()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		if _, err := transport.DialContext(context.Background(), "", ""); err == nil {
			t.Error("a closed listener was reached")
		}
	})
	return &http.Client{Transport: transport}
}

func TestAnHourTakesNoTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, said := serve(t), strings.Repeat("a word or two ", 100_000)
		for range 2 {
			start := time.Now()
			res, err := client.Post("http://anywhere/", "text/plain", strings.NewReader(said))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			if err = errors.Join(err, res.Body.Close()); err != nil || string(got) != said || time.Since(start) != time.Hour {
				t.Errorf("%d bytes after %v, %v", len(got), time.Since(start), err)
			}
		}
	})
}

func TestTheClientsTimeOutComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := serve(t)
		client.Timeout = time.Minute
		start := time.Now()
		if res, err := client.Post("http://anywhere/", "text/plain", strings.NewReader("well?")); err == nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v, %v", res, time.Since(start), err)
		}
	})
}
