package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/corpus/hub"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/public"
)

// publishFlags are the flags of `arena publish`.
type publishFlags struct {
	out      string
	to       string
	card     cli.CardFlags
	heldOut  []string
	withEval bool
	dryRun   bool
	force    bool
	quiet    bool
}

// NewPublish makes `arena publish`.
func NewPublish(s *cli.Streams) *cobra.Command {
	var f publishFlags
	c := &cobra.Command{
		Use:   "publish CORPUS -o PUBLIC",
		Short: "Make of a corpus what may leave the house, and upload it",
		Long: `Writes the public half of a corpus: its train split with the ledger of these
attempts, a card and a manifest of its own. The bank, the reports, the eval split
and every row in which a protected request, id or title stands, in results of
tools too, stay at home. Formats of other trainers are made of it by arena export.

--to hf://owner/name uploads it to the Hugging Face Hub (HF_TOKEN, HF_ENDPOINT), all
of it in one commit; --to s3://bucket/folder to a bucket. The same command goes on
where an upload was stopped. Who needs proof runs arena verify --public.`,
		Example: `  arena build testdata/day -o out
  arena publish out -o public --license cc-by-4.0
  arena verify public --public --held-out out`,
		Args: cli.Takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), s, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "folder of the public corpus, or the URL of one in a bucket")
	c.Flags().StringVar(&f.to, "to", "", "upload it there: hf://owner/name, s3://bucket/folder or another bucket")
	c.Flags().BoolVar(&f.withEval, "with-eval", false, "publish the eval split too: whoever has it can train on what students are evaluated on")
	c.Flags().StringArrayVar(&f.heldOut, "held-out", nil, "problems that may not stand in it beside those of the corpus's bank; may be repeated")
	f.card.Register(c)
	c.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "say what would be published; write and upload nothing")
	c.Flags().BoolVar(&f.force, "force", false, "replace a corpus that is already there")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no counts")
	cli.ReadsFiles(c)
	cli.Reads(c, "held-out")
	cli.Replaces(c, "output")
	return c
}

func (f *publishFlags) run(ctx context.Context, s *cli.Streams, from string) (err error) {
	if f.out == "" && f.to == "" && !f.dryRun {
		return cli.Usage(errors.New("nowhere to publish to"), "give -o FOLDER, or --to hf://owner/name")
	}
	if err = f.card.Check(); err != nil {
		return err
	}
	upload, err := f.uploader()
	if err != nil {
		return err
	}
	out, discard, err := f.output()
	defer discard()
	if err != nil {
		return err
	}
	release, err := out.Take(ctx, f.force)
	if err != nil {
		return err
	}
	defer release()
	paths, cleanUp, err := cli.Local(ctx, []string{from})
	defer cleanUp()
	if err != nil {
		return err
	}
	cli.LimitHeap()
	p := public.Publication{Corpus: paths[0], WithEval: f.withEval, HeldOut: f.heldOut,
		Target: finish.Target{FS: corpus.Disk{}, Out: out.Dir, Version: cli.Version(), License: f.card.License}}
	counts, err := p.Run(ctx)
	if !f.quiet {
		for _, c := range counts {
			fmt.Fprintf(s.Err, "%-6s %-6s %8d of %8d rows  %s\n", c.Config, c.Split, c.Rows, c.In, corpus.Tallies(c.Left))
		}
	}
	if err != nil {
		return publishError(err)
	}
	if f.dryRun {
		return f.forecast(s, out.Dir)
	}
	if err = out.Publish(ctx); err != nil || upload == nil {
		return err
	}
	return upload(ctx, out.Dir)
}

// output is where the corpus is made: a folder for temporary files where it is not
// kept.
func (f *publishFlags) output() (cli.Output, func(), error) {
	if f.out != "" && !f.dryRun {
		return cli.StagedOutput(f.out)
	}
	dir, err := os.MkdirTemp("", "arena-publish-")
	discard := func() { os.RemoveAll(dir) } //nolint:errcheck // a folder that stays behind is the system's to clear
	if err != nil {
		return cli.Output{}, discard, fmt.Errorf("create a folder to publish from: %w", err)
	}
	return cli.Output{Dir: dir + "/public"}, discard, nil
}

// uploader is what brings the finished corpus to its place; nil for nothing.
func (f *publishFlags) uploader() (func(ctx context.Context, dir string) error, error) {
	switch {
	case f.to == "":
		return nil, nil
	case !bucket.IsURL(f.to):
		return nil, cli.Usage(fmt.Errorf("--to is %q", f.to), "hf://owner/name or s3://bucket/folder; -o writes a folder")
	case !strings.HasPrefix(f.to, hub.Scheme):
		to, err := cli.NewOutput(f.to, "")
		return func(ctx context.Context, dir string) error {
			to.Dir = dir
			if err := to.Free(ctx, f.force); err != nil {
				return err
			}
			return to.Publish(ctx)
		}, err
	}
	d, err := hub.Open(f.to, os.Getenv("HF_ENDPOINT"), os.Getenv("HF_TOKEN"))
	if err != nil {
		return nil, cli.Usage(err, "write it as hf://owner/name")
	}
	return func(ctx context.Context, dir string) error {
		if err := d.Upload(ctx, corpus.Disk{}, dir); err != nil {
			return cli.Failed(fmt.Errorf("upload to %s: %w", f.to, err), "HF_TOKEN must be a token that may write; the same command goes on where this one ended")
		}
		return nil
	}, nil
}

// forecast names what would be uploaded.
func (f *publishFlags) forecast(s *cli.Streams, dir string) error {
	m, err := corpus.ReadManifest(corpus.Disk{}, dir)
	if err != nil {
		return err
	}
	for _, file := range m.Files {
		fmt.Fprintf(s.Err, "%10d %s\n", file.Bytes, file.Path)
	}
	return nil
}

func publishError(err error) error {
	switch told := cli.NotProtected(err); {
	case told != nil:
		return told
	case errors.Is(err, public.ErrFormats):
		return cli.Usage(err, "publish the corpus that it was made from, and export the public one")
	case errors.Is(err, public.ErrExposed):
		return cli.Limit(err, "nothing was published")
	case errors.Is(err, choose.ErrEmpty):
		return cli.Failed(err, "the counts above say why rows stay at home")
	default:
		return cli.Failed(err, cli.NoCorpus)
	}
}
