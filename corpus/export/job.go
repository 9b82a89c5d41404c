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
	// Counter makes a counter that counts tokens anew, one for each reading of
	// the corpus; nil keeps the counts of the corpus.
	Counter func() rows.Counter
	// MaxTokens drops attempts of more tokens; 0 keeps all.
	MaxTokens int64
	// Keep says whether a session, or a problem where the row has no session,
	// was selected; nil selects all.
	Keep func(session, problem string) bool
	// Redact replaces what must not be published in a row's texts; nil leaves
	// them as they are. The written files are scanned once more.
	Redact *redact.Redactor
	// Sessions bounds the sessions of profile sts.
	Sessions int64
	// License is the terms that the card names; empty for those of the corpus.
	License string
}

// whole reports whether every row of the corpus goes out as it is.
func (o *Options) whole() bool {
	return o.Counter == nil && o.MaxTokens == 0 && o.Keep == nil && o.Redact == nil
}

// Count is what became of the rows of one split in one profile.
type Count struct {
	Profile string           `json:"profile"`
	Split   string           `json:"split"`
	In      int64            `json:"in"`
	Out     int64            `json:"out"`
	Rows    int64            `json:"rows"`
	Dropped map[string]int64 `json:"dropped"`
	// Redacted counts placeholders by kind.
	Redacted redact.Counts `json:"redacted"`
	// Effective is how many rows of equal weight the weighted ones tell as much as; 0
	// where rows have no weights.
	Effective float64 `json:"effective_rows,omitempty"`

	figures figures.Figures
}

// row is one row of the corpus: the field of the profile it is made from is
// set, and messages beside sft, as chat.DecodeEscaped reads them. Sinks share it and do not change it.
type row struct {
	sft      *rows.SFT
	messages []chat.Message
	rl       *rows.RL
	pref     *rows.Pref
	kto      *rows.KTO
	// unfit is why no profile takes the row; nil where it is fit.
	unfit *chat.Unfit
}

// own is the row of the corpus itself, a pointer to its type.
func (r *row) own() interface{ Length() rows.Length } {
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

// job is the export of one profile, into a part of its own. It belongs to one
// goroutine.
type job struct {
	feed    *feed
	profile Profile
	part    *corpus.Part
	opt     *Options
	// sink and count are those of the open split.
	sink   sink
	count  Count
	counts []Count
}

func (j *job) open(split string) (err error) {
	j.count = j.newCount(split)
	if j.profile.same && j.opt.whole() {
		j.sink = &copySink{job: j, split: split}
		return nil
	}
	j.sink, err = j.profile.open(j, split)
	return err
}

func (j *job) newCount(split string) Count {
	return Count{Profile: j.profile.Name, Split: split, Dropped: map[string]int64{}, Redacted: redact.Counts{}}
}

// each gives rows to add and counts what becomes of them. An error of type
// *chat.Unfit drops the row for this profile alone.
func (c *Count) each(rows []row, add func(*row) error) error {
	for i := range rows {
		c.In++
		r, before := &rows[i], c.Rows
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
		for range c.Rows - before {
			c.figures.Add(c.Profile, c.Split, figures.Of(r.own()))
		}
	}
	return nil
}

// join takes in the counts of a piece of the split.
func (c *Count) join(piece *Count) {
	c.In += piece.In
	c.Out += piece.Out
	c.Rows += piece.Rows
	for reason, n := range piece.Dropped {
		c.Dropped[reason] += n
	}
	c.figures.Join(&piece.figures)
}

// take gives rows to the sink.
func (j *job) take(rows []row) error {
	if err := j.sink.take(rows); err != nil {
		return fmt.Errorf("export %s: %w", j.profile.Name, err)
	}
	return nil
}

// close ends the split; redacted are the placeholders that its reading put in.
func (j *job) close(ctx context.Context, redacted redact.Counts) error {
	if err := j.sink.close(ctx); err != nil {
		return fmt.Errorf("export %s: %w", j.profile.Name, err)
	}
	j.count.Redacted.Add(redacted)
	j.counts = append(j.counts, j.count)
	return nil
}

// finish ends the export of the profile.
func (j *job) finish() error {
	if j.profile.support != nil {
		if err := j.profile.support(j); err != nil {
			return fmt.Errorf("export %s: %w", j.profile.Name, err)
		}
	}
	return j.part.Close()
}
