package script

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// Turnstile passes a fixed number of requests, so that a run whose server it guards gets
// equally far before it is killed on any machine.
type Turnstile struct {
	mu     sync.Mutex
	open   int
	waited chan struct{}
}

// Open passes n more requests. The returned channel is closed when another one arrives.
func (s *Turnstile) Open(n int) (waited <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = n
	s.waited = make(chan struct{})
	return s.waited
}

// Pass reports whether a request is passed; one that is not must be kept waiting until its
// client disconnects.
func (s *Turnstile) Pass() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.open == -1 {
		close(s.waited)
	}
	return s.open >= 0
}

// Kill starts a command and kills it when n of its requests were passed and another one
// waits. If the command ends before, the error has its output.
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
