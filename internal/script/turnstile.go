package script

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// Turnstile lets as many requests through as it is told to. A run that asks a
// server behind it gets as far and no further before it is killed, on any
// machine.
type Turnstile struct {
	mu     sync.Mutex
	open   int
	waited chan struct{}
}

// Open lets n more requests through. The channel is closed when another comes.
func (s *Turnstile) Open(n int) (waited <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.waited = n, make(chan struct{})
	return s.waited
}

// Pass reports whether a request is let through; one that is not must be kept
// waiting until its client is gone.
func (s *Turnstile) Pass() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.open == -1 {
		close(s.waited)
	}
	return s.open >= 0
}

// Kill starts a command and kills it when n requests of it have been let
// through and another waits. The error has what a command said that ended
// before.
func (s *Turnstile) Kill(c *exec.Cmd, n int) error {
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	waited := s.Open(n)
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return fmt.Errorf("ended by itself: %w\n%s", err, said.String())
	case <-waited:
	}
	err := c.Process.Kill()
	<-ended //nolint:errcheck // it was killed
	return err
}
