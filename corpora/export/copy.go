package export

import (
	"path/filepath"

	"github.com/trajectory-arena/arena/corpora"
)

// copySink leaves the shards of a split as they are, where every row goes out
// as it is: nothing is encoded or compressed again. The rows are read and
// checked all the same. If one is unfit, all others are written anew.
type copySink struct {
	job   *job
	split string
}

func (s *copySink) add(*row) error {
	s.job.count.Rows++
	return nil
}

func (s *copySink) close() error {
	if len(s.job.count.Dropped) > 0 {
		return s.rewrite()
	}
	stream := corpora.Stream{Config: s.job.profile.Name, Profile: s.job.profile.From, Split: s.split}
	for i, file := range s.job.feed.files(s.split) {
		if err := s.job.part.Copy(stream, i, filepath.Join(s.job.feed.dir, filepath.FromSlash(file.Path)), file); err != nil {
			return err
		}
	}
	return nil
}

// rewrite reads the split once more and writes the rows that are fit.
func (s *copySink) rewrite() error {
	out, err := s.job.profile.open(s.job, s.split)
	if err != nil {
		return err
	}
	// its own reading: others may close at the same time
	again := feed{fs: s.job.feed.fs, dir: s.job.feed.dir, from: s.job.feed.from, source: s.job.feed.source, opt: s.job.opt}
	s.job.count.Rows = 0
	for _, file := range again.files(s.split) {
		err := again.each(file, func(r row) error {
			if r.unfit == nil {
				return out.add(&r)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return out.close()
}
