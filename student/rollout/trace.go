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

// A trace holds no clock, so that a resumed run writes the same bytes: its
// step n is at firstStep + n*perStep, and the calls of a step follow it a
// millisecond apart. Times order, they do not measure.
const (
	firstStep int64 = 1_000_000_000_000
	perStep   int64 = 1000
)

type step struct {
	turn    dialect.Turn
	body    []byte
	answers []callAnswer
}

func (p *play) trace() []byte {
	r := p.result
	head := map[string]any{
		"problem_id": p.task.ID, "status": arena.StatusSuccess, "execution_time": nil,
		"inference_failure_count": 0, "inference_total": r.Turns, "error": nil,
	}
	if r.Outcome == Infra {
		head["status"], head["inference_failure_count"] = arena.StatusFailed, 1
		head["error"] = map[string]string{"type": "infra", "message": *r.Infra}
	}
	line := asjson.Bytes(head)
	line = append(line[:len(line)-1], `,"dialogue":`...)
	if r.Outcome == Infra {
		return append(line, `null}`...)
	}
	parts := append([][]byte{append(line, '[')}, p.steps...)
	return slices.Concat(append(parts, []byte("]}"))...)
}

// record adds a step to the trace. Written down it is a fraction of what its
// calls and answers are in memory.
func (p *play) record(s step) {
	b := newText()
	defer b.free()
	if len(p.steps) > 0 {
		b.text = append(b.text, ',')
	}
	b.text = p.appendStep(b.text, s)
	p.steps = append(p.steps, bytes.Clone(b.text))
	p.held += len(b.text)
}

// text is memory to write in what is kept as a copy of its own size: written
// into new memory, it would be copied again each time it outgrows it.
type text struct{ text []byte }

var texts = sync.Pool{New: func() any { return &text{} }}

func newText() *text { return texts.Get().(*text) }

func (t *text) free() {
	t.text = t.text[:0]
	texts.Put(t)
}

func (p *play) at(i int) int64 { return firstStep + int64(i)*perStep }

// The paths that the proxy of the subnet's sandbox sees.
const (
	inferencePath = "/inference/chat/completions"
	searchPrefix  = "/search"
)

// parts are the step's message in the tags that the subnet's format score reads, with
// what the calls were answered where the public loops have it.
func (s step) parts(observed string) (all []string) {
	if s.turn.Think != "" {
		all = append(all, "<think>"+s.turn.Think+"</think>")
	}
	if calls := s.callValues(false); len(calls) > 0 {
		all = append(all, "<tool_call>"+python.Dumps(python.ListOf(calls...))+"</tool_call>")
	}
	if observed != "" {
		all = append(all, observed)
	}
	if s.turn.Text != "" {
		all = append(all, "<response>"+s.turn.Text+"</response>")
	}
	return all
}

// callValues are the calls with an object of arguments, with their ids and
// results if whole.
func (s step) callValues(whole bool) (calls []python.Value) {
	for _, a := range s.answers {
		if a.call.Arguments.Kind != python.Dict {
			continue
		}
		c := []python.Item{item("name", python.String(a.call.Name)), item("parameters", a.call.Arguments)}
		if whole {
			c = append(c, item("tool_call_id", python.String(a.ID)), item("result", a.Result))
		}
		calls = append(calls, python.Finite(python.DictOf(c...)))
	}
	return calls
}

func (p *play) appendStep(b []byte, s step) []byte {
	i := len(p.replyIDs)
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
	b = append(b, `{"completion":`...)
	b = python.AppendTight(b, python.DictOf(
		item("reasoning_content", python.String("")), item("content", python.String(strings.Join(s.parts(""), "\n"))), item("message", python.DictOf(message...)),
	))
	b = append(b, `,"extra_info":`...)
	info := python.DictOf(item("step", python.Integer(int64(i+1))), item("query", python.String(p.task.Problem.Query)), item("timestamp", python.Integer(p.at(i))))
	if i == 0 {
		info = info.With("problem_id", python.String(p.task.ID))
	}
	if faults := s.faults(); len(faults) > 0 {
		info = info.With("malformed", python.ListOf(faults...))
	}
	b = python.AppendTight(b, info)
	b = append(b[:len(b)-1], `,"proxy_calls":[`...)
	b = p.appendInference(b, i, s.body)
	at := p.at(i)
	for _, a := range s.answers {
		for _, q := range a.Requests {
			at++
			b = append(b, ',')
			b = python.AppendTight(b, python.Finite(python.DictOf(
				item("kind", python.String("summary")), item("method", python.String("GET")), item("path", python.String(searchPrefix+q.Path)),
				item("timestamp", python.Integer(at)), item("duration_ms", python.Integer(0)), item("status_code", status(q.Status)),
				item("params", q.Params), item("response", q.Response),
			)))
		}
	}
	return append(b, `]}}`...)
}

func (p *play) appendInference(b []byte, i int, body []byte) []byte {
	b = append(b, `{"kind":"summary","method":"POST","path":"`+inferencePath+`","timestamp":`...)
	b = strconv.AppendInt(b, p.at(i), 10)
	b = append(b, `,"duration_ms":0,"status_code":200,"json_data":`+string(p.env.Request)+`,"response":`...)
	if p.env.Kept {
		body = model.WithoutTokens(body)
	}
	return append(appendLine(b, p.ownID(body)), '}')
}

// ownID is a reply's body with an id that no other reply of the rollout has.
// Some servers give every reply the same one, which reads as one reply copied.
func (p *play) ownID(body []byte) []byte {
	id := gjson.GetBytes(body, "id")
	named := id.Type == gjson.String && id.Index > 0
	if named && slices.Contains(p.replyIDs, id.Str) {
		end := id.Index + len(id.Raw) - 1
		body = slices.Concat(body[:end], []byte("-"+strconv.Itoa(len(p.replyIDs)+1)), body[end:])
	}
	p.replyIDs = append(p.replyIDs, id.String())
	return body
}

// appendLine makes a reply's JSON fit into a line of UTF-8. A line feed in JSON
// stands between tokens only.
func appendLine(b, body []byte) []byte {
	from := len(b)
	b = append(b, bytes.ToValidUTF8(bytes.TrimSpace(body), []byte("\ufffd"))...)
	for i, c := range b[from:] {
		if c == '\n' || c == '\r' {
			b[from+i] = ' '
		}
	}
	return b
}

// faults are the calls that callValues leaves out, having no object of
// arguments.
func (s step) faults() []python.Value {
	return slicesx.FilterMap(s.answers, func(a callAnswer) (python.Value, bool) {
		return python.DictOf(
			item("name", python.String(a.call.Name)), item("text", python.String(a.call.Arguments.String())), item("error", a.Result),
		), a.call.Arguments.Kind != python.Dict
	})
}

func item(key string, v python.Value) python.Item { return python.Item{Key: key, Value: v} }

func status(n int) python.Value {
	if n == 0 {
		return python.Value{}
	}
	return python.Integer(int64(n))
}

// Dialogue is the trace in normal form. Play writes one dialect only, so
// nothing has to be found out or mended.
func Dialogue(t *arena.Trace) arena.Dialogue {
	var d arena.Dialogue
	for i, s := range t.Steps {
		turn := arena.Turn{Step: i, Think: s.Think, Text: s.Response}
		for _, c := range s.Calls {
			turn.Calls = append(turn.Calls, arena.Call(c))
		}
		d.Turns = append(d.Turns, turn)
	}
	return d
}
