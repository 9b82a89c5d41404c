package look

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/build"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/report/site"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/comparison"
	"github.com/trajectory-arena/arena/traces"
)

type viewFlags struct {
	out     string
	door    cli.Door
	token   string
	dropped int
	workers int
	public  bool
	appeal  string
	embargo []string
	heldOut []string
	streams *cli.Streams
	records cli.RecordLimit
}

// NewView returns the command `arena view`.
func NewView(s *cli.Streams) *cobra.Command {
	f := &viewFlags{streams: s, workers: runtime.NumCPU()}
	c := cli.Command("view CORPUS|RUN|DAY… [-o SITE]", "Show days and runs as pages: from each figure to its attempts, from each attempt to its reasons", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), args)
		})
	flags := c.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "folder to write the pages to, instead of serving them")
	f.door.Add(c, "127.0.0.1:0", "ARENA_VIEW_TOKEN")
	flags.IntVar(&f.dropped, "traces", 20, "number of dropped attempts with a dialogue for each reason, in pages that are written")
	flags.BoolVar(&f.public, "public", false, "pages that may be shown to others: nothing protected, no agent under embargo")
	flags.StringVar(&f.appeal, "appeal", "", "write one attempt, RUN/PROBLEM, as a page that may be shown to others")
	flags.StringArrayVar(&f.embargo, "embargo", nil, "with --public: agent, by hotkey or version, that is not shown; may be repeated")
	cli.Files(c, &f.heldOut, "held-out", "with --public: further protected problems, beside those of the corpus's bank; may be repeated")
	cli.Jobs(c, &f.workers, "inputs read at once")
	f.records.Register(c)
	cli.ReadsFiles(c)
	cli.Replaces(c, "output")
	return c
}

func (f *viewFlags) run(ctx context.Context, args []string) (err error) {
	f.public = f.public || f.appeal != ""
	if f.out == "" && f.appeal == "" {
		if f.token, err = f.door.Token(); err != nil {
			return err
		}
	}
	if err = f.outside(); err != nil {
		return err
	}
	corpora, runs, days, err := f.splitByKind(args)
	if err != nil {
		return err
	}
	isDraft := len(corpora)+len(runs) == 0
	if isDraft {
		corpusDir, err := f.buildCorpus(ctx, days)
		if err != nil {
			return err
		}
		corpora = []string{corpusDir}
	}
	pages := &site.Site{Runs: runs}
	if len(runs) > 1 {
		dirs := slicesx.Map(runs, func(r *site.Run) string {
			return r.Dir
		})
		comparisons, err := comparison.Compare(dirs, comparison.Options{Anyway: true})
		if err != nil {
			return cli.Failed(err, cli.RunHint)
		}
		pages.Comparisons = comparisons
	}
	if f.public && (len(corpora) != 1 || len(runs) > 0) {
		return cli.Misuse("what is shown outside is of one corpus", "name one CORPUS, or the DAY alone; arena publish makes corpora for outside")
	}
	for _, dir := range corpora {
		c, err := f.corpus(ctx, dir, days)
		if err != nil {
			return err
		}
		pages.Corpora = append(pages.Corpora, c)
	}
	var writeErr error
	switch {
	case f.appeal != "":
		writeErr = f.page(ctx, pages.Corpora[0])
	case f.out != "":
		writeErr = f.write(ctx, pages)
	default:
		return f.serve(ctx, pages)
	}
	if writeErr != nil || !isDraft {
		return writeErr
	}
	return checkRead(pages.Corpora[0].Ledger.Manifest)
}

// checkRead returns an error if more records of a day than a build allows could not be read. m is
// the manifest of the day's corpus.
func checkRead(m *corpus.Manifest) error {
	share := m.Funnel[0].Unreadable
	if share <= traces.DefaultMaxUnreadable {
		return nil
	}
	return cli.Limit(
		fmt.Errorf("%w: %.2f %% of the records: at most %.4g %% are allowed", traces.ErrUnreadable, 100*share, 100*traces.DefaultMaxUnreadable),
		"the pages show the rest; `arena filter DAY -o -` says of each record why it was not read",
	)
}

