package shuffle_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
	"github.com/trajectory-arena/arena/pipeline/staging"
)

// newJob returns the job of another process in the folder work.
func newJob(t *testing.T, work string, pieces int) *shuffle.Job {
	t.Helper()
	area, err := staging.Open(t.Context(), corpus.Disk{}, work)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(area.Close)
	return &shuffle.Job{
		FS: corpus.Disk{}, Area: area, Dir: filepath.Join(work, "pieces"), Pieces: pieces, Workers: 2, Limit: 1000,
		IsDone: func() bool { return false },
	}
}

// count runs a round with one record for each partition, and returns how many partitions it worked on.
func count(t *testing.T, j *shuffle.Job) int {
	t.Helper()
	var worked atomic.Int64
	err := j.Round(t.Context(), "round", func(_ context.Context, part int, out *shuffle.Store) error {
		worked.Add(1)
		out.Add(0, shuffle.Partitions-1-part, func(b []byte) []byte { return binary.AppendVarint(b, int64(part)) })
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return int(worked.Load())
}

// hasAll reports whether the records of the round are there.
func hasAll(j *shuffle.Job) error {
	for part := range shuffle.Partitions {
		b, err := j.Records(0, part)
		if err != nil {
			return err
		}
		if got, n := binary.Varint(b); n != len(b) || int(got) != shuffle.Partitions-1-part {
			return errors.New("another record")
		}
	}
	return nil
}

// TestPiecesShareFewInputs checks that inputs are spread over the pieces, also if both numbers are
// powers of two.
func TestPiecesShareFewInputs(t *testing.T) {
	t.Parallel()
	for _, inputs := range []int{4, 8, 16, 64} {
		work := t.TempDir()
		j := newJob(t, work, 4)
		err := j.Round(t.Context(), "round", func(_ context.Context, part int, out *shuffle.Store) error {
			for i := range inputs {
				if shuffle.RangeOf(i, inputs) == part {
					out.Add(0, part, func(b []byte) []byte { return append(b, make([]byte, 4096)...) })
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for piece := range 4 {
			info, err := os.Stat(filepath.Join(work, "pieces", "round-"+strconv.Itoa(piece)))
			if err != nil {
				t.Fatal(err)
			}
			if got := int(info.Size()) / 4096; got != inputs/4 {
				t.Errorf("%d inputs: piece %d has %d of them", inputs, piece, got)
			}
		}
	}
}

// TestProcessesShareARound runs one round in several processes: each works on a part of the partitions,
// and has all records.
func TestProcessesShareARound(t *testing.T) {
	t.Parallel()
	for _, pieces := range []int{1, 7, shuffle.Partitions} {
		work := t.TempDir()
		var processes sync.WaitGroup
		var worked atomic.Int64
		n := min(pieces, 3)
		for range n {
			j := newJob(t, work, pieces)
			processes.Go(func() {
				worked.Add(int64(count(t, j)))
				if err := hasAll(j); err != nil {
					t.Errorf("%d pieces: %v", pieces, err)
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		processes.Wait()
		if worked.Load() != shuffle.Partitions {
			t.Errorf("%d pieces: worked on %d partitions", pieces, worked.Load())
		}
	}
}

// TestADamagedPieceIsMadeAgain damages a piece at its end, where a process sees it at once, and at its
// beginning, where a reader sees it.
func TestADamagedPieceIsMadeAgain(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	count(t, newJob(t, work, 4))
	piece := filepath.Join(work, "pieces", "round-2")
	info, err := os.Stat(piece)
	if err != nil {
		t.Fatal(err)
	}
	if err = os.Truncate(piece, info.Size()-1); err != nil {
		t.Fatal(err)
	}
	j := newJob(t, work, 4)
	if worked := count(t, j); worked != shuffle.Partitions/4 || hasAll(j) != nil {
		t.Errorf("a piece without its end: worked on %d partitions, %v", worked, hasAll(j))
	}
	b, err := os.ReadFile(piece)
	if err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if err := os.WriteFile(piece, b, 0o600); err != nil {
		t.Fatal(err)
	}
	j = newJob(t, work, 4)
	count(t, j)
	if err := hasAll(j); !errors.Is(err, shuffle.ErrDamaged) {
		t.Errorf("another first byte: %v", err)
	}
}

// TestAReplacedPieceIsReadByItsOwnList lets a second process find a piece damaged and make it again, with
// the same records in other places, while the first one reads it.
func TestAReplacedPieceIsReadByItsOwnList(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	first := newJob(t, work, 4)
	count(t, first)
	piece := filepath.Join(work, "pieces", "round-2")
	before, err := os.ReadFile(piece)
	if err != nil {
		t.Fatal(err)
	}
	if err = os.Truncate(piece, int64(len(before)-1)); err != nil {
		t.Fatal(err)
	}
	second := newJob(t, work, 4)
	second.Limit = 1 // every record is flushed at once, in the order of the partitions that write them
	count(t, second)
	after, err := os.ReadFile(piece)
	if err != nil || bytes.Equal(before, after) {
		t.Fatalf("the second piece has the records in the same places: nothing is shown (%v)", err)
	}
	if err := hasAll(first); err != nil {
		t.Error(err)
	}
}

// countingFS counts how often files are opened.
type countingFS struct {
	corpus.Disk
	opened *atomic.Int64
}

func (f countingFS) Open(path string) (corpus.Source, error) {
	f.opened.Add(1)
	return f.Disk.Open(path)
}

// TestAProcessAsksLessOftenTheLongerItWaits lets another process make a piece for a while.
func TestAProcessAsksLessOftenTheLongerItWaits(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	j := newJob(t, work, 2)
	opened := &atomic.Int64{}
	j.FS = countingFS{opened: opened}
	if err := os.MkdirAll(j.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var locks []interface{ Unlock() error }
	for _, name := range []string{"round-0", "round-1"} {
		lock, err := corpus.LockFile(filepath.Join(j.Dir, name+".lock"))
		if err != nil {
			t.Fatal(err)
		}
		locks = append(locks, lock)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
	defer cancel()
	if err := j.Round(ctx, "round", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// after 0, 20, 60, 140, 300 and 620 ms, for two pieces
	if n := opened.Load(); n < 4 || n > 12 {
		t.Errorf("asked %d times, want at most 12", n)
	}
	for _, lock := range locks {
		_ = lock.Unlock() // the test ends
	}
}

// TestOthersEndAJob ends a job while other processes work on it.
func TestOthersEndAJob(t *testing.T) {
	t.Parallel()
	j := newJob(t, t.TempDir(), 2)
	j.IsDone = func() bool { return true }
	err := j.Round(t.Context(), "round", nil)
	if !errors.Is(err, shuffle.ErrDone) {
		t.Errorf("a round: %v", err)
	}
	if err := j.Finish(t.Context(), nil); !errors.Is(err, shuffle.ErrDone) {
		t.Errorf("the end: %v", err)
	}
}
