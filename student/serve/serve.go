// Package serve runs the model server that an evaluation needs: starts it,
// waits until it answers, keeps its log, and stops it however the run ends.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Server is a running model server.
type Server struct {
	cmd *exec.Cmd
	log *os.File
	// ended is closed when the server has ended.
	ended chan struct{}
}

// graceTime is how long a server may take to stop before it is killed.
const graceTime = 20 * time.Second

// Start runs command in a shell, its output in the file logPath.
func Start(command, logPath string) (*Server, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start model server: %w", err)
	}
	// With exec the shell becomes the server, so that signals reach it.
	cmd := exec.Command("sh", "-c", "exec "+command)
	cmd.Stdout, cmd.Stderr = log, log
	bindToParent(cmd)
	s := &Server{cmd: cmd, log: log, ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start model server: %w", err), log.Close())
	}
	go func() {
		_ = cmd.Wait() // how it ended is in its state
		close(s.ended)
	}()
	return s, nil
}

// Wait waits until the server at base, its URL ending in /v1, lists its
// models. It fails if the server ends before, or takes longer than most.
func (s *Server) Wait(ctx context.Context, base string, most time.Duration) error {
	const every = time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if healthy(ctx, base) {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("wait for model server: it ended (%s); its log: %s", s.cmd.ProcessState, s.log.Name())
		case <-ctx.Done():
			return fmt.Errorf("wait for model server: %w; its log: %s", ctx.Err(), s.log.Name())
		case <-tick.C:
		}
	}
}

func healthy(ctx context.Context, base string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// Stop asks the server to end, kills it and all it started after a while, and
// closes its log.
func (s *Server) Stop() error {
	signalGroup(s.cmd, false)
	timer := time.NewTimer(graceTime)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
		signalGroup(s.cmd, true)
		<-s.ended
	}
	signalGroup(s.cmd, true)
	return s.log.Close()
}
