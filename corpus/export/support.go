package export

import (
	"context"
	_ "embed" // the check itself
	"maps"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// splits are those that have rows.
func (j *job) splits() []string {
	out := []string{}
	for _, c := range j.counts {
		if c.Rows > 0 {
			out = append(out, c.Split)
		}
	}
	return out
}

// files writes small files beside the shards, at fixed places.
func (j *job) files(content map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		f, err := corpus.NewPlace(j.part, name)
		if err == nil {
			_, err = f.Write(content[name])
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Preflight is a Python program that renders an export through chat templates
// and reads the tool calls back. Its arguments are the folder and the
// templates; it needs jinja2 and pyarrow.
//
//go:embed assets/preflight.py
var Preflight string

// copySink leaves the shards of a split as they are, where every row goes out
// as it is: nothing is encoded or compressed again. The rows are read and
// checked all the same. If one is unfit, all others are written anew.
type copySink struct {
	job   *job
	split string
	// longest is the longest row that was read.
	longest rows.Length
}

func (s *copySink) take(rows []row) error { return s.job.count.each(rows, s.add) }

func (s *copySink) add(r *row) error {
	s.longest.Raise(r.own().Length())
	s.job.count.Rows++
	return nil
}

func (s *copySink) close(ctx context.Context) error {
	if len(s.job.count.Dropped) > 0 {
		return s.rewrite(ctx)
	}
	stream := corpus.Stream{Config: s.job.profile.Name, Profile: s.job.profile.From, Split: s.split}
	for i, file := range s.job.feed.files(s.split) {
		if err := s.job.part.Copy(stream, i, filepath.Join(s.job.feed.dir, filepath.FromSlash(file.Path)), file, s.longest); err != nil {
			return err
		}
	}
	return nil
}

// rewrite reads the split once more and writes the rows that are fit, counting
// all anew.
func (s *copySink) rewrite(ctx context.Context) error {
	j := s.job
	out, err := j.profile.open(j, s.split)
	if err != nil {
		return err
	}
	j.count = j.newCount(s.split)
	// its own reading: others may close at the same time
	again := newFeed(j.feed.fs, j.feed.dir, j.feed.from, j.feed.source, j.opt)
	if err := again.batches(ctx, s.split, out.take); err != nil {
		return err
	}
	return out.close(ctx)
}
