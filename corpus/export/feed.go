package export

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/inorder"
)

// batchBytes is about how much of a corpus's rows is handed on at a time: as a
// rule one row group, with room for what a format adds to its rows.
const batchBytes = 8 << 20

// feed reads the rows of one source profile and gives them to several exports:
// what all of them need is done once a row.
type feed struct {
	fs   corpus.FS
	dir  string
	from *corpus.Manifest
	// source is the profile of the rows that are read.
	source string
	jobs   []*job
	// fitters are those that wait for a batch.
	fitters chan *fitter
	// redacted counts the placeholders of the open split.
	redacted redact.Counts
}

func newFeed(fsys corpus.FS, dir string, from *corpus.Manifest, source string, opt *Options) *feed {
	f := &feed{fs: fsys, dir: dir, from: from, source: source, fitters: make(chan *fitter, sideBySide())}
	for range cap(f.fitters) {
		worker := &fitter{opt: opt}
		if opt.Counter != nil {
			worker.counter = opt.Counter()
		}
		f.fitters <- worker
	}
	return f
}

// sideBySide bounds the batches of one kind of work that are under way at once:
// one reader keeps no more than a few goroutines busy, and each holds a batch.
func sideBySide() int { return min(4, runtime.GOMAXPROCS(0)) }

// ahead is how many batches of a profile are encoded at once: the profiles of a
// reading share them, for each holds its own memory.
func (f *feed) ahead() int { return max(1, sideBySide()/len(f.jobs)) }

// run exports both splits to every job.
func (f *feed) run(ctx context.Context) error {
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		if err := f.split(ctx, split); err != nil {
			return err
		}
	}
	for _, j := range f.jobs {
		if err := j.finish(); err != nil {
			return err
		}
	}
	return nil
}

// split reads a split once. Every job takes all batches in their order, each in
// a goroutine of its own.
func (f *feed) split(ctx context.Context, split string) error {
	f.redacted = redact.Counts{}
	group, reading := errgroup.WithContext(ctx)
	lines := make([]chan []row, len(f.jobs))
	for i, j := range f.jobs {
		if err := j.open(split); err != nil {
			return fmt.Errorf("export %s: %w", j.profile.Name, err)
		}
		lines[i] = make(chan []row, 1)
		group.Go(func() error {
			for batch := range lines[i] {
				if err := j.take(batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		err := f.batches(reading, split, func(batch []row) error { // to each of the lines
			for _, line := range lines {
				select {
				case line <- batch:
				case <-reading.Done():
					return reading.Err()
				}
			}
			return nil
		})
		for _, line := range lines {
			close(line)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	closing, ctx := errgroup.WithContext(ctx)
	for _, j := range f.jobs {
		closing.Go(func() error { return j.close(ctx, f.redacted) })
	}
	return closing.Wait()
}

// batches visits the rows of a split in their order, made ready by several
// goroutines. As many batches wait as are worked on.
func (f *feed) batches(ctx context.Context, split string, visit func([]row) error) error {
	through := inorder.Stream[[]row, fitted]{
		Workers: cap(f.fitters), MaxWeight: 2 * int64(cap(f.fitters)),
		Read: func(_ context.Context, emit func([]row, int64) error) error {
			return f.raw(split, func(rows []row) error { return emit(rows, 1) })
		},
		Work: func(_ context.Context, rows []row) (fitted, error) {
			worker := <-f.fitters
			defer func() { f.fitters <- worker }()
			return worker.batch(rows)
		},
		Take: func(batch fitted) error {
			f.redacted.Add(batch.redacted)
			return visit(batch.rows)
		},
	}
	return through.Run(ctx)
}

// raw visits the rows of a split as they are. Where batches end depends on the
// rows alone: each becomes row groups of its own.
func (f *feed) raw(split string, visit func([]row) error) error {
	var batch []row
	size := 0
	for _, file := range f.files(split) {
		err := f.each(file, func(r row) error {
			batch, size = append(batch, r), size+r.size()
			if size < batchBytes {
				return nil
			}
			whole := batch
			batch, size = nil, 0
			return visit(whole)
		})
		if err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return visit(batch)
}

// files are the shards of a split that the rows are read from.
func (f *feed) files(split string) []corpus.FileEntry {
	return slices.DeleteFunc(slices.Clone(f.from.Files), func(file corpus.FileEntry) bool {
		return file.Profile != f.source || file.Split != split || corpus.Derived(file.Config)
	})
}

// each reads the rows of a shard.
func (f *feed) each(file corpus.FileEntry, visit func(row) error) error {
	path := filepath.Join(f.dir, filepath.FromSlash(file.Path))
	switch f.source {
	case corpus.ProfileVerlRL:
		return corpus.Rows(f.fs, path, func(r *rows.RL) error { return visit(row{rl: r}) })
	case corpus.ProfilePref:
		return corpus.Rows(f.fs, path, func(r *rows.Pref) error { return visit(row{pref: r}) })
	case corpus.ProfileKTO:
		return corpus.Rows(f.fs, path, func(r *rows.KTO) error { return visit(row{kto: r}) })
	default:
		return corpus.Rows(f.fs, path, func(r *rows.SFT) error { return visit(row{sft: r}) })
	}
}

// size is about what a row takes in a file before compression, in bytes.
func (r *row) size() int {
	said := func(lists ...[]rows.Msg) (n int) {
		for _, m := range slices.Concat(lists...) {
			n += len(m.Content)
		}
		return n
	}
	switch {
	case r.sft != nil:
		n := 0
		for _, m := range r.sft.Messages {
			n += len(m)
		}
		return n
	case r.pref != nil:
		return said(r.pref.Prompt, r.pref.Chosen, r.pref.Rejected)
	case r.kto != nil:
		return said(r.kto.Prompt, r.kto.Completion)
	default:
		return said(r.rl.Prompt) + len(r.rl.Tools)
	}
}
