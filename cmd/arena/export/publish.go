package export

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/pipeline/public"
)

type publishFlags struct {
	public.Publication
	target      cli.Target
	destination string
	dryRun      bool
	quiet       bool
}

// NewPublish returns `arena publish`.
func NewPublish(s *cli.Streams) *cobra.Command {
	var f publishFlags
	c := cli.Command("publish CORPUS -o PUBLIC", "Write the public part of a corpus, and upload it", cli.NumArgs(1, 1),
		func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, args[0])
		})
	f.target.Replacing(c)
	flags := c.Flags()
	flags.StringVar(&f.destination, "to", "", "upload it there: hf://owner/name, s3://bucket/folder or another bucket")
	flags.BoolVar(&f.WithEval, "with-eval", false, "publish the eval split too: whoever has it can train on the problems on which students are evaluated")
	cli.Files(c, &f.HeldOut, "held-out", "further problems, beside those of the corpus's bank, that may not occur in it; may be repeated")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be published; write and upload nothing")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no counts")
	cli.ReadsFiles(c)
	return c
}

func (f *publishFlags) run(
	ctx context.Context,
	s *cli.Streams,
	corpusDir string,
) (err error) {
	dataset, isHub, err := f.parseDestination()
	if err != nil {
		return err
	}
	if err = f.setDir(s); err != nil {
		return err
	}
	done, err := f.target.Acquire(ctx, s)
	if err != nil {
		return err
	}
	if !done {
		if err = f.publish(ctx, s, corpusDir); err != nil {
			return err
		}
	}

	switch {
	case f.dryRun:
		return f.printFiles(s)
	case isHub: // an upload that was stopped goes on
		return upload(ctx, s, dataset, f.target.Dir)
	case done:
		return nil
	}
	return f.target.Publish(ctx)
}

// publish writes the public version of the corpus in corpusDir into the folder of the target, and
// prints for each config and split how many of the rows it contains.
func (f *publishFlags) publish(ctx context.Context, s *cli.Streams, corpusDir string) (err error) {
	if f.Corpus, err = s.Path(ctx, corpusDir); err != nil {
		return err
	}

	cli.LimitHeap(cli.HeapLimit)
	f.Target = f.target.FinishTarget(f.target.Dir)
	counts, err := f.Run(ctx)
	if !f.quiet {
		for _, c := range counts {
			s.Notef(
				"%-6s %-6s %8d of %8d rows  %s\n",
				c.Config,
				c.Split,
				c.Rows,
				c.In,
				corpus.FormatCounts(c.Left),
			)
		}
	}
	return cli.CorpusError(corpus.Disk{}, f.Corpus, err)
}

// parseDestination checks the flags -o and --to, which name where to publish. If --to is a dataset
// of the Hugging Face Hub, such as hf://owner/name, it returns owner/name and isHub is true. If
// --to is a bucket, it sets f.target to the bucket.
func (f *publishFlags) parseDestination() (dataset string, isHub bool, err error) {
	if f.target.Name == "" && f.destination == "" && !f.dryRun {
		return "", false, cli.Misuse(
			"nowhere to publish to",
			"give -o FOLDER, or --to hf://owner/name",
		)
	}

	dataset, isHub = strings.CutPrefix(f.destination, "hf://")
	badURL := f.destination != "" && !bucket.IsURL(f.destination)
	badName := isHub && !hubName.MatchString(dataset)
	if badURL || badName {
		return "", false, cli.Usage(
			fmt.Errorf("--to is %q", f.destination),
			"hf://owner/name or s3://bucket/folder; -o writes a folder",
		)
	}
	if f.destination == "" || isHub {
		return dataset, isHub, nil
	}

	if f.target.Name != "" {
		return "", false, cli.Misuse(
			"-o and --to name two places",
			"a bucket is one of them",
		)
	}
	f.target.Name = f.destination
	return "", false, nil
}

// printFiles prints the size and path of each file that would be published.
func (f *publishFlags) printFiles(s *cli.Streams) error {
	m, err := corpus.ReadManifest(corpus.Disk{}, f.target.Dir)
	if err != nil {
		return err
	}
	for _, file := range m.Files {
		s.Notef("%10d %s\n", file.Bytes, file.Path)
	}
	return nil
}

var hubName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$`)

// upload runs the Hub's own program to upload a folder to a dataset in one commit. Files that the
// dataset already has are not sent again, and its other files are deleted.
func upload(
	ctx context.Context,
	s *cli.Streams,
	dataset, dir string,
) error {
	c := exec.CommandContext(ctx, "hf", "upload", dataset, dir, ".", "--repo-type", "dataset", "--delete", "*", "--commit-message", "Upload a corpus by arena")
	c.Stdout = s.Err
	c.Stderr = s.Err
	if err := c.Run(); err != nil {
		return cli.Failed(fmt.Errorf("upload to hf://%s: %w", dataset, err), "it takes the program hf (pip install huggingface_hub) and HF_TOKEN; the same command goes on where this one ended")
	}
	return nil
}

// setDir sets the folder in which the corpus is written: the target, or a temporary folder if there
// is no target or nothing is to be published.
func (f *publishFlags) setDir(s *cli.Streams) error {
	if f.target.Name == "" || f.dryRun {
		dir, err := s.Temporary("arena-publish-")
		if err != nil {
			return err
		}
		f.target.Name = filepath.Join(dir, "public")
	}
	return f.target.Stage(s)
}
