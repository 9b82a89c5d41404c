package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/atif"
)

// What ATIF has no field for: of the trace, and of a step.
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
	argumentsOut struct {
		Call  int             `json:"call"`
		Value json.RawMessage `json:"value"`
	}
	stepOut struct {
		Number    int             `json:"number,omitempty"`
		Think     *string         `json:"think,omitempty"`
		Response  *string         `json:"response,omitempty"`
		Content   *string         `json:"content,omitempty"`
		Reasoning *string         `json:"reasoning,omitempty"`
		Timestamp json.RawMessage `json:"timestamp,omitempty"`
		Arguments []argumentsOut  `json:"arguments,omitempty"`
		JSON      []int           `json:"json_results,omitempty"`
		NoID      []int           `json:"calls_without_id,omitempty"`
	}
)

// atif is the trace as one document. What ATIF has no field for is under
// extra.arena, and read again from there.
func (w *writer) atif() atif.Document {
	t := w.t
	out := atif.Document{
		Schema: atif.Version, Session: t.ID,
		Agent: atif.Agent{Name: cmp.Or(t.Agent.VersionID, "agent"), Version: "unknown", Model: t.Model, Tools: rawJSON(t.Tools)},
		Extra: &atif.Extra{Arena: w.arenaExtra()},
	}
	if t.System != "" {
		out.Steps = append(out.Steps, atif.Step{Source: atif.BySystem, Message: t.System})
	}
	out.Steps = append(out.Steps, atif.Step{Source: atif.ByUser, Message: t.Query})
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

func (w *writer) atifStep(i int) atif.Step {
	s := &w.t.Steps[i]
	w.losesEvidence(s)
	out := atif.Step{Source: sourceNames[s.Role], Message: s.Content}
	var own stepOut
	if s.Number != i+1 {
		own.Number = s.Number
	}
	if out.Timestamp = isoTime(s.Timestamp); out.Timestamp == "" {
		own.Timestamp = rawJSON(s.Timestamp)
	}
	if s.Role == arena.RoleAgent {
		out.LLMCalls = s.LLMCalls
		spoken(s, &out, &own)
		w.atifCalls(i, &out, &own)
	}
	if !reflect.ValueOf(own).IsZero() {
		out.Extra = &atif.Extra{Arena: own}
	}
	return out
}

var sourceNames = map[arena.Role]string{
	arena.RoleAgent: atif.ByAgent, arena.RoleUser: atif.ByUser, arena.RoleSystem: atif.BySystem,
}

// spoken fills message and reasoning: a sandbox's step says both twice, so its
// own fields are kept beside.
func spoken(s *arena.Step, out *atif.Step, own *stepOut) {
	out.Reasoning = s.Reasoning
	if s.Think == "" && s.Response == "" {
		return
	}
	out.Message = cmp.Or(s.Response, s.Content)
	out.Reasoning = cmp.Or(s.Reasoning, s.Think)
	own.Think, own.Response, own.Content, own.Reasoning = &s.Think, &s.Response, &s.Content, &s.Reasoning
}

func (w *writer) atifCalls(step int, out *atif.Step, own *stepOut) {
	ids := map[string]bool{}
	for i, call := range w.t.Steps[step].Calls {
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("call-%d-%d", step+1, i+1)
			own.NoID = append(own.NoID, i)
		}
		w.loses(LossCallID, ids[id])
		for n := i + 1; ids[id]; n++ {
			id = fmt.Sprintf("%s-%d", call.ID, n)
		}
		ids[id] = true
		out.Calls = append(out.Calls, atif.Call{ID: id, Name: call.Name, Arguments: w.atifArguments(i, call.Arguments, own)})
		if call.Result == "" {
			continue
		}
		if out.Observation == nil {
			out.Observation = &atif.Observation{}
		}
		if call.Result.Kind() != arena.String {
			own.JSON = append(own.JSON, len(out.Observation.Results))
		}
		out.Observation.Results = append(out.Observation.Results, atif.Result{CallID: id, Content: call.Result.Text()})
	}
}

// atifArguments is an object; what the trace had instead is kept beside.
func (w *writer) atifArguments(i int, raw arena.Raw, own *stepOut) json.RawMessage {
	w.loses(LossAbsentArguments, raw == "")
	if raw.Kind() == arena.Object {
		return rawJSON(raw)
	}
	if raw != "" {
		own.Arguments = append(own.Arguments, argumentsOut{i, rawJSON(raw)})
	}
	if text := raw.Text(); arena.Raw(text).Kind() == arena.Object && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage("{}")
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
