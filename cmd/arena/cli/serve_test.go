package cli

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestServerBoundsWhatIsSent checks that a query of 200 KB is answered and one of 300 KB is
// refused, as by the subnet's server.
func TestServerBoundsWhatIsSent(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	s := httptest.NewUnstartedServer(ok)
	s.Config = boundedServer(ok)
	s.Start()
	defer s.Close()
	for size, want := range map[int]int{200_000: http.StatusOK, 300_000: http.StatusRequestHeaderFieldsTooLarge} {
		res, err := http.Get(s.URL + "/?q=" + strings.Repeat("a", size))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", size, res.StatusCode, want)
		}
	}
	if c := s.Config; c.ReadTimeout == 0 || c.WriteTimeout == 0 || c.IdleTimeout == 0 {
		t.Error("a client may take for ever")
	}
}

// TestAnotherSitesPageIsRefused checks that the server refuses requests with the Host header of
// another site. A browser sends the host name of the page, even if that name resolves to the
// loopback address.
func TestAnotherSitesPageIsRefused(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for host, want := range map[string]int{
		"localhost:5632": 200, "127.0.0.1:5632": 200, "[::1]:5632": 200, "localhost": 200,
		"evil.example:5632": 403, "203.0.113.7": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "/health", nil)
		r.Host = host
		w := httptest.NewRecorder()
		toLocalhost(ok).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("host %s: %d, want %d", host, w.Code, want)
		}
	}
}

func TestRequestsNeedTheToken(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	guarded := WithToken(ok, "secret")
	tests := []struct {
		name  string
		carry func(r *http.Request)
		want  int
	}{
		{"no token", func(*http.Request) {}, http.StatusUnauthorized},
		{"a local host in the header", func(r *http.Request) { r.Host = "localhost" }, http.StatusUnauthorized},
		{"bearer", func(r *http.Request) { r.Header.Set("Authorization", "Bearer secret") }, http.StatusOK},
		{"another bearer", func(r *http.Request) { r.Header.Set("Authorization", "Bearer secrets") }, http.StatusUnauthorized},
		{"password", func(r *http.Request) { r.SetBasicAuth("anyone", "secret") }, http.StatusOK},
		{"another password", func(r *http.Request) { r.SetBasicAuth("secret", "") }, http.StatusUnauthorized},
	}
	for _, test := range tests {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		test.carry(r)
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s: %d, want %d", test.name, w.Code, test.want)
		}
	}
}

// TestTheAddressIsPrintedAsTyped holds that a user can ask the printed address.
func TestTheAddressIsPrintedAsTyped(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:0":   "0.0.0.0:80",
		"127.0.0.1:0": "127.0.0.1:80",
		"[::1]:0":     "[::1]:80",
		":0":          "[::]:80",
	} {
		d := Door{listen: listen}
		if got := d.address(&net.TCPAddr{IP: net.IPv6unspecified, Port: 80}); got != want {
			t.Errorf("%s: printed as %s, want %s", listen, got, want)
		}
	}
}
