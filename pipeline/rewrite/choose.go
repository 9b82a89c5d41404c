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

// The codes of the reasons why an attempt is not rewritten.
const (
	reasonRecord = "log_not_whole"     // the filter has reasons against it that rewriting does not remove
	reasonRepeat = "same_calls"        // another attempt at the problem made the same calls
	reasonCap    = "rewriting_cap"     // the maximum number of attempts is reached
	reasonUser   = "customer_answers"  // the customer wrote more than the request
	reasonAbsent = "not_in_given_days" // the given days do not contain it
)

func (w *work) readRows() (err error) {
	count := 0
	err = finish.Rows(w.source, corpus.ProfileHFJSON, corpus.SplitTrain, func(row *rows.SFT) (err error) {
		count++
		if count == 1 {
			w.harness, err = shop.Profile(row.Harness)
		}
		return err
	})
	if err == nil && count == 0 {
		err = choose.ErrEmpty
	}
	w.MaxRows = cmp.Or(w.MaxRows, count)
	return err
}

// choose selects the attempts to rewrite: at most MaxRows of those that findScripted finds in the
// tables of the corpus and whose traces can be used. It also records the steps of all attempts as
// alternatives for the check of reasoning.
func (w *work) choose(ctx context.Context) error {
	if err := w.findScripted(); err != nil {
		return err
	}
	byCalls := map[string]string{}
	present := map[string]bool{}
	err := w.traces(ctx, func(t *arena.Trace) error {
		turns := steps(t)
		w.moves.add(t.ProblemID, turns)
		if c := w.chosen[t.ID]; c != nil && c.RecordSHA256 == t.RecordSHA256 {
			present[t.ID] = true
			return w.checkAttempt(ctx, t, turns, byCalls)
		}
		return nil
	})
	for id := range w.chosen {
		if !present[id] {
			w.drop(id, reasonAbsent)
		}
	}
	// The choice must not depend on the order of the traces.
	ids := slices.SortedFunc(maps.Keys(w.chosen), func(a, b string) int {
		return strings.Compare(choose.Key(a), choose.Key(b))
	})
	for _, id := range ids[min(len(ids), w.MaxRows):] {
		w.drop(id, reasonCap)
	}
	return err
}

// findScripted adds to w.chosen the candidates for rewriting: attempts at training problems that a
// program and not a model solved, according to the tables of the corpus. It leaves out attempts
// that the filter drops for reasons that rewriting does not remove.
func (w *work) findScripted() error {
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
		attemptReasons, ok := reasons[a.TraceID]
		if !ok || w.bank.Pool(a.Cluster) != guard.PoolTrain {
			return nil
		}
		copied := *a
		w.report.Scripted++
		w.chosen[a.TraceID] = &copied
		if slices.ContainsFunc(attemptReasons, func(r string) bool { return !slices.Contains(rewritableReasons, r) }) {
			w.drop(a.TraceID, reasonRecord)
		}
		return nil
	})
}

func (w *work) drop(id, reason string) {
	delete(w.chosen, id)
	w.report.Dropped[reason]++
}

// checkAttempt drops an attempt from rewriting if the customer wrote a second message, or if an
// incomplete result cannot be obtained again from the shop. Of several attempts at a problem with
// the same calls, it drops all but one, chosen by a hash of their IDs. byCalls maps a hash of
// problem and calls to the ID of the attempt that remains so far.
func (w *work) checkAttempt(
	ctx context.Context,
	t *arena.Trace,
	turns []arena.Turn,
	byCalls map[string]string,
) error {
	if slices.ContainsFunc(turns, func(t arena.Turn) bool { return t.User != "" }) {
		w.drop(t.ID, reasonUser)
		return nil
	}
	if _, ok, err := w.restoreResults(ctx, t, turns); !ok {
		w.drop(t.ID, reasonCut)
		return err
	}
	text := t.ProblemID
	for _, turn := range turns {
		text += "\n" + canonicalForm(turn.Calls)
	}
	key := digest.SHA256([]byte(text))
	first, ok := byCalls[key]
	switch {
	case !ok:
		byCalls[key] = t.ID
	case choose.Key(t.ID) < choose.Key(first):
		byCalls[key] = t.ID
		w.drop(first, reasonRepeat)
	default:
		w.drop(t.ID, reasonRepeat)
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
		_, err := traces.Read(ctx, in, traces.Options{Limits: w.Sources.Limits}, func(it traces.Item) error {
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
