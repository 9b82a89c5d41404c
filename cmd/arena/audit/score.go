package audit

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

type scoreFlags struct {
	cli.DayFlags
	problems []string
	catalogs []string
	titles   instrument.Embeddings
}

// NewScore returns `arena score`.
func NewScore(s *cli.Streams) *cobra.Command {
	f := scoreFlags{}
	c := cli.Command("score DAY…", "Score attempts by the subnet's own outcome rules", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, days []string) error {
			return f.run(c.Context(), s, days)
		})
	cli.Files(c, &f.problems, "problems", "problems instead of the day's problems.jsonl")
	cli.Files(c, &f.catalogs, "catalog", "catalogue instead of the day's catalog.jsonl")
	f.Register(c, runtime.NumCPU(), "workers")
	f.Noisy.Flags(c)
	f.titles.Flags(c, instrument.Titles)
	return c
}

func (f *scoreFlags) run(
	ctx context.Context,
	s *cli.Streams,
	days []string,
) error {
	titles, err := f.titles.Titles()
	if err != nil {
		return err
	}
	r := &scoreRun{
		Scan: cli.Scan{
			DayFlags: &f.DayFlags,
			Name:     "score",
			Streams:  s,
			Limits:   traces.DefaultLimits(),
		},
		flags: f,
	}
	return r.lines(ctx, days, titles)
}

type scoreRun struct {
	cli.Scan
	flags  *scoreFlags
	day    *pipeline.Day
	scorer *outcome.Scorer
}

type scored struct {
	line    []byte
	outcome arena.Outcome
}

func (r *scoreRun) lines(
	ctx context.Context,
	days []string,
	titles outcome.Titles,
) error {
	if err := r.open(ctx, days, titles); err != nil {
		return err
	}
	defer r.day.Close() //nolint:errcheck // only read
	return r.Write(func(w io.Writer) error {
		attempts, bad := cli.ScanAttempts(ctx, &r.Scan, r.day.Inputs, r.attempt)
		if bad != nil {
			return bad
		}
		if bad = r.summary(attempts); bad != nil {
			return bad
		}
		for _, a := range attempts {
			if _, bad = w.Write(a.line); bad != nil {
				return fmt.Errorf("write scores: %w", bad)
			}
		}
		return nil
	})
}

func (r *scoreRun) open(
	ctx context.Context,
	days []string,
	titles outcome.Titles,
) error {
	days, err := r.Streams.LocalDays(ctx, days)
	if err != nil {
		return err
	}
	spool, err := r.Streams.Temporary("arena-spool-")
	if err != nil {
		return err
	}
	r.day, err = pipeline.OpenDay(ctx, pipeline.Sources{
		Days:       days,
		Problems:   r.flags.problems,
		Catalogs:   r.flags.catalogs,
		Stdin:      r.Streams.In,
		Spool:      spool,
		Limits:     r.Options().Limits,
		AnyNetwork: true,
	})
	if err != nil {
		return err
	}
	cli.WarnIf(r.Streams.Err, outcome.Missing(r.day.Problems.All, &r.day.Catalog))
	r.scorer = outcome.New(&r.day.Catalog, titles)
	return nil
}

func (r *scoreRun) score(ctx context.Context, t *arena.Trace) (arena.Outcome, error) {
	return r.scorer.Score(
		ctx,
		t,
		r.day.Problems.Get(r.day.Problems.IndexOf(t)),
	)
}

func (r *scoreRun) attempt(ctx context.Context, t *arena.Trace) (scored, error) {
	o, err := r.score(ctx, t)
	if err != nil {
		return scored{}, cli.Failed(err, "titles could not be embedded: start the endpoint, or score without --embeddings")
	}
	o.Error = cli.WithoutSecrets(o.Error)
	line := append(outcome.AppendLine(nil, cli.NamesOf(t), o), '\n')
	return scored{line, o}, nil
}

func (r *scoreRun) summary(attempts []scored) error {
	unscored := 0
	solved := 0
	titles := map[arena.TitleSource]int{}
	for _, a := range attempts {
		titles[a.outcome.Titles]++
		if !a.outcome.Scored() {
			unscored++
		} else if a.outcome.Success {
			solved++
		}
	}
	return r.Report(len(attempts), "%d attempts: %d scored (%d solved), %d without a score; titles: %d by vectors, %d by endpoint, %d left out\n",
		len(attempts), len(attempts)-unscored, solved, unscored, titles[arena.TitlesVectors], titles[arena.TitlesEndpoint], titles[arena.TitlesNone])
}
