package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/preflight"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/serve"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// serveGrace is the time that a model server has to stop before it is killed.
const serveGrace = 20 * time.Second

func (f *Flags) startServer(ctx context.Context, s *cli.Streams) (*serve.Server, error) {
	base := f.Asked.URLs[0]
	log := filepath.Join(f.Out, student.ServerLog)
	server, err := serve.Start(serve.Config{
		Command: f.serve, LogPath: log, Base: base, Key: os.Getenv(f.keyEnv),
		Ready: f.serveReady, Grace: serveGrace,
		Waiting: func() {
			s.Notef("waiting for the server of --serve to answer at %s, for up to %s (--serve-timeout); it writes to %s\n", model.PublicURL(base), f.serveReady, log)
		},
	})
	if err != nil {
		return nil, cli.Failed(err, "give the server another port, or evaluate the one that listens without --serve")
	}
	if err = server.Wait(ctx); err != nil {
		err = errors.Join(err, server.Stop())
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, cli.Failed(err, "the server must answer at --endpoint within --serve-timeout")
	}
	return server, nil
}

// untilServerEnds returns a context that is cancelled when the server ends, with the server's
// failure as cause. server may be nil.
func untilServerEnds(ctx context.Context, server *serve.Server) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if server != nil {
		go func() {
			select {
			case <-server.Ended():
				cancel(server.Failure())
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// served sends requests to a model server that this command started. If a request fails because the
// server has ended, it returns context.Canceled: all rollouts stop, the next command continues
// them, and none counts as an infrastructure error.
type served struct {
	rollout.Model
	server *serve.Server
}

// reaping is the time for which a failed request waits to learn whether the server has ended. It is
// usually known much sooner, but a machine without free memory is slow, and only requests that
// failed anyway wait.
const reaping = 5 * time.Second

func (s served) Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error) {
	reply, body, err := s.Model.Chat(ctx, request)
	infra, lost := errors.AsType[*model.Fault](err)
	if !lost || strings.HasPrefix(infra.Reason, "http_") {
		return reply, body, err
	}
	select {
	case <-s.server.Ended():
		return reply, nil, context.Canceled
	case <-time.After(reaping):
		return reply, body, err
	}
}

// checkSearchServer returns an error if the server at the URL of --search does not know the search
// request. The evaluated model would otherwise see each error as an empty list of products. A
// server that is down or busy is accepted.
func (f *Flags) checkSearchServer(ctx context.Context) error {
	if f.Played.Search == "" {
		return nil
	}
	const path = "/find_product"
	question := python.DictOf(python.Item{
		Key:   "q",
		Value: python.String("a"),
	}, python.Item{
		Key:   "page",
		Value: python.String("1"),
	})
	_, status, _ := shop.NewRemote(f.Played.Search, os.Getenv(shopTokenEnv)).Get(ctx, path, question)
	if status < http.StatusBadRequest || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return nil
	}
	return cli.Usage(fmt.Errorf("ask the search server: %s%s is answered with status %d", f.Played.Search, path, status), "--search is the URL before /find_product, such as that of arena shop serve")
}

const (
	// preflightTries is the number of retries of the request that is sent to each endpoint before a
	// run.
	preflightTries = 2
	// latecomers is how long a run waits for its other model servers after the first has answered. It
	// can begin without them.
	latecomers = 10 * time.Second
)

// preflight sends one conversation to every endpoint to check that it can serve the run. It adapts
// the run to the limits of the servers that answered, and returns their descriptions.
func (f *Flags) preflight(
	ctx context.Context,
	s *cli.Streams,
	run *student.Run,
	server *serve.Server,
) ([]telemetry.Identity, error) {
	servers := make([]*preflight.Server, len(f.Asked.URLs))
	asking, late := context.WithCancel(ctx)
	defer late()
	var answered sync.Once
	var g errgroup.Group
	for i, base := range f.Asked.URLs {
		g.Go(func() error {
			one, err := f.askEndpoint(asking, s, run, base, server, i)
			if err == nil {
				answered.Do(func() { time.AfterFunc(latecomers, late) })
				servers[i] = &one
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
	for _, one := range servers {
		if one != nil {
			ids = append(ids, one.Identity)
			if one.ToolsUnseen {
				s.Notef("arena: %s shows the tools to no model: by its count, a prompt has as many tokens with them as without. Start it with a chat template that has tools, or have them written into the prompt: --dialect hermes\n", one.Endpoint)
			}
			settle(run, one)
		}
	}
	return ids, nil
}

func (f *Flags) askEndpoint(
	ctx context.Context,
	s *cli.Streams,
	run *student.Run,
	base string,
	server *serve.Server,
	i int,
) (preflight.Server, error) {
	c := f.endpointConfig()
	c.URLs, c.Concurrency, c.Retries, c.Patience = []string{base}, 1, min(f.Asked.Retries, preflightTries), 0
	c.Breaker.After = math.MaxInt // every try is sent, however often the endpoint failed before
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
			s.Notef("waiting for %s to answer, for up to %s (--wait-for-server): %s\n", model.PublicURL(base), f.Asked.Patience, words)
		},
	})
}

func settle(run *student.Run, s *preflight.Server) {
	e := run.Environment
	if s.Streamed {
		e.Template = e.Template.Streaming()
	}
	if s.CompletionLimit {
		e.Template = e.Template.CompletionLimit()
	}
	e.Refuse(s.Returned)
	if n := s.MaxModelLen; n != nil && (e.Context == 0 || *n < e.Context) {
		e.Context = *n
	}
}

// keepIdentities adds the servers' descriptions of themselves to the file in the run folder, and
// returns them with those of earlier commands. Each description is stored once.
func (f *Flags) keepIdentities(ids []telemetry.Identity) ([]telemetry.Identity, error) {
	path := filepath.Join(f.Out, student.ServersFile)
	var identities []telemetry.Identity
	// A file that is missing, or that a killed process wrote in part, is written again.
	if b, err := os.ReadFile(path); err != nil || json.Unmarshal(b, &identities) != nil {
		identities = nil
	}
	for _, id := range ids {
		if !slices.ContainsFunc(identities, func(old telemetry.Identity) bool { return reflect.DeepEqual(old, id) }) {
			identities = append(identities, id)
		}
	}
	return identities, student.WriteJSON(path, identities)
}
