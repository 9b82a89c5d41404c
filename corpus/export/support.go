package export

import (
	"context"
	_ "embed" // for Preflight
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// splits returns the names of the finished splits that have at least one row, such as ["train",
// "eval"].
func (j *job) splits() []string {
	out := []string{}
	for _, c := range j.counts {
		if c.Rows > 0 {
			out = append(out, c.Split)
		}
	}
	return out
}

// writeFiles writes additional files of the profile, given as contents by path in the corpus.
func (j *job) writeFiles(files map[string][]byte) error {
	for _, name := range slicesx.SortedKeys(files) {
		f, err := corpus.NewPlace(j.part, name)
		if err != nil {
			return err
		}
		if _, err = f.Write(files[name]); err != nil {
			return err
		}
		if err = f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Preflight is a Python program that renders an export with chat templates and parses
// the tool calls in the result. Its arguments are the folder and the templates. It needs
// jinja2 and pyarrow.
//
//go:embed assets/preflight.py
var Preflight string

// copySink exports a split by copying its files, so that nothing is encoded or compressed again.
// It is used if every row is exported unchanged. It still checks all rows. If a row cannot be
// exported, the other rows are written to new files instead.
type copySink struct {
	job     *job
	split   string
	longest rows.Length
}

func (s *copySink) write(batch []row) error { return s.job.count.addRows(batch, s.add) }

func (s *copySink) add(r *row) error {
	s.longest.Raise(r.source().Length())
	s.job.count.Rows++
	return nil
}

func (s *copySink) close(ctx context.Context) error {
	j := s.job
	if len(j.count.Dropped) > 0 {
		return s.rewrite(ctx)
	}
	stream := corpus.Stream{
		Config:  j.profile.Name,
		Profile: j.profile.Source,
		Split:   s.split,
	}
	for i, file := range j.feed.shards(s.split) {
		path := filepath.Join(j.feed.dir, filepath.FromSlash(file.Path))
		if err := j.part.Copy(stream, i, path, file, s.longest); err != nil {
			return err
		}
	}
	return nil
}

// rewrite reads the split once more and writes the rows that can be exported to new files.
func (s *copySink) rewrite(ctx context.Context) error {
	j := s.job
	out, err := j.profile.open(j, s.split)
	if err != nil {
		return err
	}
	j.count = j.newCount(s.split)
	// Other sinks may close at the same time and read with a feed of their own.
	f := newFeed(
		j.feed.fs,
		j.feed.dir,
		j.feed.manifest,
		j.feed.source,
		j.opt,
	)
	if err := f.visitBatches(ctx, s.split, out.write); err != nil {
		return err
	}
	return out.close(ctx)
}
