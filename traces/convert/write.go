// Package convert writes traces in the formats of other tools and reports the parts of a
// trace that a format cannot hold.
package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Format is a trace format of Write.
type Format string

// The formats of Write.
const (
	// ATIF is an ATIF v1.7 document for each trace.
	ATIF Format = "atif"
	// OpenAI is a row of OpenAI messages for each trace.
	OpenAI Format = "openai"
	// STS is a session of the Hub's trace viewer for each trace, over several lines. The
	// viewer requires a file for each session.
	STS Format = "sts"
	// ClaudeCode, Codex and Pi are sessions of these programs, one for each trace, over several lines.
	ClaudeCode Format = "claude_code"
	Codex      Format = "codex"
	Pi         Format = "pi"
	// Responses is a rollout of NeMo-Gym for each trace.
	Responses Format = "responses"
	// Inspect is a log of inspect_ai with a sample for each trace.
	Inspect Format = "inspect"
)

// Formats lists all formats in the order of the help text.
var Formats = []Format{ATIF, OpenAI, Responses, Inspect, STS, ClaudeCode, Codex, Pi}

// IsSession reports whether each trace is a session over several lines, which its program expects in a
// file of its own.
func (f Format) IsSession() bool {
	return f == STS || f == ClaudeCode || f == Codex || f == Pi
}

// Delimiters returns the text before the first trace of a file, between traces, and after
// the last trace.
func (f Format) Delimiters() (prefix, separator, suffix string) {
	if f == Inspect {
		return inspectHead, ",", "]}\n"
	}
	return "", "", ""
}

// Loss is a stable word for a part of a trace that a format cannot hold. docs/traces.md
// explains each.
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
	LossRuling          Loss = "ruling"
	LossTurns           Loss = "turns"
	LossArguments       Loss = "arguments"
	LossTask            Loss = "task"
	LossMask            Loss = "mask"
	LossTags            Loss = "tags"
)

// Write returns a trace as JSON lines, each with a line feed, and the losses in the order
// in which they occur. The same trace always gives the same bytes.
func Write(t *arena.Trace, f Format) (lines []byte, losses []Loss, err error) {
	w := writer{t: t, hasMasks: f == OpenAI}
	for _, loss := range t.Lost {
		w.addLossIf(Loss(loss), true)
	}
	w.addLossIf(LossTask, t.Task != "")
	switch f {
	case ATIF:
		err = w.writeLine(w.atif())
	case OpenAI:
		err = w.writeLine(w.openAI())
	case Responses:
		err = w.writeLine(w.responses())
	case Inspect:
		err = w.writeLine(w.inspect())
	case STS:
		err = w.writeLines(w.session())
	case ClaudeCode:
		err = w.writeLines(w.claudeSession())
	case Codex:
		err = w.writeLines(w.codexSession())
	case Pi:
		err = w.writeLines(w.piSession())
	default:
		err = fmt.Errorf("no trace format %q", f)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write trace %s as %s: %w", t.RecordSHA256, f, err)
	}
	return w.out.Bytes(), w.losses, nil
}

// writer converts one trace to another format and collects the losses: the parts of the trace that
// the format cannot represent.
type writer struct {
	t      *arena.Trace
	out    bytes.Buffer
	losses []Loss
	// callIDs has the ids of all calls of the trace. It is nil before the first new id.
	callIDs map[string]bool
	// hasMasks reports whether the format has a field for a message that is excluded from training.
	hasMasks bool
	// hasObjects reports whether the format has the arguments of calls as JSON objects and not as
	// strings.
	hasObjects bool
	// keepsTimes reports whether the format has a field for the times of steps.
	keepsTimes bool
}

func (w *writer) writeLine(v any) error {
	return asjson.NewEncoder(&w.out).Encode(v)
}

func (w *writer) writeLines(lines []any) error {
	for _, line := range lines {
		if err := w.writeLine(line); err != nil {
			return err
		}
	}
	return nil
}

// addLossIf records the loss l if isLost is true and l is not recorded yet.
func (w *writer) addLossIf(l Loss, isLost bool) {
	if isLost {
		w.losses = slicesx.AppendUnique(w.losses, l)
	}
}

// rawJSON converts a JSON text to the type of package encoding/json. It returns nil if raw is
// empty.
func rawJSON(raw arena.Raw) json.RawMessage {
	if raw == "" {
		return nil
	}
	return json.RawMessage(raw)
}

// objectJSON returns text as a value for encoding/json if it is a valid JSON object. Otherwise
// it returns {} and false.
func objectJSON(text string) (json.RawMessage, bool) {
	if arena.Raw(text).Kind() != arena.Object || !json.Valid([]byte(text)) {
		return json.RawMessage("{}"), false
	}
	return json.RawMessage(text), true
}

// withoutZeros deletes the members of o that have the zero value of their type, such as "" or
// nil. It returns o.
func withoutZeros(o map[string]any) map[string]any {
	maps.DeleteFunc(o, func(_ string, v any) bool {
		return reflect.ValueOf(v).IsZero()
	})
	return o
}
