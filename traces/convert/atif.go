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

type (
	// arenaFields has the fields of a trace for which the format ATIF has no keys. They are written
	// under extra.arena, where package formats reads them.
	arenaFields struct {
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
		Error     *errorJSON       `json:"error,omitempty"`
		Query     string           `json:"query"`
		Dialogue  *json.RawMessage `json:"dialogue,omitempty"`
		Reward    *float64         `json:"reward,omitempty"`
		Vetoes    []string         `json:"vetoes,omitempty"`
	}
	errorJSON struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
)

// atif returns the trace as an ATIF document: system prompt, request and steps.
func (w *writer) atif() atif.Document {
	t := w.t
	doc := atif.Document{
		Schema:  atif.Version,
		Session: t.ID,
		Agent: atif.Agent{
			Name:    cmp.Or(t.Agent.VersionID, "agent"),
			Version: "unknown",
			Model:   t.Model,
			Tools:   rawJSON(t.Tools),
		},
		Extra: &atif.Extra{Arena: w.arenaFields()},
	}
	if t.System != "" {
		doc.Steps = append(doc.Steps, atif.Step{
			Source:  atif.SourceSystem,
			Message: t.System,
		})
	}
	doc.Steps = append(doc.Steps, atif.Step{
		Source:  atif.SourceUser,
		Message: t.Query,
	})
	for i := range t.Steps {
		doc.Steps = append(doc.Steps, w.atifStep(i))
	}
	for i := range doc.Steps {
		doc.Steps[i].ID = i + 1
	}
	return doc
}

func (w *writer) arenaFields() arenaFields {
	t := w.t
	fields := arenaFields{
		RunID:     t.RunID,
		ProblemID: t.ProblemID,
		VersionID: t.Agent.VersionID,
		Hotkey:    t.Agent.Hotkey,
		Suite:     t.Agent.Suite,
		StartedAt: t.Agent.StartedAt,
		Status:    string(t.Status),
		Total:     countOrNil(t.InferenceTotal),
		Failures:  countOrNil(t.InferenceFailures),
		Error:     (*errorJSON)(t.Error),
		Query:     t.Query,
		Reward:    t.Declared,
		Vetoes:    t.Vetoes,
	}
	if !math.IsNaN(t.Seconds) {
		fields.Seconds = &t.Seconds
	}
	if !t.HasDialogue {
		fields.Dialogue = new(json.RawMessage("null"))
	}
	return fields
}

// countOrNil returns a pointer to n, or nil if n is negative, which means that the count is
// unknown.
func countOrNil(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// atifStep converts step i of the trace, with the results of its calls, to a step of the format
// ATIF, and records as losses what that cannot represent.
func (w *writer) atifStep(i int) atif.Step {
	s := &w.t.Steps[i]
	messages := w.stepMessages(i)
	out := atif.Step{
		Source:    sourceNames[s.Role],
		Message:   messages[0].Content,
		Reasoning: messages[0].Reasoning,
		Timestamp: isoTime(s.Timestamp),
	}
	w.addLossIf(LossStepMeta, s.Number != i+1 || out.Timestamp == "" && s.Timestamp != "")
	if s.Role == arena.RoleAgent {
		out.LLMCalls = s.LLMCalls
	}
	for j, c := range messages[0].Calls {
		w.addLossIf(LossArgumentsKind, s.Calls[j].Arguments.Kind() == arena.String)
		out.Calls = append(out.Calls, atif.Call{
			ID:        c.ID,
			Name:      c.Function.Name,
			Arguments: w.argumentObject(c),
		})
	}
	for _, m := range messages[1:] {
		if out.Observation == nil {
			out.Observation = &atif.Observation{}
		}
		result := atif.Result{CallID: m.CallID, Content: m.Content}
		out.Observation.Results = append(out.Observation.Results, result)
	}
	return out
}

var sourceNames = map[arena.Role]string{
	arena.RoleAgent:  atif.SourceAgent,
	arena.RoleUser:   atif.SourceUser,
	arena.RoleSystem: atif.SourceSystem,
}

// isoTime converts a time in Unix milliseconds to ISO 8601 in UTC. It returns "" for a value
// that a reader could not restore from that, such as a fraction or a year above 9999.
func isoTime(raw arena.Raw) string {
	ms, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || strconv.FormatInt(ms, 10) != string(raw) {
		return ""
	}
	t := time.UnixMilli(ms).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z07:00")
}
