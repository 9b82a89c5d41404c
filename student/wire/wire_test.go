package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/student/wire"
)

func newClient(t *testing.T) *http.Client {
	t.Helper()
	c := &http.Client{Transport: &wire.Transport{Dial: (&net.Dialer{}).DialContext}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// ask posts a body and gives status and reply.
func ask(ctx context.Context, c *http.Client, url, body string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	res, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	return res.StatusCode, string(reply), err
}

// serve starts a server that counts the connections made to it.
func serve(t *testing.T, h http.HandlerFunc) (url string, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	web := httptest.NewUnstartedServer(h)
	web.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	web.Start()
	t.Cleanup(web.Close)
	return web.URL, connections
}

// listen starts a server that does as it is told with each connection and closes
// it then. A connection's number counts from 0.
func listen(t *testing.T, each func(c net.Conn, number int)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				each(c, n)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// hear reads what there is of a request.
func hear(c net.Conn) {
	_, _ = c.Read(make([]byte, 4<<10))
}

func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 50_000)
	url, connections := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(body)) {
			t.Errorf("%d of %d bytes: %v", len(body), r.ContentLength, err)
		}
		if r.URL.Path == "/chunked" {
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = w.Write(body[:1])
			w.(http.Flusher).Flush()
			body = body[1:]
		}
		_, _ = w.Write(body)
	})
	c := newClient(t)
	for _, path := range []string{"", "/chunked", "/again"} {
		for _, body := range []string{"short", long} {
			status, reply, err := ask(t.Context(), c, url+path, body)
			if status != http.StatusOK || reply != body || err != nil {
				t.Errorf("%s: %d, %d bytes, %v", path, status, len(reply), err)
			}
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for one request at a time", n)
	}
	c.CloseIdleConnections()
	if _, _, err := ask(t.Context(), c, url, "new"); err != nil || connections.Load() != 2 {
		t.Errorf("after closing: %d connections, %v", connections.Load(), err)
	}
}

// TestItConnectsWhereNetHTTPDoes, whatever form the host has.
func TestItConnectsWhereNetHTTPDoes(t *testing.T) {
	t.Parallel()
	var to string
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		to = address
		return nil, errors.New("nobody there")
	}
	for url, want := range map[string]string{
		"http://models.test/v1":     "models.test:80",
		"http://models.test:/v1":    "models.test:80",
		"http://:8000/v1":           ":8000",
		"http://my_gpu:8000":        "my_gpu:8000",
		"http://b\u00fccher.test/":  "xn--bcher-kva.test:80",
		"http://[::1]:8000/":        "[::1]:8000",
		"http://[fe80::1%25eth0]/a": "[fe80::1%eth0]:80",
	} {
		for _, way := range []http.RoundTripper{&wire.Transport{Dial: dial}, &http.Transport{DialContext: dial}} {
			if _, _, err := ask(t.Context(), &http.Client{Transport: way}, url, "x"); err == nil || to != want {
				t.Errorf("%T connects to %q for %s, want %q", way, to, url, want)
			}
		}
	}
}

func TestManyAtOnceHearTheirOwn(t *testing.T) {
	t.Parallel()
	const workers, each = 16, 50
	url, connections := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	c := newClient(t)
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for n := range each {
				body := fmt.Sprint(worker, n)
				if _, reply, err := ask(t.Context(), c, url, body); reply != body || err != nil {
					t.Errorf("said %q, heard %q, %v", body, reply, err)
				}
			}
		})
	}
	all.Wait()
	if n := connections.Load(); n > workers {
		t.Errorf("%d connections for %d at once", n, workers)
	}
}

