package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/internal/memnet"
)

const good = `{"choices":[{"finish_reason":"stop","message":{"content":"hi"}}]}`

// drain reads the request. A server that does not read it does not notice that the client
// disconnected.
func drain(r *http.Request) { io.Copy(io.Discard, r.Body) }

func newTestPool(t *testing.T, c Config) *Pool {
	t.Helper()
	c.Now = time.Now
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.Concurrency == 0 {
		c.Concurrency = 4
	}
	p, err := NewPool(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestAskClassifiesFailures(t *testing.T) {
	t.Parallel()
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); w.Write([]byte(body)) }
	}
	cases := []struct {
		name   string
		serve  http.HandlerFunc
		reason string
		tries  int64
	}{
		{"good", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") == "identity" { // otherwise a server may compress
				w.Write([]byte(good))
			}
		}, "", 1},
		{"bad request", status(400, "what?"), "http_400", 1},
		{"no key", status(401, ""), "http_401", 1},
		{"not found", status(404, ""), "http_404", 1},
		{"error", status(500, ""), "http_500", 3},
		{"too many", status(429, ""), "http_429", 3},
		{"no choices", status(200, `{"choices":[]}`), "unreadable", 3},
		{"html", status(200, "<html>"), "unreadable", 3},
		{"error object", status(200, `{"error":{"message":"overloaded"}}`), "unreadable", 3},
		{"redirect", status(302, ""), "http_302", 1},
		{"overflow", status(400, `{"error":{"message":"This model's maximum context length is 10 tokens"}}`), "overflow", 1},
		{"reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "connection", 3},
		{"hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "timeout", 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { requests.Add(1); drain(r); c.serve(w, r) }))
			web.Start()
			defer web.Close()
			config := Config{URLs: []string{web.URL + "/v1"}, Retries: 2}
			if c.name == "hang" {
				config.Timeout = 50 * time.Millisecond
			}
			p := newTestPool(t, config)
			_, _, err := p.Chat(t.Context(), Body{[]byte("{}")})
			got := ""
			var fault *Fault
			if errors.As(err, &fault) {
				got = fault.Reason
			} else if err != nil {
				t.Fatal(err)
			}
			if fault != nil && fault.Overflow {
				got = "overflow"
			}
			if got != c.reason {
				t.Errorf("%q (%v), want %q", got, err, c.reason)
			}
			if n := p.Counts.Requests.Load(); n != c.tries {
				t.Errorf("asked %d times, want %d", n, c.tries)
			}
			minTries := c.tries
			maxTries := c.tries
			switch c.name {
			case "reset": // the client itself repeats it on a kept connection that was closed
				maxTries *= 2
			case "hang": // the timeout may end before the server has received the request
				minTries = 0
			}
			if n := requests.Load(); n < minTries || n > maxTries {
				t.Errorf("the server was asked %d times, want %d to %d", n, minTries, maxTries)
			}
		})
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	var first atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if first.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			return
		}
		w.Write([]byte(good))
	}))
	defer web.Close()
	start := time.Now()
	if _, _, err := newTestPool(t, Config{URLs: []string{web.URL + "/v1"}, Retries: 1}).Chat(t.Context(), Body{[]byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < time.Second {
		t.Errorf("waited %v of the second that the server asked for", d)
	}
}

func TestPoolSkipsUnreachableServer(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(good)) }))
	defer web.Close()
	p := newTestPool(t, Config{URLs: []string{"http://127.0.0.1:1/v1", web.URL + "/v1"}, Retries: 3})
	for range 20 {
		if _, _, err := p.Chat(t.Context(), Body{[]byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSamePrefixGoesToSameServer checks that requests with the same prefix go to one server
// while it has capacity, and that different prefixes use different servers.
func TestSamePrefixGoesToSameServer(t *testing.T) {
	t.Parallel()
	var requests [4]atomic.Int64
	var urls []string
	for i := range requests {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { requests[i].Add(1); w.Write([]byte(good)) }))
		defer web.Close()
		urls = append(urls, web.URL+"/v1")
	}
	p := newTestPool(t, Config{URLs: urls})
	template := NewTemplate("m", "You shop.", Sampling{}, nil)
	homes := map[int]bool{}
	for problem := range 32 {
		conversation := Conversation{}.Append(Turn{Role: "user", Content: fmt.Sprint("problem ", problem)})
		var before [4]int64
		for i := range requests {
			before[i] = requests[i].Load()
		}
		for turn := range 5 {
			if _, _, err := p.Chat(t.Context(), template.Request(conversation, 0)); err != nil {
				t.Fatal(err)
			}
			conversation = conversation.Append(Turn{Role: "assistant", Content: fmt.Sprint("turn ", turn)})
		}
		for i := range requests {
			if n := requests[i].Load() - before[i]; n == 5 {
				homes[i] = true
			} else if n != 0 {
				t.Errorf("problem %d: %d of 5 turns at server %d", problem, n, i)
			}
		}
	}
	if len(homes) != len(requests) {
		t.Errorf("only %d servers were asked", len(homes))
	}
}

// TestRetryUsesAnotherServer allows two tries, so that the second must be at the other
// server.
func TestRetryUsesAnotherServer(t *testing.T) {
	t.Parallel()
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }))
	defer bad.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(good)) }))
	defer web.Close()
	p := newTestPool(t, Config{URLs: []string{bad.URL + "/v1", web.URL + "/v1"}, Retries: 1})
	for i := range 40 { // some have their home at the one, some at the other
		if _, _, err := p.Chat(t.Context(), Body{[]byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.Counts.Retries.Load(); n < int64(misses) {
		t.Errorf("%d tries failed, want at least %d", n, misses)
	}
}

// TestUnreachableServerCostsNoTry allows one try, although one of two servers is unreachable.
func TestUnreachableServerCostsNoTry(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(good)) }))
	defer web.Close()
	p := newTestPool(t, Config{URLs: []string{"http://127.0.0.1:1/v1", web.URL + "/v1"}, Retries: 0})
	for range 8 {
		if _, _, err := p.Chat(t.Context(), Body{[]byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
}

// misses and between are those of the usual breaker.
var misses, between = Breaker{}.withDefaults().After, Breaker{}.withDefaults().Pause

// TestServersWithoutAnswersAreSetAside drives the gate with its own clock.
func TestServersWithoutAnswersAreSetAside(t *testing.T) {
	t.Parallel()
	refused := &Fault{Kind: Network, unreachable: true}
	hung := &Fault{Kind: Network, timedOut: true}
	var answer *Fault
	now := time.Unix(0, 0)
	begin := func(urls ...string) *gate {
		return newGate(Config{URLs: urls, Concurrency: 4, Now: func() time.Time { return now }})
	}
	enter := func(g *gate, want string, avoid *server) slot {
		t.Helper()
		s, _, _ := g.choose(avoid, 0)
		if s == nil || s.url != want {
			t.Fatalf("chose %+v, want %s", s, want)
		}
		s.busy++
		return slot{s, s.falls}
	}
	miss := func(g *gate, a *Fault, times int) {
		for range times {
			g.leave(enter(g, "a", nil), a)
		}
	}

	for name, a := range map[string]*Fault{"refused": refused, "hung": hung} {
		g := begin("a", "b")
		miss(g, a, misses)
		g.leave(enter(g, "b", nil), answer)
		now = now.Add(between)
		probe := enter(g, "a", nil) // one at a time, although b has capacity
		second := enter(g, "b", nil)
		g.leave(second, answer)
		g.leave(probe, answer)
		g.leave(enter(g, "a", nil), answer)
		if g.leave(enter(g, "b", enter(g, "a", nil).server), answer); !g.healthy(g.servers[0]) {
			t.Errorf("%s: not healthy after an answer", name)
		}
	}

	g := begin("a", "b")
	miss(g, refused, misses)
	for waited := time.Duration(0); waited < 2*defaultPatience; waited += between {
		now = now.Add(between)
		if s, _, _ := g.choose(nil, 0); s.url == "a" {
			s.busy++
			g.leave(slot{s, s.falls}, refused)
		}
	}
	now = now.Add(defaultPatience)
	g.leave(enter(g, "a", nil), answer) // the server answers again

	g = begin("a")
	miss(g, hung, 2*misses)
	g.leave(enter(g, "a", nil), answer)
	enter(g, "a", nil)
	enter(g, "a", nil) // alone and slow: the limit grows with its answers

	g = begin("a")
	miss(g, refused, misses)
	if s, wait, dead := g.choose(nil, 0); s != nil || wait != between || dead != nil {
		t.Errorf("refused: %+v %v %v, want a pause", s, wait, dead)
	}
	now = now.Add(defaultPatience)
	if s, _, dead := g.choose(nil, 0); s != nil || dead == nil || dead.Reason != "server_down" {
		t.Errorf("refused for %v: %+v, want dead", defaultPatience, s)
	}

	g = begin("a")
	for range misses {
		g.leave(enter(g, "a", nil), &Fault{Kind: Withdrawn})
	}
	if !g.healthy(g.servers[0]) {
		t.Error("cancelled requests count as failures of the server")
	}
}

// TestDeadlineBeforeTimeoutCountsAsMiss holds that a server which never answers is set aside, even
// if rollouts have less time than requests.
func TestDeadlineBeforeTimeoutCountsAsMiss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, memory := memnet.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { drain(r); <-r.Context().Done() }))
		const base = "http://models.test/v1"
		p := newTestPool(t, Config{URLs: []string{base}, Timeout: time.Hour, Transport: memory})
		for range misses {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if _, _, err := p.Chat(ctx, Body{[]byte("{}")}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("asked for a minute: %v", err)
			}
			if _, _, err := p.Chat(ctx, Body{[]byte("{}")}); !errors.Is(err, context.DeadlineExceeded) { // the deadline has passed
				t.Errorf("asked after that: %v", err)
			}
			cancel()
		}
		if s := p.gate.servers[0]; s.misses != misses || p.Counts.Requests.Load() != int64(misses) {
			t.Errorf("%d misses of %d requests, want %d", s.misses, p.Counts.Requests.Load(), misses)
		}
	})
}

