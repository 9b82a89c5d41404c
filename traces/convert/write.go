// Package convert writes traces in the formats that others read, and names what a
// format cannot hold of one.
package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Format is a trace format that can be written.
type Format string

// The formats of Write.
const (
	// ATIF is one ATIF v1.7 document a trace.
	ATIF Format = "atif"
	// OpenAI is one row of OpenAI messages a trace.
	OpenAI Format = "openai"
	// STS is a session of the Hub's trace viewer: several lines a trace,
	// of which the viewer wants one file each.
	STS Format = "sts"
	// Responses is one rollout a trace, as NeMo-Gym writes it.
	Responses Format = "responses"
	// Inspect is one log of inspect_ai with a sample a trace.
	Inspect Format = "inspect"
)

// Formats are all formats, in the order that help shows.
var Formats = []Format{ATIF, OpenAI, Responses, Inspect, STS}

// Around is what stands before, between and behind the traces of a file.
func (f Format) Around() (before, between, behind string) {
	if f == Inspect {
		return inspectHead, ",", "]}\n"
	}
	return "", "", ""
}

// Loss names something of a trace that a format cannot hold. Losses are stable
// words; docs/traces.md says for each what it means.
type Loss string

// The losses of writers.
const (
	LossProxyCalls      Loss = "proxy_calls"
	LossStepRaw         Loss = "step_raw"
	LossAbsentArguments Loss = "absent_arguments"
	LossArgumentsKind   Loss = "arguments_kind"
	LossResultKind      Loss = "result_kind"
	LossOutcome         Loss = "outcome"
	LossAgent           Loss = "agent"
	LossVetoes          Loss = "vetoes"
	LossStepMeta        Loss = "step_meta"
	LossSplitMessage    Loss = "split_message"
	LossCallID          Loss = "call_id"
	LossTools           Loss = "tools"
	LossRuling          Loss = "ruling"
	LossTurns           Loss = "turns"
	LossArguments       Loss = "arguments"
)

// Write renders a trace as JSON lines, each ended by a line feed, and names in
// order what was lost. It is deterministic: the same trace gives the same bytes.
func Write(t *arena.Trace, f Format) (lines []byte, lost []Loss, err error) {
	w := writer{t: t}
	for _, word := range t.Lost {
		w.loses(Loss(word), true)
	}
	switch f {
	case ATIF:
		err = w.line(w.atif())
	case OpenAI:
		err = w.line(w.openAI())
	case Responses:
		err = w.line(w.responses())
	case Inspect:
		err = w.line(w.inspect())
	case STS:
		for _, v := range w.session() {
			if err = w.line(v); err != nil {
				break
			}
		}
	default:
		err = fmt.Errorf("no trace format %q", f)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write trace %s as %s: %w", t.RecordSHA256, f, err)
	}
	return w.out.Bytes(), w.lost, nil
}

type writer struct {
	t    *arena.Trace
	out  bytes.Buffer
	lost []Loss
	// ids are those that calls have, once one had to be made.
	ids map[string]bool
}

