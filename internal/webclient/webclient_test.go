package webclient_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/webclient"
)

func TestAClientTrustsNoServer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/long", http.StatusTemporaryRedirect)
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 101))
		case "/hangs":
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}
	}))
	t.Cleanup(s.Close)
	read := func(c *http.Client, path string) (int, error) {
		res, err := c.Get(s.URL + path)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		return res.StatusCode, err
	}
	patient := webclient.New(time.Minute, 100)
	if status, err := read(patient, "/"); status != http.StatusOK || err != nil {
		t.Errorf("a reply of 100 bytes: %d, %v", status, err)
	}
	var long *http.MaxBytesError
	if _, err := read(patient, "/long"); !errors.As(err, &long) {
		t.Errorf("a reply of 101 bytes: %v", err)
	}
	if status, err := read(patient, "/moved"); status != http.StatusTemporaryRedirect || err != nil {
		t.Errorf("a redirect: %d, %v", status, err)
	}
	var late net.Error
	if _, err := read(webclient.New(20*time.Millisecond, 100), "/hangs"); !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("a server that hangs: %v", err)
	}
}
