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

// withRuling prepares an attempt that the subnet's verifier scored for rendering. It sets
// facts.Harness to the tools of the trace and facts.Metadata to the verifier's ruling, and returns
// a copy of the record with user messages merged into results. Other records are returned
// unchanged.
func withRuling(rec *arena.Record, facts *rows.Facts) *arena.Record {
	r := rec.Trace.Ruling
	if r == nil {
		return rec
	}
	facts.Harness, _ = chat.SourceHarness(rec.Trace, &rec.Dialogue)
	facts.Metadata = map[string]any{
		"contract":      rec.Trace.Source.Shape,
		"pack":          rec.Trace.Agent.Suite,
		"category":      r.Category,
		"ending":        r.Ending,
		"checks_passed": r.Passed,
		"checks_failed": r.Failed,
		"flags":         r.Flags,
	}
	out := *rec
	out.Dialogue.Turns = mergeUserTurns(rec.Dialogue.Turns)
	return &out
}

// mergeUserTurns moves each user message that follows a call into the result of the call, as the
// session sent it. No chat template has a user message between a result and the model's next turn.
func mergeUserTurns(turns []arena.Turn) []arena.Turn {
	out := make([]arena.Turn, 0, len(turns))
	for _, t := range turns {
		merged := t.User != "" && len(out) > 0 && addToResult(&out[len(out)-1], t.User)
		if !merged {
			out = append(out, t)
		}
	}
	return out
}

// addToResult adds a user's message to the result of the last call of a turn. It returns false and
// changes nothing if the turn has no call, or if its last call has no result.
func addToResult(t *arena.Turn, message string) bool {
	n := len(t.Calls) - 1
	if n < 0 || t.Calls[n].Result.Kind() == arena.Absent {
		return false
	}
	result, err := chat.Marshal(map[string]any{
		"observation":  json.RawMessage(t.Calls[n].Result),
		"user_message": message,
	})
	if err != nil {
		return false
	}
	t.Calls = slices.Clone(t.Calls)
	t.Calls[n].Result = arena.Raw(result)
	return true
}

// task is a problem as the trace of an episode records it. Family is its category.
type task struct {
	ID     string `json:"problem_id"`
	Query  string `json:"query"`
	Family string `json:"category"`
}

// defaultFamily is the category of problems whose episodes record none.
const defaultFamily = "environment"

// errNoRuling stops the reading of an input whose attempts were not scored by the subnet's
// verifier, so that they record no problems.
var errNoRuling = errors.New("no episode of an environment pack")

// deriveProblems adds the problems of days that have no problems file. It reads them from the
// episodes, whose traces record ID, request and category. They count as a file of the run, since
// blocks depend on them. It does nothing if the user named problems files.
func (d *Day) deriveProblems(ctx context.Context, src Sources) error {
	if len(src.Problems) > 0 {
		return nil
	}
	tasks := map[string]task{}
	for _, day := range src.Days {
		if day == traces.Stdin || len(traces.SideFiles(day, traces.TablePattern("problems"))) > 0 {
			continue
		}
		if err := readTasks(ctx, day, tasks); err != nil {
			return err
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	var text bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		if err := json.NewEncoder(&text).Encode(tasks[id]); err != nil {
			return fmt.Errorf("write problem %q: %w", id, err)
		}
	}
	d.derived = len(tasks)
	d.Files = append(d.Files, File{Input: corpus.Input{
		Kind:    kindProblems,
		SHA256:  digest.SHA256(text.Bytes()),
		Bytes:   int64(text.Len()),
		Records: int64(len(tasks)),
	}})
	problems, err := arena.ReadProblems(&text, maxProblem)
	if err != nil {
		return fmt.Errorf("read problems of episodes: %w", err)
	}
	return d.Problems.add("the episodes", problems)
}

// readTasks reads the traces of a day and adds the problem of each episode to tasks, by ID.
func readTasks(ctx context.Context, day string, tasks map[string]task) error {
	inputs, err := traces.Discover(day)
	if err != nil {
		return err
	}
	options := traces.Options{Limits: traces.DefaultLimits()}
	for i := range inputs {
		_, err := traces.Read(ctx, inputs[i], options, func(item traces.Item) error {
			if item.Trace == nil {
				return nil
			}
			if item.Trace.Ruling == nil {
				return errNoRuling
			}
			return addTask(tasks, item.Trace)
		})
		if err != nil && !errors.Is(err, errNoRuling) {
			return err
		}
	}
	return nil
}

// addTask adds the problem of an episode to tasks. It returns an error if an earlier episode has
// the same problem ID and another request.
func addTask(tasks map[string]task, t *arena.Trace) error {
	if t.ProblemID == "" {
		return nil
	}
	earlier := tasks[t.ProblemID]
	if earlier.Query != "" && t.Query != "" && earlier.Query != t.Query {
		return fmt.Errorf("task_id %q stands for two requests: %q and %q; build their packs apart", t.ProblemID, earlier.Query, t.Query)
	}
	family := cmp.Or(t.Family, defaultFamily)
	if earlier.ID != "" && earlier.Family != defaultFamily {
		family = earlier.Family
	}
	tasks[t.ProblemID] = task{
		ID:     t.ProblemID,
		Query:  cmp.Or(earlier.Query, t.Query),
		Family: family,
	}
	return nil
}
