// Package convert writes traces in the formats that others read, and names what a
// format cannot hold of one.
package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
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
	if really && !slices.Contains(w.lost, l) {
		w.lost = append(w.lost, l)
	}
}

func (w *writer) losesEvidence(s *arena.Step) {
	w.loses(LossProxyCalls, len(s.Proxy) > 0)
	w.loses(LossRuling, w.t.Ruling != nil)
	w.loses(LossStepRaw, s.Raw != "")
}

func rawJSON(raw arena.Raw) json.RawMessage {
	if raw == "" {
		return nil
	}
	return json.RawMessage(raw)
}
