package endpoint

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/student/chat"
)

// TestEachTrySendsTheWholeRequest: one that is longer than what a connection
// holds, in pieces, and again after a refusal.
func TestEachTrySendsTheWholeRequest(t *testing.T) {
	t.Parallel()
	request := chat.Request{[]byte(`{"a":"`), []byte(strings.Repeat("b", 3*passing)), []byte(`"`), []byte("}")}
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
	p := newTestPool(t, Config{URLs: []string{web.URL + "/v1"}, Retries: 1, Concurrency: buffersOfAll})
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
	transport := newTransport(1)
	transport.TLSClientConfig = web.Client().Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // httptest's
	res, err := (&http.Client{Transport: transport}).Get(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Errorf("asked in %s", res.Proto)
	}
}
