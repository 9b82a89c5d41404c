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

// retryClaim is the interval between tries to reserve a question that another process is asking.
// A model takes seconds to answer.
const retryClaim = 50 * time.Millisecond

// Claim reserves a question for this process until release is called, so that no two processes
// pay for the same answer. It waits while another process has the claim. The caller must then
// look for that process's answer in the ledger. A claim ends with its process at the latest.
func (l *Ledger) Claim(ctx context.Context, ask string) (release func(), err error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("claim question: %w", err)
	}
	path := filepath.Join(l.dir, "asking-"+ask[:min(len(ask), 32)]+".lock")
	for {
		lock := flock.New(path)
		locked, err := lock.TryLock()
		if err == nil && !locked {
			_, err = lock.TryLockContext(ctx, retryClaim)
		}
		if err != nil {
			err = fmt.Errorf("claim question: %w", err)
			if cause := context.Cause(ctx); cause != nil {
				err = errors.Join(cause, err)
			}
			return nil, errors.Join(err, lock.Close())
		}
		if journal.IsAt(lock, path) {
			release := func() {
				_ = os.Remove(path) // a remaining file locks nothing
				_ = lock.Unlock()
			}
			return release, nil
		}
		_ = lock.Unlock() // another process removed the file meanwhile
	}
}
