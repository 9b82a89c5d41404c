package export

import (
	"context"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// Options are the choices of an export.
type Options struct {
	// Counter returns a counter with which tokens are counted again. It is called once for each
	// goroutine. Nil keeps the numbers of the corpus.
	Counter func() rows.Counter
	// MaxTokens is the maximum number of tokens of an attempt. Longer attempts are dropped. 0
	// means no limit.
	MaxTokens int64
	// Keep reports whether the attempt with the id session is exported. For a row of a problem,
	// session is "" and problem decides. Nil selects all.
	Keep func(session, problem string) bool
	// Redact replaces private text in the rows; nil leaves them as they are. The
	// written files are scanned once more.
	Redact *redact.Redactor
	// Sessions is the maximum number of sessions of profile sts.
	Sessions int64
	// License is the licence on the card, "" for that of the corpus.
	License string
	// Command is the hash of the command that exports, empty if unknown.
	Command string
}

// isUnchanged reports whether no option selects or changes rows, so that all are exported as they
// are in the corpus.
func (o *Options) isUnchanged() bool {
	return o.Counter == nil && o.MaxTokens == 0 && o.Keep == nil && o.Redact == nil
}

// Count counts the rows of a split that were read (In), accepted (Out) and written (Rows) for a
// profile. One row may be written as several.
type Count struct {
	Profile string           `json:"profile"`
	Split   string           `json:"split"`
	In      int64            `json:"in"`
	Out     int64            `json:"out"`
	Rows    int64            `json:"rows"`
	Dropped map[string]int64 `json:"dropped"`
	// Redacted counts placeholders by kind.
	Redacted redact.Counts `json:"redacted"`
	// Effective is the effective sample size: the number of rows of equal weight with
	// the same information. It is 0 if rows have no weights.
	Effective float64 `json:"effective_rows,omitempty"`

	figures figures.Figures
}

// row is a row of the corpus. Exactly one of sft, rl, pref and kto is set, by the profile (the
// format) of the row; messages are those of sft. The writers of all profiles share rows and
// must not change them.
type row struct {
	sft      *rows.SFT
	messages []chat.Message // as chat.DecodeEscaped returns them
	rl       *rows.RL
	pref     *rows.Pref
	kto      *rows.KTO
	// unfit is the reason why no profile can contain the row, nil if there is none.
	unfit *chat.Unfit
}

// source returns the one of r's fields sft, pref, kto and rl that is set: a pointer to the row as it is
// in the corpus.
func (r *row) source() interface{ Length() rows.Length } {
	switch {
	case r.sft != nil:
		return r.sft
	case r.pref != nil:
		return r.pref
	case r.kto != nil:
		return r.kto
	default:
		return r.rl
	}
}

// job is the export of one profile (output format). The job writes its files to a separate folder,
// called a part, which is merged into the exported corpus later. Its methods must not be called
// concurrently.
type job struct {
	feed    *feed
	profile Profile
	part    *corpus.Part
	opt     *Options
	// sink and count are those of the current split, counts those of the finished ones.
	sink   sink
	count  Count
	counts []Count
}

// open starts the export of a split, such as train: it sets j.sink, the writer of the split's rows,
// and resets the counts. If the options change no row, the sink copies the files of the corpus.
func (j *job) open(split string) (err error) {
	j.count = j.newCount(split)
	if j.profile.copies && j.opt.isUnchanged() {
		j.sink = &copySink{job: j, split: split}
		return nil
	}
	j.sink, err = j.profile.open(j, split)
	return err
}

func (j *job) newCount(split string) Count {
	return Count{
		Profile:  j.profile.Name,
		Split:    split,
		Dropped:  map[string]int64{},
		Redacted: redact.Counts{},
	}
}

// addRows calls add with each row and counts all rows by result. Rows that no profile (format) can
// contain are counted but not passed to add. A row for which add returns a *chat.Unfit is dropped
// from this profile only. add must increase c.Rows for each row that it writes.
func (c *Count) addRows(rows []row, add func(*row) error) error {
	for i := range rows {
		c.In++
		r := &rows[i]
		rowsBefore := c.Rows
		unfit := r.unfit
		if unfit == nil {
			if err := add(r); err != nil && !errors.As(err, &unfit) {
				return err
			}
		}
		if unfit != nil {
			c.Dropped[unfit.Reason]++
			continue
		}
		c.Out++
		for range c.Rows - rowsBefore {
			c.figures.Add(c.Profile, c.Split, figures.RowOf(r.source()))
		}
	}
	return nil
}

// merge adds to c the counts of rows of piece, a batch of the same split.
func (c *Count) merge(piece *Count) {
	c.In += piece.In
	c.Out += piece.Out
	c.Rows += piece.Rows
	for reason, n := range piece.Dropped {
		c.Dropped[reason] += n
	}
	c.figures.Join(&piece.figures)
}

// write passes a batch of rows to the sink of the current split.
func (j *job) write(batch []row) error {
	if err := j.sink.write(batch); err != nil {
		return fmt.Errorf("export %s: %w", j.profile.Name, err)
	}
	return nil
}

// close finishes the current split and stores its counts. redacted are the numbers of
// placeholders in its rows.
func (j *job) close(ctx context.Context, redacted redact.Counts) error {
	if err := j.sink.close(ctx); err != nil {
		return fmt.Errorf("export %s: %w", j.profile.Name, err)
	}
	j.count.Redacted.Add(redacted)
	j.counts = append(j.counts, j.count)
	return nil
}

// finish writes the profile's additional files, such as a client or a configuration, after both
// splits are written, and closes the job's folder.
func (j *job) finish() error {
	if j.profile.support != nil {
		if err := j.profile.support(j); err != nil {
			return fmt.Errorf("export %s: %w", j.profile.Name, err)
		}
	}
	return j.part.Close()
}
