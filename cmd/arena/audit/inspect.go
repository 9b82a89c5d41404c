package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/variety"
)

// NewInspect returns `arena inspect`.
func NewInspect(s *cli.Streams) *cobra.Command {
	head := 2
	expr := ""
	c := cli.Command("inspect FILE.parquet|CORPUS…", "Show schema, row groups, counts and the first rows, or compare corpora", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, args []string) error {
			chosen, err := cli.ParseWhere(expr)
			if err != nil {
				return err
			}
			if len(args) > 1 {
				return compareCorpora(c.Context(), s, args)
			}
			folder, file, err := splitParquetPath(args[0])
			if err != nil {
				return err
			}
			if file != "" && chosen != nil {
				return cli.Misuse("--where selects by the ledger of a corpus, and a file has none", "name the folder of the corpus")
			}
			return cli.ReadCorpus(c.Context(), folder, func(fsys corpus.FS, dir string) error {
				switch {
				case file != "":
					return inspectFile(s, fsys, filepath.Join(dir, file), head)
				case chosen != nil:
					return inspectWhere(c.Context(), s, fsys, dir, chosen, head)
				}
				m, err := corpus.ReadManifest(fsys, dir)
				if err != nil {
					return cli.CorpusError(fsys, dir, err)
				}
				m.Describe(s.Out)
				return nil
			})
		})
	c.Flags().IntVar(&head, "head", head, "rows to show")
	c.Flags().StringVar(&expr, "where", "", "count the attempts of a corpus's ledger that satisfy this expression, and name the first")
	cli.ReadsFiles(c)
	return c
}

// compareCorpora prints the figures of several corpora side by side.
func compareCorpora(ctx context.Context, s *cli.Streams, names []string) error {
	var samples []*variety.Sample
	for _, name := range names {
		err := cli.ReadCorpus(ctx, name, func(fsys corpus.FS, dir string) error {
			sample, err := finish.ReadVariety(fsys, dir)
			if err != nil {
				return cli.CorpusError(fsys, dir, err)
			}
			samples = append(samples, sample)
			return nil
		})
		if err != nil {
			return err
		}
	}
	_, err := io.WriteString(s.Out, variety.Table(slicesx.Map(names, filepath.Base), samples))
	return err
}

// splitParquetPath splits the path or URL of a Parquet file into its folder and file name. For a
// corpus folder, it returns the folder and an empty file. In a bucket, a name counts as a file if
// it ends in .parquet.
func splitParquetPath(name string) (folder, file string, err error) {
	if bucket.IsURL(name) {
		if folder, file, err = bucket.Split(name); err != nil || strings.HasSuffix(file, ".parquet") {
			return folder, file, err
		}
		return name, "", nil
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return filepath.Dir(name), filepath.Base(name), nil
	}
	return name, "", nil
}

func inspectWhere(
	ctx context.Context,
	s *cli.Streams,
	fsys corpus.FS,
	dir string,
	expr *where.Expr,
	head int,
) error {
	chosen, err := where.Select(ctx, fsys, dir, expr)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "%d attempts\n", chosen.Len())
	for i, id := range chosen.Sessions() {
		if i == head {
			break
		}
		fmt.Fprintln(s.Out, id)
	}
	return nil
}

func inspectFile(
	s *cli.Streams,
	fsys corpus.FS,
	path string,
	head int,
) error {
	if err := corpus.Inspect(fsys, path, head, s.Out); err != nil {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return err
		case !strings.HasSuffix(path, ".parquet"):
			return cli.Failed(err, "inspect reads Parquet files and corpus folders")
		default:
			return cli.Failed(err, "the file is broken or was cut off")
		}
	}
	return nil
}
