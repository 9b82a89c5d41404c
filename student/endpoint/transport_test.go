package endpoint

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/student/chat"
)

// TestEachTrySendsTheWholeRequest: one that is longer than what a connection
// holds, in pieces, and again after a refusal.
func TestEachTrySendsTheWholeRequest(t *testing.T) {
	t.Parallel()
	request := chat.Request{[]byte(`{"a":"`), []byte(strings.Repeat("b", 100_000)), []byte(`"`), []byte("}")}
	var bodies [][]byte
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(body)) {
			t.Errorf("%d of %d bytes: %v", len(body), r.ContentLength, err)
		}
		if bodies = append(bodies, body); len(bodies) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, good)
	}))
	t.Cleanup(web.Close)
	p := newTestPool(t, Config{URLs: []string{web.URL + "/v1"}, Retries: 1})
	if _, _, err := p.Ask(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Join(request, nil)
	if diff := cmp.Diff([][]byte{whole, whole}, bodies); diff != "" {
		t.Error(diff)
	}
}

// TestAServerThatSpeaksHTTP2IsAskedInIt: a transport that dials by itself does
// not do so unasked.
func TestAServerThatSpeaksHTTP2IsAskedInIt(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(web.Close)
	w, err := newWay(web.URL, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	w.transport.(*http.Transport).TLSClientConfig = web.Client().Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // net/http's, for TLS
	res, err := w.RoundTrip(w.post)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Errorf("asked in %s", res.Proto)
	}
}

// TestAProxyIsUsed in a process of its own: net/http reads the environment once.
func TestAProxyIsUsed(t *testing.T) {
	t.Parallel()
	if os.Getenv("BEHIND_A_PROXY") != "" {
		_, _, err := newTestPool(t, Config{URLs: []string{"http://models.test/v1"}}).Ask(t.Context(), chat.Request{[]byte("{}")})
		if err != nil {
			t.Error(err)
		}
		return
	}
	var host string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.URL.Host
		_, _ = io.WriteString(w, good)
	}))
	t.Cleanup(web.Close)
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProxyIsUsed$")
	again.Env = append(os.Environ(), "BEHIND_A_PROXY=1", "http_proxy="+web.URL)
	if out, err := again.CombinedOutput(); err != nil || host != "models.test" {
		t.Errorf("asked for %q: %v\n%s", host, err, out)
	}
}

func TestAUserOfTheURLIsSent(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"": "Basic dXNlcjpwdw==", "k": "Bearer k"} {
		w, err := newWay("http://user:pw@models.test/v1", key, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.post.Header.Get("Authorization"); got != want {
			t.Errorf("key %q: %q, want %q", key, got, want)
		}
	}
}