func (f *viewFlags) corpus(
	ctx context.Context,
	dir string,
	days []string,
) (*site.Corpus, error) {
	l, err := attempt.Read(corpus.Disk{}, dir)
	if err != nil {
		return nil, cli.CorpusError(corpus.Disk{}, dir, err)
	}
	c := &site.Corpus{
		Name:    filepath.Base(filepath.Clean(dir)),
		Ledger:  l,
		Clean:   cli.WithoutSecrets,
		Workers: f.workers,
	}
	if c.Days, err = daysOf(ctx, f.streams, l, dir, days, &f.records); err != nil || !f.public {
		return c, err
	}
	return c, f.redacted(c, dir)
}

// buildCorpus builds a corpus from the days (folders of traces) with the default configuration, so
// that they can be viewed without a build before. It returns the corpus folder, which has the first
// day's name and is removed when the command ends.
func (f *viewFlags) buildCorpus(ctx context.Context, days []string) (string, error) {
	dir, err := f.streams.Temporary("arena-view-")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, filepath.Base(filepath.Clean(days[0])))
	return dir, build.Draft(ctx, f.streams, dir, days, f.records)
}

// splitByKind splits command line arguments by the content of their folders: corpora (with
// manifest.json), evaluation runs (of this program or of other harnesses), and days, which are
// folders of traces. Any other argument counts as a day.
func (f *viewFlags) splitByKind(args []string) (corpora []string, runs []*site.Run, days []string, _ error) {
	args, err := student.Opened(args, f.streams.Temporary)
	if err != nil {
		return nil, nil, nil, cli.Failed(err, cli.RunHint)
	}
	for _, arg := range args {
		if _, err := os.Stat(filepath.Join(arg, "manifest.json")); err == nil {
			corpora = append(corpora, arg)
		} else if spec, err := student.ReadFinished(arg); err == nil && spec.Schema == student.SpecSchema {
			runs = append(runs, &site.Run{
				Name:  filepath.Base(filepath.Clean(arg)),
				Dir:   arg,
				Clean: cli.WithoutSecrets,
			})
		} else {
			days = append(days, arg)
		}
	}
	return corpora, runs, days, nil
}

// write writes the pages to the folder in --output. It first writes them to a temporary folder,
// which is moved there when it is complete.
func (f *viewFlags) write(ctx context.Context, pages *site.Site) error {
	if err := replaceable(f.out); err != nil {
		return err
	}
	var files, bytes atomic.Int64
	err := cli.WriteFolder(f.out, func(dir string) error {
		return pages.Write(ctx, f.dropped, func(name string, content []byte) error {
			if err := f.checkNoSecrets(pages, name, content); err != nil {
				return err
			}
			files.Add(1)
			bytes.Add(int64(len(content)))
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			return os.WriteFile(path, content, 0o644)
		})
	})
	if err != nil {
		return err
	}
	f.streams.Notef(
		"%s: %d files, %.1f MB; open %s\n",
		f.out,
		files.Load(),
		float64(bytes.Load())/1e6,
		filepath.Join(f.out, "index.html"),
	)
	return nil
}

// replaceable returns an error unless the folder does not exist, is empty, or has pages and nothing
// beside them, since all of it is deleted.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "data", "site.js"))
	}
	if err != nil {
		return cli.Failed(fmt.Errorf("write %s: it is there and holds no pages of arena view", dir), "give -o a new folder")
	}
	return corpus.VisitUnlisted(corpus.Disk{}, dir, ".", map[string]bool{"data": true}, func(name string) error {
		if site.IsAsset(name) {
			return nil
		}
		return fmt.Errorf("write %s: %s is no page, and %w", dir, name, corpus.ErrUnlisted)
	})
}

func (f *viewFlags) serve(ctx context.Context, pages *site.Site) error {
	for k, c := range pages.Corpora {
		c.All = true
		go func() {
			_, _ = pages.File(ctx, fmt.Sprintf("data/%d/day.js", k))
		}() // every page asks for it
	}
	return f.door.Serve(ctx, f.streams, "pages", cli.WithToken(handler(pages), f.token))
}

func handler(pages *site.Site) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		b, err := pages.File(r.Context(), name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			http.NotFound(w, r)
		case err != nil:
			http.Error(w, cli.WithoutSecrets(err.Error()), http.StatusInternalServerError)
		default:
			head := w.Header()
			head.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			head.Set("X-Content-Type-Options", "nosniff")
			head.Set("Cross-Origin-Resource-Policy", "same-origin")
			head.Set("Cache-Control", "no-store")
			_, _ = w.Write(b) // a browser that left is no failure
		}
	})
}
