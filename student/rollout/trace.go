package rollout

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/student/dialect"
)

// Times of steps in traces, in milliseconds. Traces contain no clock times, so that a resumed
// run writes the same bytes. Step n has the time firstStep + n*perStep, and its search requests
// follow at intervals of a millisecond. The times show only the order.
const (
	firstStep int64 = 1_000_000_000_000
	perStep   int64 = 1000
)

// step is one reply of the model, parsed, with its JSON body and the results of its calls.
type step struct {
	turn    dialect.Turn
	body    []byte
	answers []callAnswer
}

// traceLine returns the trace of the rollout as one line of JSON, in the format of the subnet's
// sandbox. The dialogue is null after an infrastructure error.
func (p *play) traceLine() []byte {
	r := p.result
	head := map[string]any{
		"problem_id": p.task.ID, "status": arena.StatusSuccess, "execution_time": nil,
		"inference_failure_count": 0, "inference_total": r.Turns, "error": nil,
	}
	if r.Outcome == Infra {
		head["status"] = arena.StatusFailed
		head["inference_failure_count"] = 1
		head["error"] = map[string]string{
			"type":    "infra",
			"message": *r.Infra,
		}
	}
	line := asjson.Bytes(head)
	line = append(line[:len(line)-1], `,"dialogue":`...)
	if r.Outcome == Infra {
		return append(line, `null}`...)
	}
	parts := append([][]byte{append(line, '[')}, p.steps...)
	return slices.Concat(append(parts, []byte("]}"))...)
}

// appendTrace encodes a step and appends it to the trace. An encoded step needs much less memory
// than its calls and results.
func (p *play) appendTrace(s step) {
	b := newScratch()
	defer b.free()
	if len(p.steps) > 0 {
		b.buf = append(b.buf, ',')
	}
	b.buf = p.appendStep(b.buf, s)
	p.steps = append(p.steps, bytes.Clone(b.buf))
	p.traceBytes += len(b.buf)
}

// scratch is a reusable buffer in which a text is built before it is copied at its final size.
// This avoids the copies of a buffer that grows.
type scratch struct{ buf []byte }

var scratchPool = sync.Pool{New: func() any { return &scratch{} }}

func newScratch() *scratch { return scratchPool.Get().(*scratch) }

func (t *scratch) free() {
	t.buf = t.buf[:0]
	scratchPool.Put(t)
}

// stepTime returns the time that traces show for step i, in milliseconds. It depends only on i.
func (p *play) stepTime(i int) int64 { return firstStep + int64(i)*perStep }

// The paths in the proxy's log of the subnet's sandbox.
const (
	inferencePath = "/inference/chat/completions"
	searchPrefix  = "/search"
)

// taggedParts returns the parts of a step's message in the tags that the subnet's score for the
// format reads: <think>, <tool_call> and <response>. observed, the results of the calls, precedes
// the response, as in the public agent loops, unless it is empty.
func (s step) taggedParts(observed string) (parts []string) {
	if s.turn.Think != "" {
		parts = append(parts, "<think>"+s.turn.Think+"</think>")
	}
	if calls := s.callValues(false); len(calls) > 0 {
		parts = append(parts, "<tool_call>"+python.Dumps(python.ListOf(calls...))+"</tool_call>")
	}
	if observed != "" {
		parts = append(parts, observed)
	}
	if s.turn.Text != "" {
		parts = append(parts, "<response>"+s.turn.Text+"</response>")
	}
	return parts
}

// callValues returns the calls of a step as JSON objects (Python dicts). Calls whose arguments are
// not an object are left out. If withResults is true, each call has its id and result.
func (s step) callValues(withResults bool) (calls []python.Value) {
	for _, a := range s.answers {
		if a.call.Arguments.Kind != python.Dict {
			continue
		}
		c := []python.Item{
			item("name", python.String(a.call.Name)),
			item("parameters", a.call.Arguments),
		}
		if withResults {
			c = append(
				c,
				item("tool_call_id", python.String(a.ID)),
				item("result", a.Result),
			)
		}
		calls = append(calls, python.Finite(python.DictOf(c...)))
	}
	return calls
}

// appendStep appends a step of the trace to b as JSON.
func (p *play) appendStep(b []byte, s step) []byte {
	i := len(p.replyIDs)
	b = append(b, `{"completion":`...)
	b = python.AppendTight(b, s.completion())
	b = append(b, `,"extra_info":`...)
	b = python.AppendTight(b, p.extraInfo(i, s))
	b = append(b[:len(b)-1], `,"proxy_calls":[`...)
	b = p.appendInference(b, i, s.body)
	b = p.appendSearches(b, i, s)
	return append(b, `]}}`...)
}

