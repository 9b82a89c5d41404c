package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

// scoreRun scores the attempts of days.
type scoreRun struct {
	flags   *scoreFlags
	streams *cli.Streams
	catalog outcome.Catalog
	suite   *arena.Suite
	scorer  *outcome.Scorer
	// sum is what became of all attempts.
	sum scorePart
}

// scorePart is what became of some attempts: their lines, in order, and counts.
type scorePart struct {
	lines                    []byte
	scored, unscored, solved int
	titles                   map[arena.TitleSource]int
	unread                   cli.Unread
}

func (r *scoreRun) lines(ctx context.Context, days []string, titles outcome.Titles) error {
	defer r.catalog.Close() //nolint:errcheck // only read
	days, removeCopies, err := cli.LocalDays(ctx, days)
	defer removeCopies()
	if err != nil {
		return err
	}
	inputs, cleanUp, err := cli.DayInputs(ctx, r.streams, days)
	defer cleanUp()
	if err != nil {
		return err
	}
	if err = r.open(days, titles); err != nil {
		return err
	}
	err = cli.WriteWhole(r.streams, r.flags.out, func(w io.Writer) error {
		if err = r.score(ctx, inputs); err != nil {
			return err
		}
		if err = r.check(); err != nil {
			return err
		}
		if _, err = w.Write(r.sum.lines); err != nil {
			return fmt.Errorf("write scores: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.sum.unread.Within(r.flags.reading.MaxUnreadable)
}

// open reads problems and catalogues.
func (r *scoreRun) open(days []string, titles outcome.Titles) error {
	var problems []arena.Problem
	err := eachFile(r.flags.problems, days, "problems", func(path string) error {
		more, err := readProblems(path)
		problems = append(problems, more...)
		return err
	})
	if err != nil {
		return err
	}
	err = eachFile(r.flags.catalogs, days, "catalog", func(path string) error { return r.catalog.Open(path, maxDocumentBytes) })
	r.suite, r.scorer = arena.NewSuite(problems), outcome.New(&r.catalog, titles)
	return err
}

func readProblems(path string) ([]arena.Problem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return arena.ReadProblems(f, maxProblemBytes)
}

// The longest lines of the two files. Problems with vectors are about 40 KB,
// catalogue documents about 10 KB; a line of a thousand times that is no such
// line.
const (
	maxProblemBytes  = 64 << 20
	maxDocumentBytes = 16 << 20
)

// eachFile reads the files named by flag, or those of that name in the days.
func eachFile(named, days []string, flag string, read func(path string) error) error {
	paths := named
	if len(named) == 0 {
		for _, day := range days {
			paths = append(paths, traces.Beside(day, traces.Table(flag))...)
		}
	}
	if len(paths) == 0 {
		return cli.Usage(fmt.Errorf("no %s.jsonl in the day", flag), "name one with --"+flag)
	}
	for _, path := range paths {
		if err := read(path); err != nil {
			return cli.Failed(fmt.Errorf("%s: %w", path, err), "--"+flag+" names JSON lines; docs/outcome.md says what they need")
		}
	}
	return nil
}

// score fills the sum.
func (r *scoreRun) score(ctx context.Context, inputs []traces.Input) error {
	r.sum.titles = map[arena.TitleSource]int{}
	progress := r.flags.noisy.Progress(r.streams)
	defer progress.Done()
	progress.Begin("score", len(inputs))
	return pipeline.Inputs(ctx, inputs, r.flags.workers, func(ctx context.Context, in *traces.Input) (*scorePart, error) {
		defer progress.Finished(in.Bytes)
		return r.input(ctx, in, progress)
	}, r.sum.join)
}

func (r *scoreRun) input(ctx context.Context, in *traces.Input, progress *cli.Display) (*scorePart, error) {
	part := &scorePart{titles: map[arena.TitleSource]int{}}
	opt := traces.Defaults()
	opt.RunID = r.flags.reading.RunID
	return part, part.unread.Read(ctx, in, opt, func(t *arena.Trace) error {
		progress.Attempt()
		return r.attempt(ctx, part, t)
	})
}

// join adds a later part.
func (s *scorePart) join(p *scorePart) error {
	s.lines = append(s.lines, p.lines...)
	s.scored, s.unscored, s.solved = s.scored+p.scored, s.unscored+p.unscored, s.solved+p.solved
	s.unread.Join(p.unread)
	for source, n := range p.titles {
		s.titles[source] += n
	}
	return nil
}

func (r *scoreRun) attempt(ctx context.Context, part *scorePart, t *arena.Trace) error {
	p, _ := r.suite.Find(t)
	o, err := r.scorer.Score(ctx, t, p)
	if err != nil {
		return cli.Failed(err, "titles could not be embedded: start the endpoint, or score without --embeddings")
	}
	o.Error = cli.WithoutSecrets(o.Error)
	part.lines = append(outcome.AppendLine(part.lines, cli.NamesOf(t), o), '\n')
	part.titles[o.Titles]++
	switch {
	case o.Scores == nil:
		part.unscored++
	case o.Success:
		part.solved++
		fallthrough
	default:
		part.scored++
	}
	return nil
}

// check says what was scored and what was not read, and refuses a day without
// attempts.
func (r *scoreRun) check() error {
	sum := &r.sum
	sum.unread.Warn(r.streams.Err)
	if !r.flags.noisy.Quiet {
		fmt.Fprintf(r.streams.Err, "%d attempts: %d scored (%d solved), %d without a score; titles: %d by vectors, %d by endpoint, %d left out\n",
			sum.scored+sum.unscored, sum.scored, sum.solved, sum.unscored,
			sum.titles[arena.TitlesVectors], sum.titles[arena.TitlesEndpoint], sum.titles[arena.TitlesNone])
		sum.unread.Tell(r.streams.Err)
	}
	if sum.scored+sum.unscored == 0 {
		return cli.Failed(errors.New("no attempt could be read"), "`arena score --help` says what a DAY is")
	}
	return nil
}
