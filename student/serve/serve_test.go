package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/loopback"
)

// TestMain lets the test binary be the server that a test starts: it answers
// at the address in ARENA_TEST_SERVE.
func TestMain(m *testing.M) {
	if address := os.Getenv("ARENA_TEST_SERVE"); address != "" {
		fmt.Println("serving")
		panic(http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// Ready, though it cannot list its models.
			if r.Header.Get("Authorization") != "Bearer k" || r.URL.Path != "/health" {
				w.WriteHeader(http.StatusUnauthorized)
			}
		})))
	}
	os.Exit(m.Run())
}

// patience is far more than each step takes on a machine that makes progress.
const patience = time.Minute

func config(t *testing.T, command string) (c Config, address string) {
	t.Helper()
	address = loopback.Free(t)
	return Config{
		Command: command, LogPath: filepath.Join(t.TempDir(), "server.log"), Base: "http://" + address + "/v1", Key: "k", Ready: patience, Grace: patience,
	}, address
}

// until waits for something to be so.
func until(t *testing.T, event string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + event)
		}
	}
}

func start(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func logged(t *testing.T, c Config) string {
	t.Helper()
	b, err := os.ReadFile(c.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheServerEndsWithTheRun(t *testing.T) {
	t.Parallel()
	c, address := config(t, "")
	c.Command = "cd / && ARENA_TEST_SERVE=" + address + " '" + os.Args[0] + "'"
	s := start(t, c)
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if address := listening(c.Base); address != "" {
		t.Error("the server answers after its end")
	}
	if got := logged(t, c); !strings.Contains(got, "serving") {
		t.Errorf("log %q", got)
	}
}

func TestAPortInUseIsRefused(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, _ := config(t, "touch began; false")
	c.Base = "http://" + l.Addr().String() + "/v1"
	if _, err := Start(c); err == nil || !strings.Contains(err.Error(), "listens at "+l.Addr().String()) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(c.LogPath); err == nil {
		t.Error("a log of a server that was never started")
	}
}

func TestAServerThatEndsIsNoServer(t *testing.T) {
	t.Parallel()
	c, _ := config(t, "sh -c 'echo out of   memory >&2; exit 7'")
	s := start(t, c)
	err := s.Wait(t.Context())
	for _, want := range []string{"exit status 7", `"out of memory"`, c.LogPath} {
		if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	if err = s.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	c, _ := config(t, "sh -c 'echo loading; exec sleep 60'")
	c.Ready = 50 * time.Millisecond
	s := start(t, c)
	defer s.Stop()
	until(t, "its words are logged", func() bool { return logged(t, c) == "loading\n" })
	if err := s.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "within 50ms") || !strings.Contains(err.Error(), `"loading"`) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// alive reports whether a process runs that has the mark in its command line.
func alive(t *testing.T, mark string) bool {
	t.Helper()
	return exec.Command("pgrep", "-f", "sleep "+mark).Run() == nil
}

// TestAServerThatWillNotEnd checks that a server and its children are killed, though both ignore
// the first signal.
func TestAServerThatWillNotEnd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pgrep"); err != nil {
		t.Skip("needs pgrep to look for processes")
	}
	mark := fmt.Sprintf("600.%d", time.Now().UnixNano())
	c, _ := config(t, "sh -c 'trap \"\" TERM INT; echo deaf; sleep "+mark+" & sleep "+mark+"'")
	c.Grace = 300 * time.Millisecond
	s := start(t, c)
	until(t, "it hears no signal", func() bool { return logged(t, c) == "deaf\n" })
	start := time.Now()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < c.Grace {
		t.Errorf("it ended after %s of its grace of %s", took, c.Grace)
	}
	until(t, "no process of the server is left", func() bool { return !alive(t, mark) })
}

// TestStartInItsOwnProcess is no test of its own: TestTheServerEndsWithAKilledRun
// starts it as the process that is killed.
func TestStartInItsOwnProcess(t *testing.T) {
	command := os.Getenv("ARENA_TEST_COMMAND")
	if command == "" {
		t.Skip("run by TestTheServerEndsWithAKilledRun")
	}
	c, _ := config(t, command)
	c.Grace = 300 * time.Millisecond
	start(t, c)
	time.Sleep(10 * patience)
}

func TestTheServerEndsWithAKilledRun(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pgrep"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux, whose kernel signals the end of a parent to its children, and pgrep")
	}
	for name, command := range map[string]string{
		"obeys the signal": "X=1 sleep %[1]s",
		"ignores it":       "sh -c 'trap \"\" TERM; sleep %[1]s & sleep %[1]s'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := fmt.Sprintf("600.%d", time.Now().UnixNano())
			run := exec.Command(os.Args[0], "-test.run=TestStartInItsOwnProcess")
			run.Env = append(os.Environ(), "ARENA_TEST_COMMAND="+fmt.Sprintf(command, mark), "TMPDIR="+t.TempDir())
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			defer run.Wait()
			defer run.Process.Kill() // where the test fails before it does
			until(t, "the server begins", func() bool { return alive(t, mark) })
			if err := run.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			until(t, "the server ends", func() bool { return !alive(t, mark) })
		})
	}
}

func TestALogKeepsNoSecret(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("a1B2c3D4", 4) + "e5F6"
	c, _ := config(t, `sh -c 'echo args: api_key `+secret+`; printf "last: `+secret+`"'`)
	s := start(t, c)
	<-s.Ended()
	if words := s.Words(); strings.Contains(words[len(c.Command):], secret) {
		t.Errorf("got %q", words)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := logged(t, c); strings.Contains(got, secret) || !strings.Contains(got, "args: ") || !strings.Contains(got, "last: ") {
		t.Errorf("log %q", got)
	}
}

func TestAServerThatFloodsItsLog(t *testing.T) {
	t.Parallel()
	c, _ := config(t, `sh -c 'echo begin; head -c 40000000 /dev/zero; echo end'`)
	s := start(t, c)
	<-s.Ended()
	if !strings.Contains(s.Failure().Error(), "end") || !strings.HasSuffix(s.Words(), "end\n") {
		t.Error("the last words are lost")
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	got := logged(t, c)
	if len(got) > headBytes+2*tailBytes+100 || !strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, "end\n") || !strings.Contains(got, "left out here") {
		t.Errorf("a log of %d bytes, %q … %q", len(got), got[:20], got[len(got)-20:])
	}
}