func (w *writer) line(v any) error {
	e := json.NewEncoder(&w.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func (w *writer) loses(l Loss, really bool) {
	if really {
		w.lost = slicesx.AppendUnique(w.lost, l)
	}
}

func rawJSON(raw arena.Raw) json.RawMessage {
	if raw == "" {
		return nil
	}
	return json.RawMessage(raw)
}

// inspectHead begins a log of inspect_ai that is one document; samples follow. It
// holds no clock: the time is that at which the steps of all traces begin.
const inspectHead = `{"version":2,"status":"success","eval":{"run_id":"arena","created":"2001-09-09T01:46:40+00:00","task":"arena","dataset":{},"model":"none/none","config":{}},"plan":{"name":"plan","steps":[]},"samples":[`

// inspect is the trace as a sample. The tools stand in its metadata: inspect_ai has
// them in the events of its own calls alone.
func (w *writer) inspect() map[string]any {
	t, chat := w.t, w.openAI()
	messages := slicesx.Map(chat.Messages, w.sampleMessage)
	out := map[string]any{
		"id": t.ID, "epoch": 1, "input": t.Query, "target": "", "messages": messages, "output": map[string]any{"model": t.Model},
		"metadata": filled(map[string]any{"eval_run_id": t.RunID, "problem_id": t.ProblemID, "tools": chat.Tools}),
	}
	if t.Declared != nil {
		out["scores"] = map[string]any{"reward": map[string]any{"value": *t.Declared}}
	}
	if !math.IsNaN(t.Seconds) {
		out["total_time"] = t.Seconds
	}
	if t.Error != nil {
		out["error"] = map[string]any{"message": cmp.Or(t.Error.Message, t.Error.Type), "traceback": "", "traceback_ansi": ""}
	}
	return out
}

func (w *writer) sampleMessage(m messageOut) map[string]any {
	var made []any
	for _, c := range m.Calls {
		made = append(made, map[string]any{"id": c.ID, "function": c.Function.Name, "arguments": w.object(c), "type": "function"})
	}
	out := filled(map[string]any{"role": m.Role, "tool_call_id": m.CallID, "function": m.Name, "tool_calls": made})
	out["content"] = m.Content
	if m.Reasoning != "" {
		parts := []any{map[string]any{"type": "reasoning", "reasoning": m.Reasoning}}
		if m.Content != "" {
			parts = append(parts, map[string]any{"type": "text", "text": m.Content})
		}
		out["content"] = parts
	}
	return out
}

// object are the arguments of a call where they have to be one.
func (w *writer) object(c callOut) json.RawMessage {
	text := c.Function.Arguments
	if arena.Raw(text).Kind() != arena.Object || !json.Valid([]byte(text)) {
		w.loses(LossArguments, true)
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// responses is the trace as NeMo-Gym writes a rollout: a request of the Responses
// API, what came of it, and the reward. Items know no turns: one of nothing but calls
// behind another is lost in it.
func (w *writer) responses() map[string]any {
	chat := w.openAI()
	request, output, before := []any{}, []any{}, ""
	for _, m := range chat.Messages {
		to := &output
		if m.Role != "assistant" && len(output) == 0 {
			to = &request
		}
		w.loses(LossTurns, before == m.Role && m.Role == "assistant" && m.Content+m.Reasoning == "")
		before = m.Role
		*to = append(*to, items(m)...)
	}
	return filled(map[string]any{
		"eval_run_id": chat.RunID, "problem_id": chat.ProblemID, "reward": chat.Reward,
		"responses_create_params": filled(map[string]any{"input": request, "tools": chat.Tools}),
		"response":                filled(map[string]any{"object": "response", "model": chat.Model, "output": output}),
	})
}

func filled(o map[string]any) map[string]any {
	maps.DeleteFunc(o, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	return o
}

func items(m messageOut) (all []any) {
	text := func(kind, text string) []any { return []any{map[string]any{"type": kind, "text": text}} }
	if m.Role == "tool" {
		return []any{map[string]any{"type": "function_call_output", "call_id": m.CallID, "output": m.Content}}
	}
	if m.Reasoning != "" {
		all = append(all, map[string]any{"type": "reasoning", "summary": []any{}, "content": text("reasoning_text", m.Reasoning)})
	}
	switch {
	case m.Role != "assistant":
		all = append(all, map[string]any{"type": "message", "role": m.Role, "content": m.Content})
	case m.Content != "" || len(m.Calls) == 0:
		all = append(all, map[string]any{"type": "message", "role": m.Role, "content": text("output_text", m.Content)})
	}
	for _, c := range m.Calls {
		all = append(all, map[string]any{"type": "function_call", "call_id": c.ID, "name": c.Function.Name, "arguments": c.Function.Arguments})
	}
	return all
}
