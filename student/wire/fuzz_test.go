package wire_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/trajectory-arena/arena/student/wire"
)

// FuzzHearsWhatNetHTTPHears: whatever a server says before it closes, status and
// body are those of net/http's own transport, or both fail.
func FuzzHearsWhatNetHTTPHears(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.0 500 What\r\n\r\nuntil the end",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.1 200\nContent-Length: 2\n\nhi",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				hear(there)
				_, _ = there.Write(said)
			}()
			return here, nil
		}
		status, body, err := ask(t.Context(), &http.Client{Transport: &wire.Transport{Dial: dial}, CheckRedirect: stay}, "http://server.test", "x")
		wantStatus, wantBody, wantErr := ask(t.Context(), &http.Client{Transport: &http.Transport{DialContext: dial, DisableCompression: true}, CheckRedirect: stay}, "http://server.test", "x")
		if wantStatus == http.StatusSwitchingProtocols {
			return // nobody asks for it, and what follows is no reply
		}
		if (err == nil) != (wantErr == nil) || err == nil && (status != wantStatus || body != wantBody) {
			t.Errorf("heard %d %q %v\nwant  %d %q %v", status, body, err, wantStatus, wantBody, wantErr)
		}
	})
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
