package memnet_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/internal/memnet"
)

// client is one of a server that echoes after an hour.
func client(t *testing.T) *http.Client {
	t.Helper()
	_, way := memnet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		select {
		case <-time.After(time.Hour):
			_, _ = w.Write(text) // the client may have disconnected
		case <-r.Context().Done():
		}
	}))
	return &http.Client{Transport: way}
}

func TestAnHourTakesNoTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := client(t)
		text := strings.Repeat("a word or two ", 100_000)
		for range 2 {
			start := time.Now()
			res, err := c.Post("http://anywhere/", "text/plain", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			if err = errors.Join(err, res.Body.Close()); err != nil || string(got) != text || time.Since(start) != time.Hour {
				t.Errorf("%d bytes after %v, %v", len(got), time.Since(start), err)
			}
		}
	})
}

func TestTheClientsTimeoutEndsFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := client(t)
		c.Timeout = time.Minute
		start := time.Now()
		if res, err := c.Post("http://anywhere/", "text/plain", strings.NewReader("well?")); err == nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v, %v", res, time.Since(start), err)
		}
	})
}
