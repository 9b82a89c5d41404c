// Package modeltest is a scripted OpenAI-compatible server for tests. It
// plays every fault a real one has shown, counts what it was asked, and keeps
// a bill of its own to hold others' against.
package modeltest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/trajectory-arena/arena/internal/memnet"
)

// Call is one request as the server saw it.
type Call struct {
	// Number counts the calls of one model from 1.
	Number int
	Model  string
	// Text is all messages joined; Schema says that structured output is asked
	// for.
	Text   string
	Schema bool
	Body   map[string]any
	Header http.Header
	At     time.Time
}

// Action answers one call.
type Action func(w http.ResponseWriter, r *http.Request, c Call)

// Server plays a script.
type Server struct {
	*httptest.Server
	script func(Call) Action
	// Limit is how many requests are answered at once, the others get 429; 0
	// is no limit.
	limit int
	// memory is the network of a server in virtual time.
	memory http.RoundTripper

	mu    sync.Mutex
	calls []Call
	count map[string]int
	busy  int
	peak  int
	bill  Bill
}

// Bill is what the server counted.
type Bill struct {
	Answers    int
	Prompt     int
	Completion int
}

// New starts a server that asks script what to do; it is closed with the test.
func New(t testing.TB, script func(Call) Action) *Server {
	return Limited(t, 0, script)
}

// Limited starts a server that answers at most limit requests at once.
func Limited(t testing.TB, limit int, script func(Call) Action) *Server {
	s := &Server{script: script, limit: limit, count: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Stop)
	return s
}

// Virtual starts a server as Limited does, 0 being no limit, that Transport
// alone reaches. It is for a bubble of testing/synctest: what it is late with,
// and how long its clients wait, is told by the bubble's clock, however slow
// the machine.
func Virtual(t testing.TB, limit int, script func(Call) Action) *Server {
	s := &Server{script: script, limit: limit, count: map[string]int{}}
	s.Server, s.memory = memnet.Serve(t, http.HandlerFunc(s.serve))
	return s
}

// Transport is the way to a server in virtual time, nil to any other.
func (s *Server) Transport() http.RoundTripper { return s.memory }

// Stop ends the server and every request that still hangs.
func (s *Server) Stop() {
	s.CloseClientConnections()
	s.Close()
}

// BaseURL is the address for clients.
func (s *Server) BaseURL() string { return s.URL + "/v1" }

// Calls are all calls so far, in their order of arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Bill is what the answers so far cost, by the server's own count.
func (s *Server) Bill() Bill {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bill
}

// Peak is the most requests that were in flight at once.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := read(r)
	s.mu.Lock()
	s.count[c.Model]++
	c.Number = s.count[c.Model]
	s.calls = append(s.calls, c)
	s.busy++
	s.peak = max(s.peak, s.busy)
	over := s.limit > 0 && s.busy > s.limit
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.busy--
		s.mu.Unlock()
	}()
	action := Status(http.StatusTooManyRequests)
	if !over {
		action = s.script(c)
	}
	action(&billing{ResponseWriter: w, server: s}, r, c)
}

func read(r *http.Request) Call {
	c := Call{Header: r.Header, At: time.Now()} //nolint:forbidigo // the server's own clock, for tests of pauses
	_ = json.NewDecoder(r.Body).Decode(&c.Body)
	c.Model, _ = c.Body["model"].(string)
	_, c.Schema = c.Body["response_format"]
	messages, _ := c.Body["messages"].([]any)
	for _, m := range messages {
		fields, _ := m.(map[string]any)
		text, _ := fields["content"].(string)
		c.Text += text + "\n"
	}
	return c
}

// billing lets an action report what it answered.
type billing struct {
	http.ResponseWriter
	server *Server
}

// Charge puts an answer on the server's bill.
func Charge(w http.ResponseWriter, prompt, completion int) {
	b, billed := w.(*billing)
	if !billed {
		return
	}
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	b.server.bill.Answers++
	b.server.bill.Prompt += prompt
	b.server.bill.Completion += completion
}

// Tokens counts as tokenizers roughly do, and not by bytes: in every word, a
// token for six letters, for three digits and for two other signs.
func Tokens(text string) int {
	n := 0
	for _, word := range strings.FieldsFunc(text, unicode.IsSpace) {
		letters, digits, signs := 0, 0, 0
		for _, r := range word {
			switch {
			case unicode.IsLetter(r):
				letters++
			case unicode.IsDigit(r):
				digits++
			default:
				signs++
			}
		}
		n += (letters+5)/6 + (digits+2)/3 + (signs+1)/2
	}
	return n
}