func TestAskEndsWhenCanceled(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { drain(r); <-r.Context().Done() }))
	defer web.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := newTestPool(t, Config{URLs: []string{web.URL + "/v1"}, Timeout: time.Minute}).Chat(ctx, Body{[]byte("{}")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestLimitsFallAndRise drives the gate with a clock of its own.
func TestLimitsFallAndRise(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	g := newGate(Config{URLs: []string{"a"}, Concurrency: 8, Now: func() time.Time { return now }})
	enter := func() slot {
		s, err := g.enter(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	use := func() {
		s := enter()
		now = now.Add(10 * time.Millisecond)
		g.leave(s, nil)
	}
	now = now.Add(time.Minute)
	one := enter()
	two := enter()
	g.leave(one, &Fault{overload: true})
	g.leave(two, &Fault{overload: true})
	now = now.Add(10 * time.Millisecond)
	if got := int(g.servers[0].limit); got != 4 {
		t.Errorf("two refusals of one overload: limit %d, want 4", got)
	}
	for range 4 {
		use()
	}
	if got := int(g.servers[0].limit); got != 5 {
		t.Errorf("a window of answers: limit %d, want 5", got)
	}
}

// TestSlowServerGetsFewerRequests checks that a server which answers two requests at once within
// its timeout answers all, although more are sent to it at first.
func TestSlowServerGetsFewerRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Int32
		_, way := memnet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			drain(r)
			defer busy.Add(-1)
			if busy.Add(1) > 2 {
				<-r.Context().Done()
				return
			}
			time.Sleep(time.Second)
			w.Write([]byte(good))
		}))
		p := newTestPool(t, Config{URLs: []string{"http://models.test/v1"}, Concurrency: 8, Timeout: 5 * time.Second, Retries: 5, Transport: way})
		var workers sync.WaitGroup
		for range 16 {
			workers.Go(func() {
				if _, err := p.Ask(t.Context(), Request{Path: "/chat/completions", MaxBytes: MaxChat, Read: func([]byte) error { return nil }}); err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
	})
}

// TestLimitRecoversAfterOverload checks that the limit of a server that refuses requests for some
// seconds grows again. Its answers take one to three seconds.
func TestLimitRecoversAfterOverload(t *testing.T) {
	t.Parallel()
	const limit = 128
	start := time.Unix(0, 0)
	now := start
	random := rand.New(rand.NewPCG(1, 2))
	g := newGate(Config{URLs: []string{"a"}, Concurrency: limit, Now: func() time.Time { return now }})
	var ends []time.Time // of the requests on their way, the next one last
	for now.Sub(start) < time.Hour {
		for s, _, _ := g.choose(nil, 0); s != nil; s, _, _ = g.choose(nil, 0) {
			s.busy++
			end := now.Add(time.Second + time.Duration(random.Int64N(int64(2*time.Second))))
			index, _ := slices.BinarySearchFunc(ends, end, func(a, b time.Time) int { return b.Compare(a) })
			ends = slices.Insert(ends, index, end)
		}
		now = ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		var refused *Fault
		if now.Sub(start) < 6*time.Second {
			refused = &Fault{overload: true}
		}
		g.leave(slot{g.servers[0], g.servers[0].falls}, refused)
	}
	if got := int(g.servers[0].limit); got != limit {
		t.Errorf("an hour after six seconds of refusals: limit %d, want %d", got, limit)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	err := Config{URLs: []string{"localhost:80"}, Retries: -1}.Validate()
	for _, want := range []string{"no http URL", "concurrency", "timeout", "retries"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
}
