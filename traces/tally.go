package traces

import (
	"errors"
	"fmt"
)

// ErrUnreadable is the error of inputs with more unreadable records than allowed.
var ErrUnreadable = errors.New("too much could not be read")

// DefaultMaxUnreadable is the default for the share of unreadable records, 0 to 1.
const DefaultMaxUnreadable = 0.01

// Tally counts the records of several inputs.
type Tally struct {
	// Records is the number of attempts and faults, Faults that of faults alone.
	Records, Faults int
	// CutFiles is the number of files that ended before their content did, CutAttempts the
	// number of attempts that were read from them.
	CutFiles, CutAttempts int
}

// Add adds the counts of one input.
func (t *Tally) Add(s Summary) {
	t.Records += s.Traces + s.Faults
	t.Faults += s.Faults
	if s.Cut {
		t.CutFiles++
		t.CutAttempts += s.Traces
	}
}

// Merge adds the counts of another tally.
func (t *Tally) Merge(added Tally) {
	t.Records += added.Records
	t.Faults += added.Faults
	t.CutFiles += added.CutFiles
	t.CutAttempts += added.CutAttempts
}

// UnreadableShare returns the share of records that could not be read, 0 to 1. A file that
// ended early counts as if it had lost as many attempts as were read from it.
func (t *Tally) UnreadableShare() float64 {
	if t.Records == 0 {
		return 0
	}
	return float64(t.Faults+t.CutAttempts) / float64(t.Records)
}

// CheckShare returns an ErrUnreadable if the share of unreadable records is over a limit.
func (t *Tally) CheckShare(limit float64) error {
	if t.UnreadableShare() <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s: at most %.4g %% are allowed", ErrUnreadable, t, 100*limit)
}

// String returns the counts in words.
func (t *Tally) String() string {
	text := fmt.Sprintf("%d of %d records", t.Faults, t.Records)
	if t.CutFiles > 0 {
		text += fmt.Sprintf(", and an unknown number in %d files that ended early, counted as the %d attempts that were read there", t.CutFiles, t.CutAttempts)
	}
	return text + fmt.Sprintf(" (%.2f %%)", 100*t.UnreadableShare())
}
