package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/traces"
)

// ruled turns the facts of a row to an attempt that brought its verdict along:
// the row has the tools that its pack declared, and the verdict in its metadata.
// What it gives is the record that the row is made of.
func ruled(rec *arena.Record, facts *rows.Facts) *arena.Record {
	r := rec.Trace.Ruling
	if r == nil {
		return rec
	}
	facts.Harness, _ = chat.SourceHarness(rec.Trace, &rec.Dialogue)
	facts.Metadata = map[string]any{
		"contract": rec.Trace.Source.Shape, "pack": rec.Trace.Agent.Suite, "category": r.Category, "ending": r.Ending,
		"checks_passed": r.Passed, "checks_failed": r.Failed, "flags": r.Flags,
	}
	answered := *rec
	answered.Dialogue.Turns = heard(rec.Dialogue.Turns)
	return &answered
}

// heard puts what the shopper said after a call into the answer to the call, as
// the session sent it: no template takes the customer's turn between a result and
// the model's.
func heard(turns []arena.Turn) []arena.Turn {
	out := make([]arena.Turn, 0, len(turns))
	for _, t := range turns {
		if t.User == "" || len(out) == 0 || !addSaid(&out[len(out)-1], t.User) {
			out = append(out, t)
		}
	}
	return out
}

// addSaid adds a message to the answer of a turn's last call, if it has one.
func addSaid(t *arena.Turn, said string) bool {
	n := len(t.Calls) - 1
	if n < 0 || t.Calls[n].Result.Kind() == arena.Absent {
		return false
	}
	answer, err := chat.Marshal(map[string]any{"observation": json.RawMessage(t.Calls[n].Result), "user_message": said})
	if err != nil {
		return false
	}
	t.Calls = slices.Clone(t.Calls)
	t.Calls[n].Result = arena.Raw(answer)
	return true
}

type task struct {
	ID     string `json:"problem_id"`
	Query  string `json:"query"`
	Family string `json:"category"`
}

// errNoRuling ends the reading of an input of another contract.
var errNoRuling = errors.New("no episode of an environment pack")

// deriveProblems takes the problems of days without a problems file from their
// episodes, which tell task, request and family. What it found becomes a file of the
// run, since the blocks depend on it.
func (d *Day) deriveProblems(ctx context.Context, src Sources) error {
	if len(src.Problems) > 0 {
		return nil
	}
	tasks := map[string]task{}
	for _, day := range src.Days {
		if day == traces.Stdin || len(traces.SideFiles(day, traces.TablePattern("problems"))) > 0 {
			continue
		}
		if err := tasksOf(ctx, day, tasks); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		if err := json.NewEncoder(&text).Encode(tasks[id]); err != nil {
			return fmt.Errorf("write problem %q: %w", id, err)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	d.derived = len(tasks)
	d.Files = append(d.Files, File{Input: corpus.Input{Kind: kindProblems, SHA256: digest.SHA256(text.Bytes()), Bytes: int64(text.Len()), Records: int64(len(tasks))}})
	ps, err := arena.ReadProblems(&text, maxProblem)
	if err != nil {
		return fmt.Errorf("read problems of episodes: %w", err)
	}
	return d.Problems.add("the episodes", ps)
}

// tasksOf adds what the episodes of a day say of their tasks. Of two that
// disagree on a request neither can be told to be the task's.
func tasksOf(ctx context.Context, day string, tasks map[string]task) error {
	ins, err := traces.Discover(day)
	if err != nil {
		return err
	}
	for i := range ins {
		_, err := traces.Read(ctx, ins[i], traces.Options{Limits: traces.DefaultLimits()}, func(it traces.Item) error {
			if it.Trace == nil {
				return nil
			}
			if it.Trace.Ruling == nil {
				return errNoRuling
			}
			return addTask(tasks, it.Trace)
		})
		if err != nil && !errors.Is(err, errNoRuling) {
			return err
		}
	}
	return nil
}

func addTask(tasks map[string]task, t *arena.Trace) error {
	if t.ProblemID == "" {
		return nil
	}
	was := tasks[t.ProblemID]
	if was.Query != "" && t.Query != "" && was.Query != t.Query {
		return fmt.Errorf("task_id %q stands for two requests: %q and %q; build their packs apart", t.ProblemID, was.Query, t.Query)
	}
	family := cmp.Or(t.Family, "environment")
	if was.ID != "" && was.Family != "environment" {
		family = was.Family
	}
	tasks[t.ProblemID] = task{ID: t.ProblemID, Query: cmp.Or(was.Query, t.Query), Family: family}
	return nil
}
