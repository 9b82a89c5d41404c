package shuffle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/staging"
)

// Job is work in rounds. A round writes records of streams from the records of earlier rounds, and
// works on each partition once.
//
// A round has one or several pieces, each with the same share of the partitions. The records of a
// single piece are in memory or in a temporary file. Several pieces are finished files in a folder
// that any number of processes share: a process locks a piece that is not there and makes it. So a
// killed process loses the piece that it was making, and another process makes it.
type Job struct {
	FS   corpus.FS
	Area *staging.Area
	// Dir is the folder of the finished pieces.
	Dir     string
	Pieces  int
	Workers int
	// Limit is the maximum size in bytes of the records that a round keeps in memory.
	Limit int
	// IsDone reports whether another process has finished the job, if there are several pieces.
	IsDone func() bool

	stores []*Store
}

// ErrDone is returned if another process has finished the job.
var ErrDone = errors.New("another process has finished")

// A process that waits for the pieces of others asks after minPoll, and each time after twice as
// long, at most maxPoll: in a bucket, each question is several requests.
const (
	minPoll = 20 * time.Millisecond
	maxPoll = time.Second
)

// Work writes the records of one partition to out. Several workers call it at once.
type Work = func(ctx context.Context, part int, out *Store) error

// Round runs a round. Later rounds read its records by Records.
func (j *Job) Round(ctx context.Context, name string, work Work) error {
	fill := func(piece int, out *Store) error {
		err := inorder.Each(ctx, j.Workers, Partitions, func(ctx context.Context, part int) error {
			if part*j.Pieces/Partitions != piece { // a range, since inputs are in each so many-th partition
				return nil
			}
			return work(ctx, part, out)
		})
		return cmp.Or(err, out.err)
	}
	if j.Pieces == 1 {
		out := New(j.FS, filepath.Join(j.Area.Dir, name), j.Limit)
		err := fill(0, out)
		if err == nil {
			err = out.release()
		}
		j.stores = append(j.stores, out) // after fill, which reads the others
		return err
	}
	stores := make([]*Store, j.Pieces)
	// processes without common locks begin with different pieces
	first := int(xxh3.HashString(j.Area.Dir) % uint64(j.Pieces)) //nolint:gosec // at most Partitions
	for pause := minPoll; ; pause = min(2*pause, maxPoll) {
		isWaiting := true
		for k := range stores {
			piece := (first + k) % j.Pieces
			if stores[piece] != nil {
				continue
			}
			var err error
			stores[piece], err = j.piece(ctx, fmt.Sprintf("%s-%d", name, piece), func(out *Store) error {
				return fill(piece, out)
			})
			if err != nil {
				return err
			}
			isWaiting = isWaiting && stores[piece] == nil
		}
		if !slices.Contains(stores, nil) {
			j.stores = append(j.stores, stores...)
			return nil
		}
		if !isWaiting {
			pause = minPoll / 2
			continue
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

// wait waits for other processes.
func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// piece returns a piece, which fill makes unless it is there. It returns nil if another process is
// making it.
func (j *Job) piece(ctx context.Context, name string, fill func(*Store) error) (*Store, error) {
	path := filepath.Join(j.Dir, name)
	s, err := open(j.FS, path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged) {
		return s, err
	}
	err = j.locked(name, func() error {
		return j.makePiece(ctx, path, fill)
	})
	if errors.Is(err, corpus.ErrBusy) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return open(j.FS, path)
}

// makePiece writes a piece, unless another process wrote it meanwhile.
func (j *Job) makePiece(ctx context.Context, path string, fill func(*Store) error) error {
	_, err := open(j.FS, path)
	if err == nil {
		return nil
	}
	staged := filepath.Join(j.Area.Dir, filepath.Base(path))
	out := New(j.FS, staged, j.Limit)
	err = fill(out)
	if err == nil {
		err = out.finish()
	}
	if err != nil {
		return errors.Join(err, out.Close())
	}
	return j.Area.Install(ctx, staged, path, func() (bool, error) {
		_, unread := open(j.FS, path)
		return unread == nil, nil
	})
}

// locked calls f while no other process calls it for the same name. The error is corpus.ErrBusy if
// another process does, and ErrDone if another process has finished the job.
func (j *Job) locked(name string, f func() error) error {
	if err := j.FS.MkdirAll(j.Dir); err != nil {
		return err
	}
	lock, err := corpus.LockFile(filepath.Join(j.Dir, name+".lock"))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process at the latest
	if j.IsDone() {
		return ErrDone
	}
	return f()
}

// Finish calls f, which makes the result of the job from the records of all rounds. The error is
// ErrDone if another process did.
func (j *Job) Finish(ctx context.Context, f func() error) error {
	if j.Pieces == 1 {
		return f()
	}
	for pause := minPoll; ; pause = min(2*pause, maxPoll) {
		err := j.locked("finish", f)
		if !errors.Is(err, corpus.ErrBusy) {
			return err
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

// Records returns the records of a partition of a stream, of all rounds so far.
func (j *Job) Records(stream, part int) ([]byte, error) {
	var all []byte
	for _, s := range j.stores {
		b, err := s.Records(stream, part)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = b // most streams have one store
		} else {
			all = append(slices.Clip(all), b...)
		}
	}
	return all, nil
}

// Close removes the temporary files.
func (j *Job) Close() error {
	var err error
	for _, s := range j.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}
