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

// batchBytes is the approximate size in bytes of a batch of rows. A batch usually becomes one row
// group of a Parquet file, whose limit is larger because some formats add text to rows.
const batchBytes = 8 << 20

// feed reads the rows of one profile (format) of the corpus for several exports, so that rows are
// read and prepared only once.
type feed struct {
	fs       corpus.FS
	dir      string
	manifest *corpus.Manifest
	// source is the profile of the rows that are read.
	source string
	jobs   []*job
	// fitters are the idle fitters, which prepare rows.
	fitters chan *fitter
	// redacted counts the placeholders in the rows of the current split.
	redacted redact.Counts
}

func newFeed(
	fsys corpus.FS,
	dir string,
	m *corpus.Manifest,
	source string,
	opt *Options,
) *feed {
	f := &feed{
		fs:       fsys,
		dir:      dir,
		manifest: m,
		source:   source,
		fitters:  make(chan *fitter, maxWorkers()),
	}
	for range cap(f.fitters) {
		worker := &fitter{opt: opt}
		if opt.Counter != nil {
			worker.counter = opt.Counter()
		}
		f.fitters <- worker
	}
	return f
}

// maxWorkers returns the number of batches that are prepared at the same time: the number of
// processors, at most 4. A single reader cannot keep more busy, and each batch needs memory.
func maxWorkers() int { return min(4, runtime.GOMAXPROCS(0)) }

// maxPending returns the number of batches that a profile may encode at the same time. The
// profiles of one feed share the workers, because each batch needs memory.
func (f *feed) maxPending() int { return max(1, maxWorkers()/len(f.jobs)) }

// run reads the train split and then the eval split once, and passes the rows to every job (the
// export to one format). At the end it finishes the jobs.
func (f *feed) run(ctx context.Context) error {
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		if err := f.exportSplit(ctx, split); err != nil {
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

// exportSplit reads the rows of the split in the feed's profile and passes all of them to every job,
// in order. Each job writes in its own goroutine.
func (f *feed) exportSplit(ctx context.Context, split string) error {
	f.redacted = redact.Counts{}
	group, readCtx := errgroup.WithContext(ctx)
	queues := make([]chan []row, len(f.jobs))
	for i, j := range f.jobs {
		if err := j.open(split); err != nil {
			return fmt.Errorf("export %s: %w", j.profile.Name, err)
		}
		queue := make(chan []row, 1)
		queues[i] = queue
		group.Go(func() error {
			for batch := range queue {
				if err := j.write(batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		return f.sendBatches(readCtx, split, queues)
	})
	if err := group.Wait(); err != nil {
		return err
	}

	closing, ctx := errgroup.WithContext(ctx)
	for _, j := range f.jobs {
		closing.Go(func() error {
			return j.close(ctx, f.redacted)
		})
	}
	return closing.Wait()
}

// sendBatches reads the rows of a split in batches and sends each batch to every queue, one queue
// per exported profile. It closes the queues at the end, also after an error.
func (f *feed) sendBatches(
	ctx context.Context,
	split string,
	queues []chan []row,
) error {
	defer func() {
		for _, queue := range queues {
			close(queue)
		}
	}()
	return f.visitBatches(ctx, split, func(batch []row) error {
		for _, queue := range queues {
			select {
			case queue <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
}

// visitBatches calls visit with the rows of a split in batches, in order. The batches are
// redacted, decoded and checked in parallel before. The number of batches in memory is limited.
func (f *feed) visitBatches(
	ctx context.Context,
	split string,
	visit func([]row) error,
) error {
	stream := inorder.Stream[[]row, fitted]{
		Workers: cap(f.fitters), MaxWeight: 2 * int64(cap(f.fitters)),
		Read: func(_ context.Context, emit func([]row, int64) error) error {
			return f.readBatches(split, func(rows []row) error {
				return emit(rows, 1)
			})
		},
		Work: func(_ context.Context, rows []row) (fitted, error) {
			worker := <-f.fitters
			defer func() { f.fitters <- worker }()
			return worker.fitBatch(rows)
		},
		Take: func(batch fitted) error {
			f.redacted.Add(batch.redacted)
			return visit(batch.rows)
		},
	}
	return stream.Run(ctx)
}

// readBatches reads the rows of a split from the corpus and calls visit with batches of about
// batchBytes. Where a batch ends depends only on the rows, so that the written files, with one or
// more row groups per batch, are always the same.
func (f *feed) readBatches(split string, visit func([]row) error) error {
	var batch []row
	size := 0
	for _, file := range f.shards(split) {
		err := f.readShard(file, func(r row) error {
			batch = append(batch, r)
			size += r.size()
			if size < batchBytes {
				return nil
			}
			full := batch
			batch = nil
			size = 0
			return visit(full)
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

// shards returns the files of a split from which the export reads: those whose rows have the
// profile (format) f.source. Configs of single turns are omitted, since they repeat the rows of
// other configs.
func (f *feed) shards(split string) []corpus.FileEntry {
	return slices.DeleteFunc(slices.Clone(f.manifest.Files), func(file corpus.FileEntry) bool {
		return file.Profile != f.source || file.Split != split || corpus.IsDerived(file.Config)
	})
}

// readShard calls visit with each row of a file.
func (f *feed) readShard(file corpus.FileEntry, visit func(row) error) error {
	path := filepath.Join(f.dir, filepath.FromSlash(file.Path))
	switch f.source {
	case corpus.ProfileVerlRL:
		return corpus.ReadRows(f.fs, path, func(r *rows.RL) error {
			return visit(row{rl: r})
		})
	case corpus.ProfilePref:
		return corpus.ReadRows(f.fs, path, func(r *rows.Pref) error {
			return visit(row{pref: r})
		})
	case corpus.ProfileKTO:
		return corpus.ReadRows(f.fs, path, func(r *rows.KTO) error {
			return visit(row{kto: r})
		})
	default:
		return corpus.ReadRows(f.fs, path, func(r *rows.SFT) error {
			return visit(row{sft: r})
		})
	}
}

// size returns the approximate size of a row in bytes before compression.
func (r *row) size() int {
	switch {
	case r.sft != nil:
		n := 0
		for _, m := range r.sft.Messages {
			n += len(m)
		}
		return n
	case r.pref != nil:
		return contentBytes(r.pref.Prompt, r.pref.Chosen, r.pref.Rejected)
	case r.kto != nil:
		return contentBytes(r.kto.Prompt, r.kto.Completion)
	default:
		return contentBytes(r.rl.Prompt) + len(r.rl.Tools)
	}
}

// contentBytes returns the total length in bytes of the contents of all messages in the dialogues.
func contentBytes(dialogues ...[]rows.Msg) int {
	n := 0
	for _, messages := range dialogues {
		for _, m := range messages {
			n += len(m.Content)
		}
	}
	return n
}
