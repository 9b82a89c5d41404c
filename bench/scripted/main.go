// Command scripted serves a student that needs no model: it solves a stated
// share of the problems it is given, always the same ones. The closed loop of
// .ci/closed-loop runs against it, and whoever wants to try `arena eval` can.
//
//	go run ./bench/scripted -day testdata/day -listen 127.0.0.1:8000
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
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
	day := f.String("day", "testdata/day", "folder of problems.jsonl and catalog.jsonl, which the student knows")
	listen := f.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	dialect := f.String("dialect", "native", "how calls are written: native, oro, hermes or react")
	share := f.Float64("solves", 0.6, "share of the rollouts that succeed")
	latency := f.Duration("latency", 0, "time before every answer")
	if err := f.Parse(args); err != nil {
		return err
	}
	student, err := shopper(*day, *share)
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

func shopper(day string, share float64) (*script.Server, error) {
	file, err := os.Open(filepath.Join(day, "problems.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read problems: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	problems, err := arena.ReadProblems(file, longest)
	if err != nil {
		return nil, fmt.Errorf("read problems of %s: %w", day, err)
	}
	decoy, err := unwanted(filepath.Join(day, "catalog.jsonl"), problems)
	if err != nil {
		return nil, err
	}
	return &script.Server{Plan: script.Shopper(problems, decoy, share)}, nil
}

// longest bounds a line of the files that are read.
const longest = 64 << 20

// unwanted is the first product of a catalogue that no problem asks for.
func unwanted(catalog string, problems []arena.Problem) (arena.Product, error) {
	wanted := map[string]bool{}
	for _, p := range problems {
		for _, r := range p.Rewards {
			wanted[r.ProductID] = true
		}
	}
	file, err := os.Open(catalog)
	if err != nil {
		return arena.Product{}, fmt.Errorf("read catalogue: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		p, err := arena.ParseProduct(lines.Bytes())
		if err != nil {
			return p, fmt.Errorf("read catalogue %s: %w", catalog, err)
		}
		if !wanted[p.ID] {
			return p, nil
		}
	}
	return arena.Product{}, errors.Join(fmt.Errorf("read catalogue %s: every product is wanted", catalog), lines.Err())
}
