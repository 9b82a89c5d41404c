package script

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// Turnstile lets a fixed number of requests pass. A run that uses the server behind it then
// makes the same progress on every machine before it is killed.
type Turnstile struct {
	mu     sync.Mutex
	open   int
	waited chan struct{}
}

// Open allows n more requests to pass. The returned channel is closed when one more request arrives.
func (s *Turnstile) Open(n int) (waited <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = n
	s.waited = make(chan struct{})
	return s.waited
}

// Pass reports whether a request may pass. If it may not, the caller must wait until the client
// disconnects.
func (s *Turnstile) Pass() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.open == -1 {
		close(s.waited)
	}
	return s.open >= 0
}

// Kill starts a command and kills it after n of its requests have passed and another one waits.
// If the command ends before that, it returns an error with the command's output.
func (s *Turnstile) Kill(c *exec.Cmd, n int) error {
	var output strings.Builder
	c.Stdout = &output
	c.Stderr = &output
	waited := s.Open(n)
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return fmt.Errorf("ended by itself: %w\n%s", err, output.String())
	case <-waited:
	}
	err := c.Process.Kill()
	<-ended //nolint:errcheck // it was killed
	return err
}
