package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestServerBoundsWhatIsSent: a query of 200 KB is one, of 300 KB none, as
// at the subnet's server.
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

// TestAnotherSitesPageIsRefused: a browser sends a page's requests under the
// name that the page asked for, whatever address it stands for.
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
		ToLocalhost(ok).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("host %s: %d, want %d", host, w.Code, want)
		}
	}
}
