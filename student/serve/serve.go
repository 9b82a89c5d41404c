// Package serve runs the model server that an evaluation needs: starts it,
// waits until it answers, keeps its log, and stops it however the run ends.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/webclient"
)

// Config is what to start and how long to wait for it.
type Config struct {
	// Command is a shell command that stays in the foreground.
	Command string
	// LogPath is the file for its output.
	LogPath string
	// Base is the URL at which it will answer, ending in /v1; Key its bearer
	// token, if any.
	Base, Key string
	// Ready bounds the time until it replies, Grace the time until it has ended after a
	// request to end.
	Ready, Grace time.Duration
}

// Server is a running model server.
type Server struct {
	config Config
	cmd    *exec.Cmd
	log    *boundedLog
	// ended is closed when the server has ended.
	ended chan struct{}
}

// ErrEnded is in the chain of the error for a server that ended by itself.
var ErrEnded = errors.New("the model server ended")

// supervised is the shell script around the command, which may set variables or have several
// steps. A shell alone would leave the server running when the kernel signals that this
// process is gone; the script signals the whole group, and kills what has not ended after
// the given seconds.
const supervised = `trap 'trap "" TERM; kill 0; (sleep %g; kill -9 0) >/dev/null 2>&1 & wait $server; exit' TERM
{
%s
} &
server=$!
wait $server`

// Start runs the command. Where something answers at its address already it is
// not started: the run would measure that other server.
func Start(c Config) (*Server, error) {
	if address := listening(c.Base); address != "" {
		return nil, fmt.Errorf("start model server: something else listens at %s already", address)
	}
	log, err := newBoundedLog(c.LogPath)
	if err != nil {
		return nil, fmt.Errorf("start model server: %w", err)
	}
	cmd := exec.Command(
		"sh",
		"-c",
		fmt.Sprintf(supervised, c.Grace.Seconds(), c.Command),
	)
	cmd.Stdout = log
	cmd.Stderr = log
	// A child of the server may hold its output open, which must not block.
	cmd.WaitDelay = time.Second
	bindToParent(cmd)
	s := &Server{
		config: c,
		cmd:    cmd,
		log:    log,
		ended:  make(chan struct{}),
	}
	started := make(chan error)
	go s.live(started)
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("start model server: %w", err), log.close())
	}
	return s, nil
}

// live starts the server and waits for its end. The thread stays: the kernel
// takes the end of the thread that started a process for the end of its
// parent.
func (s *Server) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := s.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = s.cmd.Wait() // how it ended is in its state
	close(s.ended)
}

// listening returns the address of base if something accepts connections there, otherwise
// "".
func listening(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	host := net.JoinHostPort(
		u.Hostname(),
		cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]),
	)
	conn, err := net.DialTimeout("tcp", host, time.Second)
	if err != nil || conn.Close() != nil {
		return ""
	}
	return host
}

// Ended returns a channel that is closed when the server has ended, by itself or by Stop.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Failure returns how the server ended, with its last output. It wraps ErrEnded.
func (s *Server) Failure() error {
	return fmt.Errorf("%w (%s); %s", ErrEnded, s.cmd.ProcessState, s.lastWords())
}

func (s *Server) lastWords() string {
	const enough = 300
	words := strings.Join(strings.Fields(s.log.last(enough)), " ")
	if words == "" {
		return "it said nothing; its log: " + s.config.LogPath
	}
	return fmt.Sprintf("it said last: %q; its log: %s", words, s.config.LogPath)
}

// Wait waits until the server answers. It fails if the server ends
// before, or takes longer than it may.
func (s *Server) Wait(ctx context.Context) error {
	const every = 250 * time.Millisecond
	ready, cancel := context.WithTimeout(ctx, s.config.Ready)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if s.healthy(ready) {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("wait for model server: %w", s.Failure())
		case <-ready.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("wait for model server: %w", ctx.Err())
			}
			return fmt.Errorf("wait for model server: no good answer at %s within %s; %s", s.config.Base, s.config.Ready, s.lastWords())
		case <-tick.C:
		}
	}
}

// healthy reports whether the server lists its models or, if it cannot (transformers serve
// fails to without a cache of downloads), reports that it is healthy.
func (s *Server) healthy(ctx context.Context) bool {
	const patience, maxBytes = 5 * time.Second, 8 << 20 // one that hangs is asked again
	return slices.ContainsFunc([]string{
		model.PageURL(s.config.Base, "/models"),
		model.RootPageURL(s.config.Base, "/health"),
	}, func(page string) bool {
		_, err := webclient.Page(ctx, page, s.config.Key, patience, maxBytes)
		return err == nil
	})
}

// Words returns the command and the end of the log, which hold settings that servers report
// only there.
func (s *Server) Words() string {
	return s.config.Command + "\n" + s.log.last(tailBytes)
}

// Stop ends the server, kills it and its children after the grace period, and closes its
// log.
func (s *Server) Stop() error {
	signalGroup(s.cmd, false)
	select {
	case <-s.ended:
	case <-time.After(s.config.Grace):
	}
	// Also where it has ended: what it started may be left.
	signalGroup(s.cmd, true)
	<-s.ended
	return s.log.close()
}
