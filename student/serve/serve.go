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

// Config describes the server to start and how long to wait for it.
type Config struct {
	// Command is a shell command that stays in the foreground.
	Command string
	// LogPath is the file for its output.
	LogPath string
	// Base is the URL at which the server will answer, ending in /v1; Key is its bearer token, if
	// any.
	Base, Key string
	// Ready is the maximum time until the server answers, Grace the maximum time from the signal to
	// end until it has ended.
	Ready, Grace time.Duration
	// Waiting is called once if the server has not answered after some seconds.
	Waiting func()
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

// supervised is the shell script that runs the command of a model server. If this process is
// killed, the kernel signals only the shell. The script then sends SIGTERM to its process group,
// and SIGKILL after the grace period in seconds (%g).
const supervised = `trap 'trap "" TERM; kill 0; (sleep %g; kill -9 0) >/dev/null 2>&1 & wait $server; exit' TERM
{
%s
} &
server=$!
wait $server`

// Start runs the command. It returns an error if something answers at the server's address already,
// since the run would measure that other server.
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

// live starts the server, sends the error or nil to started, and waits until the server ends. It
// stays on one thread of the operating system: when the thread that started a process ends, the
// kernel acts as if the parent process had ended.
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

// listening returns the host and port of the URL base if something accepts connections there,
// otherwise "".
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

// Wait waits until the server answers. It returns an error if the server ends before that or takes
// longer than Config.Ready.
func (s *Server) Wait(ctx context.Context) error {
	const (
		every = 250 * time.Millisecond
		quiet = 3 * time.Second
	)
	waits := time.NewTimer(quiet)
	defer waits.Stop()
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
		case <-waits.C:
			if s.config.Waiting != nil {
				s.config.Waiting()
			}
		case <-tick.C:
		}
	}
}

// healthy reports whether the server answers at /models or at /health. The second is for servers
// that fail to list their models, such as transformers serve without a cache of downloads.
func (s *Server) healthy(ctx context.Context) bool {
	const maxBytes = 8 << 20
	return slices.ContainsFunc([]string{
		model.PageURL(s.config.Base, "/models"),
		model.RootPageURL(s.config.Base, "/health"),
	}, func(page string) bool {
		_, err := webclient.Page(ctx, page, s.config.Key, maxBytes)
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
