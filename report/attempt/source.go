package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/traces"
)

// The sources of a Story: the input file with the trace, or a row of the corpus.
const (
	FromDay = "day"
	FromRow = "row"
)

// Days are the input files of a corpus by their SHA-256, and the limits for reading them.
type Days struct {
	Inputs map[string]traces.Input
	Limits traces.Limits
}

// DaysOf returns the inputs that contain attempts of the ledger. The hash of each input must be
// set.
func (l *Ledger) DaysOf(inputs []traces.Input, limits traces.Limits) Days {
	known := map[string]bool{}
	for _, line := range l.Lines {
		known[line.Attempt.SourceSHA256] = true
	}
	d := Days{
		Inputs: map[string]traces.Input{},
		Limits: limits,
	}
	for _, input := range inputs {
		if known[input.SHA256] {
			d.Inputs[input.SHA256] = input
		}
	}
	return d
}

var errFound = errors.New("found")

// Tell reads the dialogue of an attempt and stores it in a.Story. It reads the input file or, if
// that is missing, the row in the corpus. If neither exists, a.Story remains nil.
func (d *Days) Tell(
	ctx context.Context,
	l *Ledger,
	a *Argument,
) (err error) {
	if input, known := d.Inputs[a.Attempt.SourceSHA256]; known {
		_, err = traces.Read(ctx, input, traces.Options{Limits: d.Limits}, func(it traces.Item) error {
			if it.Trace == nil || it.Trace.RecordSHA256 != a.Attempt.RecordSHA256 {
				return nil
			}
			l.Tell(a, it.Trace, FromDay)
			return errFound
		})
	} else if a.Attempt.Fate == rows.FateKept {
		err = l.EachRow(func(id string, t *arena.Trace) error {
			if id != a.Attempt.TraceID {
				return nil
			}
			l.Tell(a, t, FromRow)
			return errFound
		})
	}
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// EachRow calls visit for each kept attempt of the corpus. The trace is read from the row and
// has no proxy log.
func (l *Ledger) EachRow(visit func(id string, t *arena.Trace) error) error {
	for _, f := range l.Manifest.Files {
		if f.Profile != corpus.ProfileHFJSON {
			continue
		}
		err := corpus.ReadRows(l.fsys, filepath.Join(l.dir, f.Path), func(r *rows.SFT) error {
			t, err := traceOf(r)
			if err != nil {
				return fmt.Errorf("read %s: %w", f.Path, err)
			}
			return visit(r.SessionID, t)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func traceOf(r *rows.SFT) (*arena.Trace, error) {
	messages := slicesx.Map(r.Messages, func(m string) json.RawMessage {
		return json.RawMessage(m)
	})
	record, err := json.Marshal(map[string]any{"messages": messages, "query": r.Goal})
	if err != nil {
		return nil, err
	}
	return traces.Decode(record, traces.DefaultLimits())
}