// completion returns the value of a step's key completion in the trace: what the model wrote, and
// its calls with their results.
func (s step) completion() python.Value {
	var message []python.Item
	if s.turn.Think != "" {
		message = append(message, item("think", python.String(s.turn.Think)))
	}
	if calls := s.callValues(true); len(calls) > 0 {
		message = append(message, item("tool_call", python.ListOf(calls...)))
	}
	if s.turn.Text != "" {
		message = append(message, item("response", python.String(s.turn.Text)))
	}
	return python.DictOf(
		item("reasoning_content", python.String("")),
		item("content", python.String(strings.Join(s.taggedParts(""), "\n"))),
		item("message", python.DictOf(message...)),
	)
}

// extraInfo returns the value of the key extra_info of step i (from 0) in the trace, without the
// proxy's log: the step's number, time and request, and calls that could not be read.
func (p *play) extraInfo(i int, s step) python.Value {
	info := python.DictOf(
		item("step", python.Integer(int64(i+1))),
		item("query", python.String(p.task.Problem.Query)),
		item("timestamp", python.Integer(p.stepTime(i))),
	)
	if i == 0 {
		info = info.With("problem_id", python.String(p.task.ID))
	}
	if malformed := s.malformedCalls(); len(malformed) > 0 {
		info = info.With("malformed", python.ListOf(malformed...))
	}
	return info
}

// appendInference appends the request to the model in step i to b, as an entry of the proxy's
// log. body is the model's reply.
func (p *play) appendInference(
	b []byte,
	i int,
	body []byte,
) []byte {
	b = append(b, `{"kind":"summary","method":"POST","path":"`+inferencePath+`","timestamp":`...)
	b = strconv.AppendInt(b, p.stepTime(i), 10)
	b = append(b, `,"duration_ms":0,"status_code":200,"json_data":`+string(p.env.Request)+`,"response":`...)
	if p.env.HasTokens {
		body = model.WithoutTokens(body)
	}
	return append(appendLine(b, p.withUniqueID(body)), '}')
}

// appendSearches appends the requests to the search server in step i to b, as entries of the
// proxy's log, each preceded by a comma.
func (p *play) appendSearches(
	b []byte,
	i int,
	s step,
) []byte {
	timestamp := p.stepTime(i)
	for _, a := range s.answers {
		for _, q := range a.Requests {
			timestamp++
			b = append(b, ',')
			b = python.AppendTight(b, python.Finite(python.DictOf(
				item("kind", python.String("summary")),
				item("method", python.String("GET")),
				item("path", python.String(searchPrefix+q.Path)),
				item("timestamp", python.Integer(timestamp)),
				item("duration_ms", python.Integer(0)),
				item("status_code", status(q.Status)),
				item("params", q.Params),
				item("response", q.Response),
			)))
		}
	}
	return b
}

// withUniqueID returns a copy of a reply's body with an id that no other reply of the rollout
// has. Some servers use the same id for every reply, which would look like copied replies.
func (p *play) withUniqueID(body []byte) []byte {
	id := gjson.GetBytes(body, "id")
	hasID := id.Type == gjson.String && id.Index > 0
	if hasID && slices.Contains(p.replyIDs, id.Str) {
		end := id.Index + len(id.Raw) - 1
		body = slices.Concat(
			body[:end],
			[]byte("-"+strconv.Itoa(len(p.replyIDs)+1)),
			body[end:],
		)
	}
	p.replyIDs = append(p.replyIDs, id.String())
	return body
}

// appendLine appends a reply (body, in JSON) to b as a single line of valid UTF-8. In JSON, line
// breaks are only between tokens, so each can be replaced by a space.
func appendLine(b, body []byte) []byte {
	start := len(b)
	b = append(b, bytes.ToValidUTF8(bytes.TrimSpace(body), []byte("\ufffd"))...)
	for i, c := range b[start:] {
		if c == '\n' || c == '\r' {
			b[start+i] = ' '
		}
	}
	return b
}

// malformedCalls returns the calls whose arguments are not an object, as JSON objects with the
// text of the arguments. callValues leaves these calls out.
func (s step) malformedCalls() []python.Value {
	return slicesx.FilterMap(s.answers, func(a callAnswer) (python.Value, bool) {
		entry := python.DictOf(
			item("name", python.String(a.call.Name)),
			item("text", python.String(a.call.Arguments.String())),
			item("error", a.Result),
		)
		return entry, a.call.Arguments.Kind != python.Dict
	})
}

func item(key string, v python.Value) python.Item {
	return python.Item{
		Key:   key,
		Value: v,
	}
}

// status returns an HTTP status as a Python integer. It returns None if n is 0, which means that
// there was no answer.
func status(n int) python.Value {
	if n == 0 {
		return python.Value{}
	}
	return python.Integer(int64(n))
}

// Dialogue converts the trace of a rollout to a dialogue. Play writes a single dialect, so that
// nothing must be detected or repaired.
func Dialogue(t *arena.Trace) arena.Dialogue {
	var d arena.Dialogue
	for i, s := range t.Steps {
		turn := arena.Turn{
			Step:  i,
			Think: s.Think,
			Text:  s.Response,
		}
		for _, c := range s.Calls {
			turn.Calls = append(turn.Calls, arena.Call(c))
		}
		d.Turns = append(d.Turns, turn)
	}
	return d
}