// TestTheContextEndsARequest while its head is waited for, and its body.
func TestTheContextEndsARequest(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	url, connections := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/body":
			_, _ = w.Write([]byte("half"))
			w.(http.Flusher).Flush()
			fallthrough
		case "/head":
			began <- struct{}{}
			<-r.Context().Done()
		}
	})
	c := newClient(t)
	for i, path := range []string{"/head", "/body"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-began; cancel() }()
		if _, _, err := ask(ctx, c, url+path, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
		if _, _, err := ask(t.Context(), c, url, ""); err != nil || connections.Load() != int64(i+2) {
			t.Errorf("after %s: %d connections, %v", path, connections.Load(), err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := ask(ctx, c, listen(t, func(c net.Conn, _ int) { hear(c); hear(c) }), "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no time left: %v", err)
	}
}

// TestConnectionsThatAreOfNoUseAreLeft: of each server the second request is
// answered only by a second connection.
func TestConnectionsThatAreOfNoUseAreLeft(t *testing.T) {
	t.Parallel()
	const good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	for name, first := range map[string]string{
		"closed without a word": good,
		"closes":                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
		"old":                   "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"ends with the reply":   "HTTP/1.1 200 OK\r\n\r\nhi",
		"says more":             good + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over, closed := make(chan struct{}), make(chan struct{})
			url := listen(t, func(conn net.Conn, n int) {
				hear(conn)
				if n > 0 {
					_, _ = io.WriteString(conn, good)
					return
				}
				_, _ = io.WriteString(conn, first)
				if name == "says more" {
					<-over
				}
				conn.Close()
				close(closed)
			})
			c := newClient(t)
			for i := range 2 {
				if _, reply, err := ask(t.Context(), c, url, "x"); reply != "hi" || err != nil {
					t.Errorf("request %d: %q, %v", i+1, reply, err)
				}
				if name != "says more" {
					<-closed
				}
			}
			close(over)
		})
	}
}

func TestRepliesThatAreNoneFail(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	for name, reply := range map[string]string{
		"nothing":         "",
		"no HTTP":         "hello there\r\n\r\n",
		"cut head":        "HTTP/1.1 200 OK\r\nContent-Le",
		"cut body":        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",
		"cut chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
		"endless head":    "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 2*most),
		"endless no head": strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", most/10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := listen(t, func(c net.Conn, _ int) {
				hear(c)
				_, _ = io.WriteString(c, reply)
				if strings.HasPrefix(name, "endless") {
					hear(c) // it would go on
				}
			})
			if status, body, err := ask(t.Context(), newClient(t), url, "x"); err == nil {
				t.Errorf("%d %q", status, body)
			}
		})
	}
}

// TestARefusalBeforeTheEndIsHeard: the server does not read what it refuses.
func TestARefusalBeforeTheEndIsHeard(t *testing.T) {
	t.Parallel()
	url := listen(t, func(c net.Conn, _ int) {
		hear(c)
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
		_ = c.(*net.TCPConn).CloseWrite()
		time.Sleep(100 * time.Millisecond) // a reset at once would take the reply with it
	})
	status, reply, err := ask(t.Context(), newClient(t), url, strings.Repeat("x", 64<<20))
	if status != http.StatusRequestEntityTooLarge || reply != "no" || err != nil {
		t.Errorf("%d %q, %v", status, reply, err)
	}
}

// TestAReplyThatIsNotReadIsLeft, with its connection.
func TestAReplyThatIsNotReadIsLeft(t *testing.T) {
	t.Parallel()
	url, connections := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) })
	c := newClient(t)
	for range 2 {
		res, err := c.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(res.Body.Close(), res.Body.Close()); err != nil {
			t.Error(err)
		}
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error {
	c.closed = true
	return nil
}

func TestBodiesAreClosed(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	for address, reached := range map[string]bool{url: true, "http://127.0.0.1:1": false} {
		body := &closer{Reader: strings.NewReader("x")}
		res, err := newClient(t).Post(address, "text/plain", body)
		if body.closed != true || (err == nil) != reached {
			t.Errorf("%s: closed %v, %v", address, body.closed, err)
		}
		if err == nil {
			res.Body.Close()
		} else if op := new(net.OpError); !errors.As(err, &op) || op.Op != "dial" {
			t.Errorf("%v does not say that nobody was reached", err)
		}
	}
	broken := io.MultiReader(strings.NewReader("x"), failing{})
	if res, err := newClient(t).Post(url, "text/plain", broken); err == nil || !strings.Contains(err.Error(), errBody.Error()) {
		t.Errorf("a body that fails: %v %v", res, err)
	}
}

var errBody = errors.New("no more")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBody }
