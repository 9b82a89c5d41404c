package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/sts"
)

type (
	// chatRow is a row of OpenAI messages, with further fields that the reader of package
	// formats knows.
	chatRow struct {
		RunID     string          `json:"eval_run_id,omitempty"`
		ProblemID string          `json:"problem_id,omitempty"`
		Messages  []chatMessage   `json:"messages"`
		Tools     json.RawMessage `json:"tools,omitempty"`
		Model     string          `json:"model,omitempty"`
		Reward    *float64        `json:"reward,omitempty"`
	}
	chatMessage struct {
		Role      string     `json:"role"`
		Content   string     `json:"content"`
		Reasoning string     `json:"reasoning_content,omitempty"`
		Calls     []chatCall `json:"tool_calls,omitempty"`
		CallID    string     `json:"tool_call_id,omitempty"`
		Name      string     `json:"name,omitempty"`
		Weight    *int       `json:"weight,omitempty"`

		// step is the step of which the message has the text, nil if it has none.
		step *arena.Step
	}
	chatCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function sts.Function `json:"function"`
	}
)

// openAI converts the trace to a row of messages in OpenAI's form, and records as losses what the
// row cannot represent.
func (w *writer) openAI() chatRow {
	t := w.t
	w.addLossIf(LossAgent, t.Agent != arena.Agent{})
	w.addLossIf(LossOutcome, w.hasOutcome())
	w.addLossIf(LossVetoes, len(t.Vetoes) > 0)
	row := chatRow{
		RunID:     t.RunID,
		ProblemID: t.ProblemID,
		Messages:  []chatMessage{},
		Tools:     rawJSON(t.Tools),
		Model:     t.Model,
		Reward:    t.Declared,
	}
	if t.System != "" {
		row.Messages = append(row.Messages, chatMessage{
			Role:    "system",
			Content: t.System,
		})
	}
	row.Messages = append(row.Messages, chatMessage{
		Role:    "user",
		Content: t.Query,
	})
	for i := range t.Steps {
		s := &t.Steps[i]
		w.addLossIf(LossStepMeta, s.Timestamp != "" && !w.keepsTimes || s.LLMCalls != nil || s.Number != i+1)
		for _, call := range s.Calls {
			isText := call.Arguments.Kind() == arena.String
			w.addLossIf(LossArgumentsKind, call.Arguments != "" && isText == w.hasObjects)
		}
		row.Messages = append(row.Messages, w.stepMessages(i)...)
	}
	return row
}

// hasOutcome reports whether the trace has information on the end of the attempt that messages
// alone do not show: a status other than success, an error, a time, counts of inferences, or a
// dialogue that is present or missing against expectation.
func (w *writer) hasOutcome() bool {
	t := w.t
	if t.Status != arena.StatusSuccess || t.Error != nil || !math.IsNaN(t.Seconds) {
		return true
	}
	if t.InferenceTotal >= 0 || t.InferenceFailures >= 0 {
		return true
	}
	isAgent := func(s arena.Step) bool { return s.Role == arena.RoleAgent }
	return t.HasDialogue != slices.ContainsFunc(t.Steps, isAgent)
}

// weight returns the training weight of a step's message: 0 if the step is masked, and nil for any
// other. It returns nil for a masked step too, and records a loss, if the format has no weights.
func (w *writer) weight(s *arena.Step) *int {
	w.addLossIf(LossMask, s.Masked && !w.hasMasks)
	if !s.Masked || !w.hasMasks {
		return nil
	}
	return new(0)
}

// stepMessages converts step i of the trace to messages: one for the step and one for each result
// of its calls. It records as losses what messages cannot represent.
func (w *writer) stepMessages(i int) []chatMessage {
	s := &w.t.Steps[i]
	w.addLossIf(LossProxyCalls, len(s.Proxy) > 0)
	w.addLossIf(LossRuling, w.t.Ruling != nil)
	w.addLossIf(LossStepRaw, s.Raw != "")
	if s.Role != arena.RoleAgent {
		return []chatMessage{{
			Role:    sourceNames[s.Role],
			Content: s.Content,
			step:    s,
		}}
	}

	w.addLossIf(LossSplitMessage, s.Think != "" || s.Response != "")
	messages := []chatMessage{{
		Role:      "assistant",
		Content:   cmp.Or(s.Response, s.Content),
		Reasoning: cmp.Or(s.Reasoning, s.Think),
		Weight:    w.weight(s),
		step:      s,
	}}
	w.writeOnce(&messages[0], s)
	used := map[string]bool{}
	for j, call := range s.Calls {
		id := call.ID
		if id == "" || used[id] {
			w.addLossIf(LossCallID, true)
			id = w.newCallID(fmt.Sprintf("call-%d-%d", i+1, j+1))
		}
		used[id] = true
		w.addLossIf(LossAbsentArguments, call.Arguments == "")
		function := sts.Function{
			Name:      call.Name,
			Arguments: cmp.Or(call.Arguments, "{}").Text(),
		}
		messages[0].Calls = append(messages[0].Calls, chatCall{
			ID:       id,
			Type:     "function",
			Function: function,
		})
		if call.Result != "" {
			w.addLossIf(LossResultKind, call.Result.Kind() != arena.String)
			messages = append(messages, chatMessage{
				Role:    "tool",
				Content: call.Result.Text(),
				CallID:  id,
				Name:    call.Name,
			})
		}
	}
	return messages
}

// writeOnce removes from the text of a step's message the tags with thought and calls if the message
// has keys of its own for one of them: a chat template would render both. It records as losses which
// text the thought was in, and what the tags have and the keys do not. Calls that only the text has
// stay there, and a thought beside them too.
func (w *writer) writeOnce(m *chatMessage, s *arena.Step) {
	if !strings.Contains(m.Content, "<") {
		return
	}
	r := calls.Mended(m.Content)
	if len(s.Calls) == 0 && len(r.Calls) > 0 {
		if strings.TrimSpace(m.Reasoning) == r.Think {
			m.Reasoning = ""
		}
		return
	}
	hasThought := r.Think != "" && m.Reasoning != ""
	if !hasThought && len(r.Calls) == 0 {
		return
	}
	w.addLossIf(LossSplitMessage, true)
	m.Content = r.Text
	m.Reasoning = cmp.Or(m.Reasoning, r.Think)
	hasSame := slices.EqualFunc(r.Calls, s.Calls, isSameCall)
	isThought := strings.TrimSpace(m.Reasoning) == r.Think
	w.addLossIf(LossTags, !hasSame || !isThought || len(r.Results)+len(r.Faults) > 0)
}

// isSameCall reports whether two calls are of the same tool with the same arguments.
func isSameCall(a arena.Call, b arena.ToolCall) bool {
	return a.Name == b.Name && canonical.Form(string(a.Arguments)) == canonical.Form(b.Arguments.Text())
}

// newCallID returns an id that no call of the trace has: prefix, with an "x" appended until it
// is unique.
func (w *writer) newCallID(prefix string) string {
	if w.callIDs == nil {
		w.callIDs = map[string]bool{}
		for i := range w.t.Steps {
			for _, call := range w.t.Steps[i].Calls {
				w.callIDs[call.ID] = true
			}
		}
	}
	id := prefix
	for w.callIDs[id] {
		id += "x"
	}
	w.callIDs[id] = true
	return id
}

// session converts the trace to the lines of a session for the Hub's trace viewer: a header, then
// the messages. The header has the ids, model, reward and tools that openAI puts next to the
// messages.
func (w *writer) session() []any {
	w.keepsTimes = true
	row := w.openAI()
	header := sts.Header{
		Type:      "session",
		Harness:   "arena",
		ID:        w.t.ID,
		Name:      cmp.Or(w.t.ProblemID, w.t.ID),
		RunID:     row.RunID,
		ProblemID: row.ProblemID,
		Model:     row.Model,
		Reward:    row.Reward,
		Tools:     row.Tools,
	}
	lines := []any{header}
	times := w.sessionTimes(row.Messages)
	for i, m := range row.Messages {
		lines = append(lines, sts.Line{
			Type:    "message",
			Message: w.sessionMessage(m, times[i]),
		})
	}
	return lines
}

// sessionTimes returns the times of messages in Unix milliseconds. The viewer orders messages by
// time, so either all have one or none has: if any step has a time, a message without one, or with
// one that is not later than that of the message before it, gets that message's time and one
// millisecond. A changed time of a step is recorded as a loss.
func (w *writer) sessionTimes(messages []chatMessage) []*int64 {
	times := make([]*int64, len(messages))
	hasTime := func(m chatMessage) bool { return m.unixMS() != nil }
	first := slices.IndexFunc(messages, hasTime)
	now := int64(0)
	if first >= 0 {
		now = *messages[first].unixMS() - int64(first) - 1
	}
	for i, m := range messages {
		written := arena.Raw("")
		if first >= 0 {
			now++
			if known := m.unixMS(); known != nil {
				now = max(now, *known)
			}
			times[i] = new(now)
			written = arena.Raw(strconv.FormatInt(now, 10))
		}
		w.addLossIf(LossStepMeta, m.step != nil && m.step.Timestamp != written)
	}
	return times
}

// unixMS returns the time of the message's step in Unix milliseconds, nil if it is unknown.
func (m *chatMessage) unixMS() *int64 {
	if m.step == nil {
		return nil
	}
	return parseUnixMS(m.step.Timestamp)
}

func (w *writer) sessionMessage(m chatMessage, unixMS *int64) sts.Message {
	out := sts.Message{
		Role:      m.Role,
		Content:   m.Content,
		Reasoning: m.Reasoning,
		CallID:    m.CallID,
		Timestamp: unixMS,
	}
	if m.Role == "assistant" {
		out.Model = w.t.Model
	}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, sts.Call{
			ID:       c.ID,
			Function: c.Function,
		})
	}
	return out
}

// parseUnixMS parses a time in Unix milliseconds. It returns nil if raw is not an integer.
func parseUnixMS(raw arena.Raw) *int64 {
	ms, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return nil
	}
	return &ms
}
