package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/trajectory-arena/arena/internal/journal"
)

// claimEvery is how long a process waits before it looks again whether another one
// still asks: a model takes seconds.
const claimEvery = 50 * time.Millisecond

// Claim keeps the asking of a question for this process until release is called.
// It waits while another process asks it: look for the answer in the ledger once it
// is claimed. The claim ends with its process at the latest.
func (l *Ledger) Claim(ctx context.Context, ask string) (release func(), err error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("claim question: %w", err)
	}
	path := filepath.Join(l.dir, "asking-"+ask[:min(len(ask), 32)]+".lock")
	for {
		lock := flock.New(path)
		held, err := lock.TryLock()
		if err == nil && !held {
			_, err = lock.TryLockContext(ctx, claimEvery)
		}
		if err != nil {
			return nil, errors.Join(context.Cause(ctx), fmt.Errorf("claim question: %w", err), lock.Close())
		}
		if journal.IsAt(lock, path) {
			return func() { _ = errors.Join(os.Remove(path), lock.Unlock()) }, nil // a file that stays behind locks nothing
		}
		_ = lock.Unlock()
	}
}
