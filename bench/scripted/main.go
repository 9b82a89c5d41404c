// Command scripted serves a student that needs no model: it solves a stated
// share of the problems it is given, always the same ones. The closed loop of
// .ci/closed-loop runs against it, and whoever wants to try `arena eval` can.
//
//	go run ./bench/scripted -problems testdata/day/problems.jsonl -listen 127.0.0.1:8000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1) //nolint:forbidigo // this is a main of its own
	}
}

// run serves until ctx ends. It prints its base URL as soon as it answers.
func run(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("scripted", flag.ContinueOnError)
	path := f.String("problems", "testdata/day/problems.jsonl", "problems that the student knows")
	listen := f.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	dialect := f.String("dialect", "native", "how calls are written: native, oro, hermes or react")
	share := f.Float64("solves", 0.6, "share of the rollouts that succeed")
	latency := f.Duration("latency", 0, "time before every answer")
	if err := f.Parse(args); err != nil {
		return err
	}
	student, err := shopper(*path, *share)
	if err != nil {
		return err
	}
	student.Dialect, student.Latency = *dialect, *latency
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(out, "http://%s/v1\n", l.Addr())
	const headerTime = 10 * time.Second
	web := &http.Server{Handler: student, ReadHeaderTimeout: headerTime}
	context.AfterFunc(ctx, func() { _ = web.Close() }) // its error is Serve's
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func shopper(path string, share float64) (*script.Server, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read problems: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	const longest = 64 << 20
	problems, err := arena.ReadProblems(file, longest)
	if err != nil {
		return nil, fmt.Errorf("read problems %s: %w", path, err)
	}
	return &script.Server{Plan: script.Shopper(problems, share)}, nil
}
