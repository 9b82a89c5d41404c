package rewrite

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/traces"
)

// The reasons for which an attempt is not asked about.
const (
	reasonRecord = "log_not_whole"     // the filter finds more against it than who wrote its calls
	reasonRepeat = "same_calls"        // another attempt at the problem made the same calls
	reasonCap    = "rewriting_cap"     // the corpus has its full number of rewritten rows
	reasonUser   = "customer_answers"  // the customer says more than the request
	reasonAbsent = "not_in_given_days" // the days that were given do not hold it
)

func (w *work) readRows() (err error) {
	kept := 0
	err = finish.Rows(w.source, corpus.ProfileHFJSON, corpus.SplitTrain, func(row *rows.SFT) (err error) {
		if kept++; kept == 1 {
			w.harness, err = shop.Profile(row.Harness)
		}
		return err
	})
	if err == nil && kept == 0 {
		err = choose.ErrEmpty
	}
	w.Most = cmp.Or(w.Most, kept)
	return err
}

// choose finds the attempts to rewrite in the corpus's ledger, looks them up in the
// days, and notes what else was done there at every problem.
func (w *work) choose(ctx context.Context) error {
	if err := w.scripted(); err != nil {
		return err
	}
	calls := map[string]string{}
	there := map[string]bool{}
	err := w.traces(ctx, func(t *arena.Trace) error {
		turns := steps(t)
		w.moves.add(t.ProblemID, turns)
		if c := w.chosen[t.ID]; c != nil && c.RecordSHA256 == t.RecordSHA256 {
			there[t.ID] = true
			return w.look(ctx, t, turns, calls)
		}
		return nil
	})
	for id := range w.chosen {
		if !there[id] {
			w.leave(id, reasonAbsent)
		}
	}
	// as many as there may be rows, whatever the order of the days
	ids := slices.SortedFunc(maps.Keys(w.chosen), func(a, b string) int {
		return strings.Compare(choose.Key(a), choose.Key(b))
	})
	for _, id := range ids[min(len(ids), w.Most):] {
		w.leave(id, reasonCap)
	}
	return err
}

// scripted are the attempts that the ledger says a program made and that solved a
// training problem.
func (w *work) scripted() error {
	solved := map[string]bool{}
	reasons := map[string][]string{}
	err := finish.Table(w.source, finish.TableOutcomes, func(o *rows.Outcome) error {
		solved[o.TraceID] = o.Success
		return nil
	})
	if err != nil {
		return err
	}
	err = finish.Table(w.source, finish.TableVerdicts, func(v *rows.Verdict) error {
		if v.Axis == string(arena.AxisScripted) && solved[v.TraceID] {
			reasons[v.TraceID] = v.Reasons
		}
		return nil
	})
	if err != nil {
		return err
	}
	return finish.Table(w.source, finish.TableAttempts, func(a *rows.Attempt) error {
		why, is := reasons[a.TraceID]
		if !is || w.bank.Pool(a.Cluster) != guard.PoolTrain {
			return nil
		}
		copied := *a
		w.report.Scripted++
		w.chosen[a.TraceID] = &copied
		if slices.ContainsFunc(why, func(r string) bool { return !slices.Contains(own, r) }) {
			w.leave(a.TraceID, reasonRecord)
		}
		return nil
	})
}

func (w *work) leave(id, reason string) {
	delete(w.chosen, id)
	w.report.Dropped[reason]++
}

// look leaves out an attempt whose customer speaks again, one with a cut result that
// cannot be made whole, and all but one of those that made the same calls at one problem.
func (w *work) look(
	ctx context.Context,
	t *arena.Trace,
	turns []arena.Turn,
	calls map[string]string,
) error {
	if slices.ContainsFunc(turns, func(t arena.Turn) bool { return t.User != "" }) {
		w.leave(t.ID, reasonUser)
		return nil
	}
	if _, ok, err := w.whole(ctx, t, turns); !ok {
		w.leave(t.ID, reasonCut)
		return err
	}
	text := t.ProblemID
	for _, turn := range turns {
		text += "\n" + formOf(turn.Calls)
	}
	same := digest.SHA256([]byte(text))
	first, known := calls[same]
	switch {
	case !known:
		calls[same] = t.ID
	case choose.Key(t.ID) < choose.Key(first):
		calls[same] = t.ID
		w.leave(first, reasonRepeat)
	default:
		w.leave(t.ID, reasonRepeat)
	}
	return nil
}

func (w *work) read(ctx context.Context, emit func(*arena.Trace) error) error {
	return w.traces(ctx, func(t *arena.Trace) error {
		if c := w.chosen[t.ID]; c == nil || c.RecordSHA256 != t.RecordSHA256 {
			return nil
		}
		return emit(t)
	})
}

func (w *work) traces(ctx context.Context, visit func(*arena.Trace) error) error {
	for _, in := range w.day.Inputs {
		_, err := traces.Read(ctx, in, traces.Defaults(), func(it traces.Item) error {
			if it.Trace == nil {
				return nil
			}
			return visit(it.Trace)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
