package audit

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/traces"
)

type leakScan struct {
	guard    *guard.Guard
	members  *guard.Members
	tier     *guard.EmbeddingTier
	report   *guard.Report
	files    rowFiles
	onlySame int
	workers  int
	// batch holds the rows that were read and not yet checked, at most leakBatch.
	batch []guard.Candidate
}

// rowFiles reads the training rows in which `arena leak` searches for protected problems, from
// several files or standard input.
type rowFiles struct {
	stdin    io.Reader
	progress *cli.Display
	// lineBytes is the maximum length of a line.
	lineBytes int
}

func newRowFiles(s *cli.Streams, quiet bool, records *cli.RecordLimit) rowFiles {
	return rowFiles{
		stdin:     s.In,
		progress:  cli.Verbosity{Quiet: quiet}.Progress(s),
		lineBytes: int(records.Limit(traces.DefaultLimits()).LineBytes),
	}
}

// leakLine is a line of the output of `arena leak`, which searches training rows for problems that
// are kept for evaluation. Its format is documented and must not change.
type leakLine struct {
	ID         string  `json:"id"`
	TextSHA256 string  `json:"text_sha256"`
	Match      *string `json:"match"`
	Drop       bool    `json:"drop"`
	Same       bool    `json:"same"`
	Score      float64 `json:"score"`
	Tier       *string `json:"tier"`
	Evidence   string  `json:"evidence"`
	// Problems are all protected problems that a row to be dropped belongs to, Match first.
	Problems []string `json:"problems"`
}

func (l *leakScan) paths(
	ctx context.Context,
	w io.Writer,
	paths []string,
) error {
	out := asjson.NewEncoder(w)
	read := 0
	err := l.files.each("leak", paths, func(row rows.Row) error {
		read++
		return l.row(ctx, out, row)
	})
	if err != nil {
		return cli.Failed(err, "rows need id and one of text, query, problem or messages")
	}
	if read == 0 {
		return cli.Failed(errors.New("no candidates: the input holds no row"), "give JSON lines, a JSON array, Parquet or a corpus folder")
	}
	return l.flush(ctx, out)
}

func (f *rowFiles) each(stage string, paths []string, yield func(rows.Row) error) error {
	var files []string
	for _, path := range paths {
		in := []string{path}
		if path != "-" {
			var err error
			if in, err = rows.Files(path); err != nil {
				return err
			}
		}
		files = append(files, in...)
	}
	f.progress.Kind = "rows"
	f.progress.Begin(stage, len(files))
	for _, file := range files {
		if err := f.eachRow(file, yield); err != nil {
			return err
		}
	}
	return nil
}

func (f *rowFiles) eachRow(file string, yield func(rows.Row) error) error {
	counted := func(row rows.Row) error {
		f.progress.Attempt()
		return yield(row)
	}
	if file == "-" {
		return rows.EachInStream(f.stdin, "stdin", f.lineBytes, counted)
	}
	if err := rows.EachWithin(file, f.lineBytes, counted); err != nil {
		return err
	}
	size := int64(0)
	if info, err := os.Stat(file); err == nil { // it was read: only its size is asked for
		size = info.Size()
	}
	f.progress.Finished(size)
	return nil
}

// leakBatch is the number of rows in a batch of `arena leak`. The rows of a batch are checked for
// protected problems in parallel, and their embeddings are requested together.
const leakBatch = 512

func (l *leakScan) row(
	ctx context.Context,
	out *json.Encoder,
	row rows.Row,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := guard.ReadCandidate(row)
	if err != nil {
		return err
	}
	l.batch = append(l.batch, c)
	if len(l.batch) >= leakBatch {
		return l.flush(ctx, out)
	}
	return nil
}

func (l *leakScan) check(ctx context.Context) ([]guard.Finding, error) {
	findings := make([]guard.Finding, len(l.batch))
	var wg sync.WaitGroup
	for w := range l.workers {
		wg.Go(func() {
			for i := w; i < len(l.batch); i += l.workers {
				findings[i] = l.guard.Check(l.batch[i])
			}
		})
	}
	wg.Wait()
	if l.tier == nil {
		return findings, nil
	}
	if err := l.tier.Check(ctx, l.batch, findings); err != nil {
		return nil, cli.Failed(err, "is the endpoint up?")
	}
	if err := l.tier.Down(); err != nil {
		l.report.NotRun = "embedding, from some row on: " + err.Error()
	}
	return findings, nil
}

func (l *leakScan) flush(ctx context.Context, out *json.Encoder) error {
	findings, err := l.check(ctx)
	if err != nil {
		return err
	}
	for i, c := range l.batch {
		f := findings[i]
		if f.Drop && f.Same {
			l.onlySame++
		}
		problems := l.members.Problems(c, f)
		if len(problems) > 0 {
			f.Match = problems[0]
		}
		l.report.Add(c.ID, f)
		err := out.Encode(leakLine{
			ID: cli.WithoutSecrets(c.ID), TextSHA256: digest.SHA256([]byte(c.Text)), Match: orNull(cli.WithoutSecrets(f.Match)), Drop: f.Drop, Same: f.Same,
			Score: f.Score, Tier: orNull(string(f.Tier)), Evidence: cli.WithoutSecrets(f.Evidence),
			Problems: append([]string{}, slicesx.Map(problems, cli.WithoutSecrets)...),
		})
		if err != nil {
			return err
		}
	}
	l.batch = l.batch[:0]
	return nil
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
