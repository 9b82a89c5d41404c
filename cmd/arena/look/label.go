package look

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/judges/sample"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/report/label"
)

// The files in the folder of a sample: the page on which people label attempts, and the results of
// filter, judge and guard for these attempts.
const (
	labelPage  = "label.html"
	sampleFile = "sample.jsonl"
)

type labelFlags struct {
	streams *cli.Streams
	out     string
	n       int
	seed    uint64
}

// NewLabel returns `arena label`.
func NewLabel(s *cli.Streams) *cobra.Command {
	f := &labelFlags{streams: s}
	c := cli.Command("label CORPUS [DAY…] -o SAMPLE", "Draw attempts for people to label: is it right on my day?", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			return cli.ReadCorpus(c.Context(), args[0], func(fsys corpus.FS, dir string) error {
				return f.draw(c.Context(), fsys, dir, args[1:])
			})
		})
	c.Flags().IntVar(&f.n, "n", 200, "attempts to draw")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "another seed draws another sample")
	c.Flags().StringVarP(&f.out, "output", "o", "sample", "folder of the sample")
	cli.ReadsFiles(c)
	cli.Writes(c, "output")
	c.AddCommand(newLabelScore(s))
	return c
}

func (f *labelFlags) draw(
	ctx context.Context,
	fsys corpus.FS,
	dir string,
	days []string,
) error {
	if f.n < 1 {
		return cli.Usage(fmt.Errorf("--n is %d", f.n), "draw at least one attempt")
	}
	if entries, err := os.ReadDir(f.out); err == nil && len(entries) > 0 {
		return cli.Failed(fmt.Errorf("write %s: there is something in it already", f.out), "people may be labelling a sample there: give another -o")
	}
	l, err := attempt.Read(fsys, dir)
	if err != nil {
		return cli.CorpusError(fsys, dir, err)
	}
	drawn := sample.Draw(itemsOf(l), f.n, f.seed)
	if len(drawn) == 0 {
		return cli.Failed(errors.New("the corpus's ledger has no attempt to label"), "name a corpus that `arena build` made of a day with attempts")
	}
	shown, err := f.stories(ctx, l, dir, days, drawn)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, it := range drawn {
		if err = encoder.Encode(it); err != nil {
			return err
		}
	}
	page, err := label.Page(digest.SHA256(lines.Bytes()), shown)
	if err != nil {
		return err
	}
	err = cli.WriteFolder(f.out, func(dir string) error {
		writeErr := cli.WriteText(f.streams, filepath.Join(dir, labelPage), string(page))
		if writeErr != nil {
			return writeErr
		}
		return cli.WriteText(f.streams, filepath.Join(dir, sampleFile), lines.String())
	})
	if err != nil {
		return cli.DefaultHint(err, "give -o a folder that can be made")
	}
	fmt.Fprintf(
		f.streams.Err,
		"%d of %d attempts: open %s, then `arena label score %s labels.jsonl`\n",
		len(drawn),
		len(l.Lines),
		filepath.Join(f.out, labelPage),
		f.out,
	)
	return nil
}

func itemsOf(l *attempt.Ledger) (items []sample.Item) {
	for i, line := range l.Lines {
		a := line.Attempt
		if index, known := l.Find(a.TraceID); !known || index != i || line.Verdict == nil || a.RunID == "" || a.ProblemID == "" {
			continue
		}
		it := sample.Item{
			Run:     a.RunID,
			Problem: a.ProblemID,
			Axis:    line.Verdict.Axis,
		}
		if line.Judgement != nil {
			it.Score = line.Judgement.Score
		}
		if guarded := strings.HasPrefix(a.Reason, "leak_"); guarded || a.Fate == rows.FateKept || line.Place != nil {
			it.Leak = &guarded
		}
		items = append(items, it)
	}
	return items
}

func (f *labelFlags) stories(
	ctx context.Context,
	l *attempt.Ledger,
	dir string,
	named []string,
	drawn []sample.Item,
) ([]label.Attempt, error) {
	days, err := daysOf(ctx, f.streams, l, dir, named)
	if err != nil {
		return nil, err
	}
	shown := make([]label.Attempt, len(drawn))
	for i, it := range drawn {
		attempt, _ := l.Find(it.ID())
		a := l.Argue(attempt)
		if err := days.Tell(ctx, l, a); err != nil {
			return nil, err
		}
		if err := a.Clean(cli.WithoutSecrets); err != nil {
			return nil, err
		}
		shown[i] = label.Attempt{
			ID:      it.ID(),
			Run:     it.Run,
			Problem: it.Problem,
			Story:   a.Story,
		}
		if a.Story != nil {
			shown[i].Near = l.Nearest(a.Story.Query, nearest)
		}
	}
	return shown, nil
}

// nearest is the number of protected requests that are shown with an attempt, those most similar to
// its own request.
const nearest = 3
