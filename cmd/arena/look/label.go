package look

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/judges/sample"
	"github.com/trajectory-arena/arena/pipeline/public"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/report/label"
)

// The files in the folder of a sample: the page on which people label attempts, and the results
// of filter, judge and guard for these attempts.
const (
	labelPage  = "label.html"
	sampleFile = "sample.jsonl"
)

type labelFlags struct {
	streams *cli.Streams
	out     string
	n       int
	seed    uint64
	// heldOut draws attempts at protected problems too, and shows protected requests.
	heldOut bool
	records cli.RecordLimit
}

// NewLabel returns the command `arena label`.
func NewLabel(s *cli.Streams) *cobra.Command {
	f := &labelFlags{streams: s}
	c := cli.Command("label CORPUS [DAY…] -o SAMPLE", "Draw attempts for people to label, to measure the instruments on a day", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			return cli.ReadCorpus(c.Context(), args[0], func(fsys corpus.FS, dir string) error {
				return f.draw(c.Context(), fsys, dir, args[1:])
			})
		})
	flags := c.Flags()
	flags.IntVar(&f.n, "n", 200, "attempts to draw; at least two of each combination of results are drawn")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the draw")
	flags.BoolVar(&f.heldOut, "with-held-out", false, "draw attempts at protected problems too, and show the nearest protected requests: whoever sees the page learns them")
	flags.StringVarP(&f.out, "output", "o", "sample", "folder of the sample")
	f.records.Register(c)
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
	if entries, err := os.ReadDir(f.out); len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.Failed(fmt.Errorf("write %s: there is something in it already", f.out), "people may be labelling a sample there: give another -o")
	}
	l, closed, err := f.read(fsys, dir)
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
	for i := range shown {
		if closed != nil && isClosed(closed, shown[i].Story) {
			shown[i].Story = nil
		}
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
	if err = f.write(page, lines.String()); err != nil {
		return err
	}
	f.streams.Notef(
		"%d of %d attempts: open %s, then `arena label score %s labels.jsonl`\n",
		len(drawn),
		len(l.Lines),
		filepath.Join(f.out, labelPage),
		f.out,
	)
	return nil
}

// read reads the ledger (the tables about all attempts) of the corpus in dir. Unless
// --with-held-out is set, it removes attempts at protected problems (problems kept for evaluation)
// from the ledger. closed then finds these problems in texts; otherwise it is nil.
func (f *labelFlags) read(fsys corpus.FS, dir string) (l *attempt.Ledger, closed *public.Closed, err error) {
	if l, err = attempt.Read(fsys, dir); err != nil || f.heldOut {
		return l, nil, err
	}
	if closed, err = public.ReadClosed(fsys, dir, nil); err != nil {
		return nil, nil, err
	}
	l.Keep(func(i int) bool { return !closed.Holds(l.Lines[i].Attempt.Cluster) })
	return l, closed, nil
}

// write writes the files of a sample to label to a new folder: page, the HTML page on which a
// person labels the attempts, and lines, the attempts as JSON lines.
func (f *labelFlags) write(page []byte, lines string) error {
	err := cli.WriteFolder(f.out, func(dir string) error {
		err := cli.WriteText(f.streams, filepath.Join(dir, labelPage), string(page))
		if err != nil {
			return err
		}
		return cli.WriteText(f.streams, filepath.Join(dir, sampleFile), lines)
	})
	return cli.DefaultHint(err, "give -o a folder that can be made")
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
			it.OneIn = line.Judgement.OneIn
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
	days, err := daysOf(ctx, f.streams, l, dir, named, &f.records)
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

// isClosed reports whether a story (the view of one attempt) must not be shown, since it reveals a
// protected problem, which is kept for evaluation. What customer and model wrote must not contain
// its request, also reworded, or the id or title of its item. Results of tools must not contain the
// request; they may contain ids and titles, since every search shows them.
func isClosed(closed *public.Closed, s *attempt.Story) bool {
	if s == nil {
		return false
	}
	texts := ownTexts(s)
	whole, err := json.Marshal(s)
	return err != nil || closed.Find(strings.Join(texts, "\n")) != "" || closed.Asks(string(whole), texts)
}

// ownTexts returns the system prompt of an attempt and what customer and model wrote, with the arguments
// of calls. It leaves out the results of tools, which show everything that a search found.
func ownTexts(s *attempt.Story) []string {
	texts := []string{s.System, s.Query}
	for _, t := range s.Turns {
		texts = append(texts, t.User, t.Think, t.Text)
		for _, c := range t.Calls {
			texts = append(texts, c.Arguments)
		}
	}
	return texts
}

// nearest is the number of protected requests that are shown with an attempt, those most similar to
// its own request.
const nearest = 3
