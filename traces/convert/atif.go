package convert

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/atif"
)

// What ATIF has no field for.
type (
	atifArena struct {
		RunID     string           `json:"eval_run_id,omitempty"`
		ProblemID string           `json:"problem_id,omitempty"`
		VersionID string           `json:"agent_version_id,omitempty"`
		Hotkey    string           `json:"miner_hotkey,omitempty"`
		Suite     string           `json:"suite_version,omitempty"`
		StartedAt string           `json:"started_at,omitempty"`
		Status    string           `json:"status"`
		Seconds   *float64         `json:"execution_time,omitempty"`
		Total     *int             `json:"inference_total,omitempty"`
		Failures  *int             `json:"inference_failure_count,omitempty"`
		Error     *errorOut        `json:"error,omitempty"`
		Query     string           `json:"query"`
		Dialogue  *json.RawMessage `json:"dialogue,omitempty"`
		Reward    *float64         `json:"reward,omitempty"`
		Vetoes    []string         `json:"vetoes,omitempty"`
	}
	errorOut struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
)

// atif is the trace as one document. What ATIF has no field for of the whole trace is
// under extra.arena, and read again from there.
func (w *writer) atif() atif.Document {
	t := w.t
	out := atif.Document{
		Schema: atif.Version, Session: t.ID,
		Agent: atif.Agent{Name: cmp.Or(t.Agent.VersionID, "agent"), Version: "unknown", Model: t.Model, Tools: rawJSON(t.Tools)},
		Extra: &atif.Extra{Arena: w.arenaExtra()},
	}
	if t.System != "" {
		out.Steps = append(out.Steps, atif.Step{Source: atif.SourceSystem, Message: t.System})
	}
	out.Steps = append(out.Steps, atif.Step{Source: atif.SourceUser, Message: t.Query})
	for i := range t.Steps {
		out.Steps = append(out.Steps, w.atifStep(i))
	}
	for i := range out.Steps {
		out.Steps[i].ID = i + 1
	}
	return out
}

func (w *writer) arenaExtra() atifArena {
	t := w.t
	a := atifArena{
		RunID: t.RunID, ProblemID: t.ProblemID, VersionID: t.Agent.VersionID, Hotkey: t.Agent.Hotkey,
		Suite: t.Agent.Suite, StartedAt: t.Agent.StartedAt, Status: string(t.Status), Query: t.Query,
		Total: known(t.InferenceTotal), Failures: known(t.InferenceFailures), Reward: t.Declared, Vetoes: t.Vetoes,
		Error: (*errorOut)(t.Error),
	}
	if !math.IsNaN(t.Seconds) {
		a.Seconds = &t.Seconds
	}
	if !t.HasDialogue {
		null := json.RawMessage("null")
		a.Dialogue = &null
	}
	return a
}

// known is a count; nil where it is -1.
func known(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// atifStep is a step with the results of its calls.
func (w *writer) atifStep(i int) atif.Step {
	s, messages := &w.t.Steps[i], w.turn(i)
	out := atif.Step{Source: sourceNames[s.Role], Message: messages[0].Content, Reasoning: messages[0].Reasoning, Timestamp: isoTime(s.Timestamp)}
	w.loses(LossStepMeta, s.Number != i+1 || out.Timestamp == "" && s.Timestamp != "")
	if s.Role == arena.RoleAgent {
		out.LLMCalls = s.LLMCalls
	}
	for j, c := range messages[0].Calls {
		w.loses(LossArgumentsKind, s.Calls[j].Arguments.Kind() == arena.String)
		out.Calls = append(out.Calls, atif.Call{ID: c.ID, Name: c.Function.Name, Arguments: w.object(c)})
	}
	for _, answer := range messages[1:] {
		if out.Observation == nil {
			out.Observation = &atif.Observation{}
		}
		out.Observation.Results = append(out.Observation.Results, atif.Result{CallID: answer.CallID, Content: answer.Content})
	}
	return out
}

var sourceNames = map[arena.Role]string{
	arena.RoleAgent: atif.SourceAgent, arena.RoleUser: atif.SourceUser, arena.RoleSystem: atif.SourceSystem,
}

// isoTime is a moment in whole milliseconds as ISO 8601 in UTC; empty for
// anything that this could not give back.
func isoTime(raw arena.Raw) string {
	ms, err := strconv.ParseInt(string(raw), 10, 64)
	at := time.UnixMilli(ms).UTC()
	if err != nil || at.Year() < 1 || at.Year() > 9999 || strconv.FormatInt(ms, 10) != string(raw) {
		return ""
	}
	return at.Format("2006-01-02T15:04:05.000Z07:00")
}
