package model

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEachTrySendsTheWholeRequest: one that is longer than what a connection
// holds, in pieces, and again after a refusal.
func TestEachTrySendsTheWholeRequest(t *testing.T) {
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
	whole := bytes.Join(request, nil)
	if diff := cmp.Diff([][]byte{whole, whole}, bodies); diff != "" {
		t.Error(diff)
	}
}

type writes struct {
	net.Conn
	at []*byte
}

func (w *writes) Write(b []byte) (int, error) {
	w.at = append(w.at, &b[0])
	return len(b), nil
}

// TestARequestIsSentAtOnce, with its head, and its pieces without a copy: conversations
// share them, and each request would take as much new memory as it is long.
func TestARequestIsSentAtOnce(t *testing.T) {
	t.Parallel()
	to := &writes{}
	c := &conn{Conn: to}
	sent := func(n int, _ error) int { return n }
	for _, said := range []string{"CONNECT models.test:443 HTTP/1.1\r\n\r\n", "\x16\x03\x01POST / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nthe first part of a long head"} {
		if to.at = nil; sent(c.Write([]byte(said))) != len(said) || len(to.at) != 1 {
			t.Errorf("%q waits for a body", said)
		}
	}
	pieces := Body{[]byte("ab"), []byte("c")}
	for range 2 { // a connection is used again
		to.at = nil
		if n, err := c.Write([]byte("POST / HTTP/1.1\r\n\r\n")); n != 19 || err != nil || len(to.at) > 0 {
			t.Errorf("the head of %d bytes was sent before its body: %v", n, err)
		}
		body := route{address: address{url: &url.URL{}}}.post(t.Context(), "/", pieces).Body
		n, err := c.ReadFrom(io.LimitReader(body, 3))
		if want := []*byte{&c.head[:1][0], &pieces[0][0], &pieces[1][0]}; err != nil || n != 3 || !slices.Equal(to.at, want) {
			t.Errorf("sent %d bytes from %v, want 3 from %v: %v", n, to.at, want, err)
		}
	}
}

// TestAServerThatSpeaksHTTP2IsAskedInIt: a transport that dials by itself does
// not do so unasked.
func TestAServerThatSpeaksHTTP2IsAskedInIt(t *testing.T) {
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
	way := c.transport().(*http.Transport)                                         //nolint:forcetypeassert // net/http's
	way.TLSClientConfig = web.Client().Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // net/http's
	c.Transport = way
	if _, _, err := newTestPool(t, c).Chat(t.Context(), Body{[]byte("{}")}); err != nil || proto != 2 {
		t.Errorf("asked in HTTP/%d: %v", proto, err)
	}
}

// TestAProxyIsUsed in a process of its own: net/http reads the environment once.
func TestAProxyIsUsed(t *testing.T) {
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
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProxyIsUsed$")
	again.Env = append(os.Environ(), "BEHIND_A_PROXY=1", "http_proxy="+web.URL)
	if out, err := again.CombinedOutput(); err != nil || host != "models.test" {
		t.Errorf("asked for %q: %v\n%s", host, err, out)
	}
}

// TestWhatAURLHoldsIsSentAndNotShown: a user, and a key in the query.
func TestWhatAURLHoldsIsSentAndNotShown(t *testing.T) {
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
		for _, text := range []string{err.Error(), string(body), Address(base)} {
			if strings.Contains(text, "password1") || strings.Contains(text, "querykey1") {
				t.Errorf("a secret stands in %q", text)
			}
		}
		if text := err.Error(); strings.ContainsRune(text, 0x1b) || !strings.Contains(text, " [31m") || len(text) > 400 {
			t.Errorf("not fit for a terminal: %q", text)
		}
	}
}
