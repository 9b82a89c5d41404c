package evaluate

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestShopServerBoundsWhatIsSent: a query of 200 KB is one, of 300 KB none, as
// at the subnet's server.
func TestShopServerBoundsWhatIsSent(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	s := httptest.NewUnstartedServer(ok)
	s.Config = shopServer(ok)
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
