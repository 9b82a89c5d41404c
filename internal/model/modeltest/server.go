// Package modeltest provides a scripted OpenAI-compatible server for tests. It can fail in every
// way in which real servers do. It records its requests and counts the tokens of its answers for
// comparisons.
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

// Call is one request as the server received it.
type Call struct {
	// Number is the number of the call among the calls of its model, counted from 1.
	Number int
	Model  string
	// Text is the joined text of all messages.
	Text string
	// Schema reports whether the request asks for structured output.
	Schema bool
	Body   map[string]any
	Header http.Header
	At     time.Time
}

// Action is a function that answers one call.
type Action func(w http.ResponseWriter, r *http.Request, c Call)

// Server is a test server that answers with the actions of a script.
type Server struct {
	*httptest.Server
	script func(Call) Action
	// limit is the number of requests that are answered concurrently; others get status 429. 0
	// means no limit.
	limit int
	// memory is the in-memory network of a server in virtual time, nil for other servers.
	memory http.RoundTripper

	mu    sync.Mutex
	calls []Call
	count map[string]int
	busy  int
	peak  int
	bill  Bill
}

// Bill is the number of answers of a server and of their tokens.
type Bill struct {
	Answers    int
	Prompt     int
	Completion int
}

// New starts a server that calls script to get the action for each call. The server is closed at
// the end of the test.
func New(t testing.TB, script func(Call) Action) *Server {
	return Limited(t, 0, script)
}

// Limited starts a server that answers at most limit requests concurrently.
func Limited(t testing.TB, limit int, script func(Call) Action) *Server {
	s := &Server{
		script: script,
		limit:  limit,
		count:  map[string]int{},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Stop)
	return s
}

// Virtual starts a server like Limited that can only be reached by Transport. It is for a bubble
// of testing/synctest, so that pauses of the server and its clients take no real time.
func Virtual(t testing.TB, limit int, script func(Call) Action) *Server {
	s := &Server{
		script: script,
		limit:  limit,
		count:  map[string]int{},
	}
	s.Server, s.memory = memnet.Serve(t, http.HandlerFunc(s.serve))
	return s
}

// Transport returns the transport to a server in virtual time, nil for other servers.
func (s *Server) Transport() http.RoundTripper { return s.memory }

// Stop closes the server and aborts its requests.
func (s *Server) Stop() {
	s.CloseClientConnections()
	s.Close()
}

// BaseURL returns the base URL of the server for clients.
func (s *Server) BaseURL() string { return s.URL + "/v1" }

// Calls returns all calls so far in the order of arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Bill returns the answers so far and their tokens, as the server counted them.
func (s *Server) Bill() Bill {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bill
}

// Peak returns the maximum number of requests that were in flight at the same time.
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

// billing is the response writer of one call of the test server. It knows the server, so that the
// handler can add the call's tokens to that server's bill (see Charge).
type billing struct {
	http.ResponseWriter
	server *Server
}

// Charge adds an answer to the bill of the server of w.
func Charge(w http.ResponseWriter, prompt, completion int) {
	b, ok := w.(*billing)
	if !ok {
		return
	}
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	b.server.bill.Answers++
	b.server.bill.Prompt += prompt
	b.server.bill.Completion += completion
}

// Tokens returns the approximate number of tokens of a text. Each word
// has a token per six letters, per three digits and per two other characters.
func Tokens(text string) int {
	n := 0
	for _, word := range strings.FieldsFunc(text, unicode.IsSpace) {
		var letters, digits, signs int
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
