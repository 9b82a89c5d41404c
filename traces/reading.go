package traces

import (
	"errors"
	"fmt"
)

// ErrUnreadable says that more of what was to be read cannot be read than is
// allowed.
var ErrUnreadable = errors.New("too much could not be read")

// DefaultMaxUnreadable is the share of records that may be unreadable, 0 to 1.
const DefaultMaxUnreadable = 0.01

// Tally is how much of several inputs could be read.
type Tally struct {
	// Records counts attempts and faults, Faults the faults alone.
	Records, Faults int
	// CutFiles counts files that ended before their content did, CutAttempts the
	// attempts that were read of them.
	CutFiles, CutAttempts int
}

// Add takes in one input.
func (t *Tally) Add(s Summary) {
	t.Records += s.Traces + s.Faults
	t.Faults += s.Faults
	if s.Cut {
		t.CutFiles++
		t.CutAttempts += s.Traces
	}
}

// Join takes in what another tally counted.
func (t *Tally) Join(o Tally) {
	t.Records, t.Faults = t.Records+o.Records, t.Faults+o.Faults
	t.CutFiles, t.CutAttempts = t.CutFiles+o.CutFiles, t.CutAttempts+o.CutAttempts
}

// Share is the share of records that could not be read, 0 to 1. What a file that
// ended early has lost is not known: it counts as much as was read of it.
func (t *Tally) Share() float64 {
	if t.Records == 0 {
		return 0
	}
	return float64(t.Faults+t.CutAttempts) / float64(t.Records)
}

// Within is ErrUnreadable where the share is larger than limit.
func (t *Tally) Within(limit float64) error {
	if t.Share() <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s: at most %.4g %% are allowed", ErrUnreadable, t, 100*limit)
}

// String says it in words.
func (t *Tally) String() string {
	text := fmt.Sprintf("%d of %d records", t.Faults, t.Records)
	if t.CutFiles > 0 {
		text += fmt.Sprintf(", and %d files ended early, of which %d attempts were read", t.CutFiles, t.CutAttempts)
	}
	return text + fmt.Sprintf(" (%.2f %%)", 100*t.Share())
}
