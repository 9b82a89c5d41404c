package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/sts"
)

// A row of OpenAI messages, with what the reader takes from beside them.
type (
	chatOut struct {
		RunID     string          `json:"eval_run_id,omitempty"`
		ProblemID string          `json:"problem_id,omitempty"`
		Messages  []messageOut    `json:"messages"`
		Tools     json.RawMessage `json:"tools,omitempty"`
		Model     string          `json:"model,omitempty"`
		Reward    *float64        `json:"reward,omitempty"`
	}
	messageOut struct {
		Role      string    `json:"role"`
		Content   string    `json:"content"`
		Reasoning string    `json:"reasoning_content,omitempty"`
		Calls     []callOut `json:"tool_calls,omitempty"`
		CallID    string    `json:"tool_call_id,omitempty"`
		Name      string    `json:"name,omitempty"`

		at *int64 // the step's time, for sessions
	}
	callOut struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function sts.Function `json:"function"`
	}
)

func (w *writer) openAI() chatOut {
	t := w.t
	hasTurns := slices.ContainsFunc(t.Steps, func(s arena.Step) bool { return s.Role == arena.RoleAgent })
	w.loses(LossAgent, t.Agent != arena.Agent{})
	w.loses(LossOutcome, t.Status != arena.StatusSuccess || t.Error != nil || !math.IsNaN(t.Seconds) ||
		t.InferenceTotal >= 0 || t.InferenceFailures >= 0 || t.HasDialogue != hasTurns)
	w.loses(LossVetoes, len(t.Vetoes) > 0)
	out := chatOut{RunID: t.RunID, ProblemID: t.ProblemID, Messages: []messageOut{}, Tools: rawJSON(t.Tools), Model: t.Model, Reward: t.Declared}
	if t.System != "" {
		out.Messages = append(out.Messages, messageOut{Role: "system", Content: t.System})
	}
	out.Messages = append(out.Messages, messageOut{Role: "user", Content: t.Query})
	for i := range t.Steps {
		s := &t.Steps[i]
		w.loses(LossStepMeta, s.Timestamp != "" || s.LLMCalls != nil || s.Number != i+1)
		for _, call := range s.Calls {
			w.loses(LossArgumentsKind, call.Arguments != "" && call.Arguments.Kind() != arena.String)
		}
		out.Messages = append(out.Messages, w.turn(i)...)
	}
	return out
}

// turn is one step as messages: the step's own and one for each result.
func (w *writer) turn(i int) []messageOut {
	s := &w.t.Steps[i]
	w.loses(LossProxyCalls, len(s.Proxy) > 0)
	w.loses(LossRuling, w.t.Ruling != nil)
	w.loses(LossStepRaw, s.Raw != "")
	if s.Role != arena.RoleAgent {
		return []messageOut{{Role: sourceNames[s.Role], Content: s.Content, at: unixMS(s.Timestamp)}}
	}
	w.loses(LossSplitMessage, s.Think != "" || s.Response != "")
	all := []messageOut{{
		Role: "assistant", Content: cmp.Or(s.Response, s.Content), Reasoning: cmp.Or(s.Reasoning, s.Think),
		at: unixMS(s.Timestamp),
	}}
	ids := map[string]bool{}
	for j, call := range s.Calls {
		id := call.ID
		if id == "" || ids[id] {
			w.loses(LossCallID, true)
			id = w.newID(fmt.Sprintf("call-%d-%d", i+1, j+1))
		}
		ids[id] = true
		w.loses(LossAbsentArguments, call.Arguments == "")
		all[0].Calls = append(all[0].Calls, callOut{ID: id, Type: "function", Function: sts.Function{Name: call.Name, Arguments: cmp.Or(call.Arguments, "{}").Text()}})
		if call.Result != "" {
			w.loses(LossResultKind, call.Result.Kind() != arena.String)
			all = append(all, messageOut{Role: "tool", Content: call.Result.Text(), CallID: id, Name: call.Name})
		}
	}
	return all
}

// newID is an id like the one given that no call of the trace has.
func (w *writer) newID(id string) string {
	if w.ids == nil {
		w.ids = map[string]bool{}
		for i := range w.t.Steps {
			for _, call := range w.t.Steps[i].Calls {
				w.ids[call.ID] = true
			}
		}
	}
	for w.ids[id] {
		id += "x"
	}
	w.ids[id] = true
	return id
}

// session is the trace as a session: the header, then the messages. The viewer
// orders by time, so each message has one: its step's, or at least a millisecond
// after the message before it, counted from the start of the run.
func (w *writer) session() []any {
	w.loses(LossTools, w.t.Tools != "")
	w.loses(LossOutcome, w.t.Declared != nil)
	chat := w.openAI()
	lines := []any{sts.Header{Type: "session", Harness: "arena", ID: w.t.ID, Name: cmp.Or(w.t.ProblemID, w.t.ID)}}
	now := int64(0)
	if at, err := time.Parse(time.RFC3339, w.t.Agent.StartedAt); err == nil {
		now = at.UnixMilli()
	}
	for _, m := range chat.Messages {
		if now++; m.at != nil {
			now = max(now, *m.at)
		}
		line := sts.Message{Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, CallID: m.CallID, Timestamp: now}
		if m.Role == "assistant" {
			line.Model = w.t.Model
		}
		for _, c := range m.Calls {
			line.Calls = append(line.Calls, sts.Call{ID: c.ID, Function: c.Function})
		}
		lines = append(lines, sts.Line{Type: "message", Message: line})
	}
	return lines
}

func unixMS(raw arena.Raw) *int64 {
	ms, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return nil
	}
	return &ms
}
