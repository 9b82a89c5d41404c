package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/preflight"
	"github.com/trajectory-arena/arena/student/serve"
	"github.com/trajectory-arena/arena/student/telemetry"
)

const (
	// preflightTries are those after the first of the one request before a run.
	preflightTries = 2
	// latecomers is how long the other endpoints are waited for when one has answered:
	// a run can begin without them.
	latecomers = 10 * time.Second
)

// preflight asks every endpoint once whether it will answer this run at all, and
// settles what a rollout must know of its server.
func (f *Flags) preflight(ctx context.Context, s *cli.Streams, run *student.Run, server *serve.Server) ([]telemetry.Identity, error) {
	found := make([]*preflight.Server, len(f.Asked.URLs))
	asking, late := context.WithCancel(ctx)
	defer late()
	var answered sync.Once
	var g errgroup.Group
	for i, base := range f.Asked.URLs {
		g.Go(func() error {
			one, err := f.askEndpoint(asking, s, run, base, server, i)
			if err == nil {
				answered.Do(func() { time.AfterFunc(latecomers, late) })
				found[i] = &one
			}
			if asking.Err() != nil && ctx.Err() == nil {
				return nil // a latecomer
			}
			return err
		})
	}
	err := g.Wait()
	if refused, is := errors.AsType[*preflight.Refusal](err); is {
		return nil, cli.Failed(err, refused.Hint)
	}
	if err != nil {
		return nil, err
	}
	var ids []telemetry.Identity
	for _, one := range found {
		if one != nil {
			ids = append(ids, one.Identity)
			settle(run, one)
		}
	}
	return ids, nil
}

func (f *Flags) askEndpoint(ctx context.Context, s *cli.Streams, run *student.Run, base string, server *serve.Server, i int) (preflight.Server, error) {
	c := f.endpointConfig()
	c.URLs, c.Concurrency, c.Retries, c.Patience = []string{base}, 1, min(f.Asked.Retries, preflightTries), 0
	c.Breaker.After = math.MaxInt // each look is a new one, however long nobody was there
	pool, err := model.NewPool(c)
	if err != nil {
		return preflight.Server{}, err
	}
	defer pool.Close()
	words := ""
	if server != nil && i == 0 {
		words = server.Words()
	}
	return preflight.Ask(ctx, preflight.Question{
		Base: base, Key: c.Key, Words: words, Model: f.Played.Model, Template: run.Environment.Template, Pool: pool, Patience: f.Asked.Patience,
		Waiting: func(words string) {
			fmt.Fprintf(s.Err, "waiting for %s for up to %s: %s\n", model.Address(base), f.Asked.Patience, words)
		},
	})
}

func settle(run *student.Run, s *preflight.Server) {
	e := run.Environment
	if s.Streamed {
		e.Template = e.Template.Streamed()
	}
	if n := s.MaxModelLen; n != nil && (e.Context == 0 || *n < e.Context) {
		e.Context = *n
	}
}

// keepIdentities adds to the run folder what servers say of themselves, behind what
// earlier commands found.
func (f *Flags) keepIdentities(ids []telemetry.Identity) ([]telemetry.Identity, error) {
	path := filepath.Join(f.Out, student.ServersFile)
	var all []telemetry.Identity
	// A file that is not there yet, or that a killed process left half written,
	// begins anew: nothing depends on it.
	if b, err := os.ReadFile(path); err != nil || json.Unmarshal(b, &all) != nil {
		all = nil
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(old telemetry.Identity) bool { return reflect.DeepEqual(old, id) }) {
			all = append(all, id)
		}
	}
	return all, student.WriteJSON(path, all)
}
