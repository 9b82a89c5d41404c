package model

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
)

// TestEachTrySendsTheCompleteRequest sends a request in pieces that is longer than the
// buffers of a connection, and that the server refuses once.
func TestEachTrySendsTheCompleteRequest(t *testing.T) {
	t.Parallel()
	request := Body{[]byte(`{"a":"`), []byte(strings.Repeat("b", 100_000)), []byte(`"`), []byte("}")}
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
	if _, _, err := p.Chat(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	want := bytes.Join(request, nil)
	if diff := cmp.Diff([][]byte{want, want}, bodies); diff != "" {
		t.Error(diff)
	}
}

// TestTransportUsesHTTP2 checks ForceAttemptHTTP2: a transport with a DialContext of its
// own uses HTTP/1.1 without it.
func TestTransportUsesHTTP2(t *testing.T) {
	t.Parallel()
	proto := 0
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto = r.ProtoMajor
		_, _ = io.WriteString(w, good)
	}))
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(web.Close)
	c := Config{URLs: []string{web.URL}, Concurrency: 1}
	transport := c.transport().(*http.Transport)                                         //nolint:forcetypeassert // net/http's
	transport.TLSClientConfig = web.Client().Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // net/http's
	c.Transport = transport
	if _, _, err := newTestPool(t, c).Chat(t.Context(), Body{[]byte("{}")}); err != nil || proto != 2 {
		t.Errorf("asked in HTTP/%d: %v", proto, err)
	}
}

// TestTransportUsesProxy runs in a process of its own, because net/http reads the
// environment once.
func TestTransportUsesProxy(t *testing.T) {
	t.Parallel()
	if os.Getenv("BEHIND_A_PROXY") != "" {
		_, _, err := newTestPool(t, Config{URLs: []string{"http://models.test/v1"}}).Chat(t.Context(), Body{[]byte("{}")})
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
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTransportUsesProxy$")
	again.Env = append(os.Environ(), "BEHIND_A_PROXY=1", "http_proxy="+web.URL)
	if out, err := again.CombinedOutput(); err != nil || host != "models.test" {
		t.Errorf("asked for %q: %v\n%s", host, err, out)
	}
}

// TestSecretsInURLsAreSentAndNotShown checks a user and a key in the query.
func TestSecretsInURLsAreSentAndNotShown(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"": "Basic dXNlcjpwYXNzd29yZDE=", "k": "Bearer k"} {
		var got *http.Request
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "no password1 and no "+r.URL.RawQuery+"\x1b[31m"+strings.Repeat("!", 400))
		}))
		t.Cleanup(web.Close)
		base := strings.Replace(web.URL, "http://", "http://user:password1@", 1) + "/v1?api_key=querykey1"
		_, body, err := newTestPool(t, Config{URLs: []string{base}, Key: key}).Chat(t.Context(), Body{[]byte("{}")})
		if got.Header.Get("Authorization") != want || got.URL.Path != "/v1/chat/completions" || got.URL.RawQuery != "api_key=querykey1" {
			t.Errorf("asked %s with %q, want %q", got.URL, got.Header.Get("Authorization"), want)
		}
		for _, text := range []string{err.Error(), string(body), PublicURL(base)} {
			if strings.Contains(text, "password1") || strings.Contains(text, "querykey1") {
				t.Errorf("%q contains a secret", text)
			}
		}
		if text := err.Error(); strings.ContainsRune(text, 0x1b) || !strings.Contains(text, " [31m") || len(text) > 400 {
			t.Errorf("not fit for a terminal: %q", text)
		}
	}
}
