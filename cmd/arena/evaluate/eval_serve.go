package evaluate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/serve"
)

// serveGrace is how long a model server may take to stop before it is killed.
const serveGrace = 20 * time.Second

func (f *Flags) startServer(ctx context.Context) (*serve.Server, error) {
	server, err := serve.Start(serve.Config{
		Command: f.serve, LogPath: filepath.Join(f.Out, student.ServerLog), Base: f.Asked.URLs[0], Key: os.Getenv(f.keyEnv),
		Ready: f.serveReady, Grace: serveGrace,
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

// whileServed is a context that ends when the server does, with its failure
// as the cause.
func whileServed(ctx context.Context, server *serve.Server) (context.Context, context.CancelCauseFunc) {
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

// served asks a server that this command started. Where that has ended no
// rollout is to blame: all stop where they are, for the next command to go on
// with, and none is infra.
type served struct {
	rollout.Asker
	server *serve.Server
}

// reaping is how long the end of a server may take to be known after its
// connections break: far longer than it does, as a machine whose memory has run
// out is slow, and only what is lost anyway waits for it.
const reaping = 5 * time.Second

func (s served) Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error) {
	reply, body, err := s.Asker.Chat(ctx, request)
	infra, lost := errors.AsType[*model.Fault](err)
	if !lost || strings.HasPrefix(infra.Reason, "http_") {
		return reply, body, err
	}
	timer := time.NewTimer(reaping)
	defer timer.Stop()
	select {
	case <-s.server.Ended():
		return reply, nil, context.Canceled
	case <-timer.C:
		return reply, body, err
	}
}

// asksASearchServer refuses a URL at which another server answers: a student's
// client would read that as nothing found. One that is down or busy may come back.
func (f *Flags) asksASearchServer(ctx context.Context) error {
	if f.Played.Search == "" {
		return nil
	}
	const path = "/find_product"
	question := python.DictOf(python.Item{Key: "q", Value: python.String("a")}, python.Item{Key: "page", Value: python.String("1")})
	_, status, _ := shop.NewRemote(f.Played.Search).Get(ctx, path, question)
	if status < http.StatusBadRequest || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return nil
	}
	return cli.Usage(fmt.Errorf("ask the search server: %s%s is answered with status %d", f.Played.Search, path, status), "--search is the URL before /find_product, such as that of arena shop serve")
}
