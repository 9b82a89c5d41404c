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

// TestAKeyStaysWithItsServer checks that a key is sent to the named server, and not to the one it
// redirects to.
func TestAKeyStaysWithItsServer(t *testing.T) {
	t.Parallel()
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server is asked, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(stranger.Close)
	named := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3same" {
			t.Errorf("the key is sent as %q", r.Header.Get("Authorization"))
		}
		http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(named.Close)
	res, err := webclient.NewWithKey("s3same", 100).Get(named.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
}

// FuzzRetryAfterIsAPause holds for any header that the pause is not negative, and is positive only
// if the header asks for one.
func FuzzRetryAfterIsAPause(f *testing.F) {
	f.Add("1", "")
	f.Add("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:30 GMT")
	f.Add("-3", "x")
	f.Add("1e300", "")
	f.Add("NaN", "")
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		if d, ok := webclient.RetryAfter(h, time.Unix(1_790_000_000, 0)); d < 0 || d > 0 && !ok {
			t.Fatalf("%q has the pause %v", value, d)
		}
	})
}

func TestRetryAfterDatesUseTheServersClock(t *testing.T) {
	t.Parallel()
	h := http.Header{"Retry-After": {"Wed, 21 Oct 2026 07:28:00 GMT"}, "Date": {"Wed, 21 Oct 2026 07:27:30 GMT"}}
	if d, ok := webclient.RetryAfter(h, time.Now()); d != 30*time.Second || !ok {
		t.Errorf("got %v", d)
	}
}

func TestLocalIsThisMachineAlone(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "localhost:8000": true, "127.0.0.1": true, "127.8.9.1:80": true, "::1": true, "[::1]": true, "[::1]:8000": true,
		"": false, ":8000": false, "0.0.0.0:80": false, "[::]:80": false, "127.evil.example": false, "localhost.evil.example:80": false, "10.0.0.1": false,
	} {
		if webclient.Local(host) != want {
			t.Errorf("%q: not %v", host, want)
		}
	}
}
