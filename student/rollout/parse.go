package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"math"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// ownSize bounds nothing: a trace that Play wrote is as large as its replies,
// which were bounded when they came.
var ownSize = cursor.Limits{Depth: math.MaxInt, StringBytes: math.MaxInt, Elements: math.MaxInt}

// ParseTrace reads an envelope that Play wrote, and no others: package traces
// reads what anybody may have written. The trace shares the line's memory.
func ParseTrace(runID string, line []byte) *arena.Trace {
	sum := sha256.Sum256(line)
	t := &arena.Trace{
		RunID: runID, Source: arena.Source{HasProxyLog: true}, Seconds: math.NaN(), RecordSHA256: hex.EncodeToString(sum[:]), Bytes: len(line),
	}
	p := parser{cursor.Over(line, ownSize)}
	p.Object(func(key string) {
		switch key {
		case "problem_id":
			t.ProblemID = p.text()
		case "status":
			t.Status = arena.Status(p.text())
		case "inference_total":
			t.InferenceTotal = p.whole()
		case "inference_failure_count":
			t.InferenceFailures = p.whole()
		case "error":
			t.Error = p.fault()
		case "dialogue":
			t.HasDialogue = p.Array(func() { t.Steps = append(t.Steps, p.step(&t.Query)) })
		default:
			p.Skip()
		}
	})
	t.ID = runID + "/" + t.ProblemID
	return t
}

// parser takes a trace from left to right.
type parser struct{ *cursor.Cursor }

func (p parser) text() string {
	s, _ := p.String()
	return s
}

func (p parser) whole() int {
	n, _ := p.Int()
	return int(n)
}

func (p parser) fault() *arena.AttemptError {
	e := &arena.AttemptError{}
	if !p.Object(func(key string) {
		switch key {
		case "type":
			e.Type = p.text()
		case "message":
			e.Message = p.text()
		default:
			p.Skip()
		}
	}) {
		return nil
	}
	return e
}

func (p parser) step(query *string) arena.Step {
	s := arena.Step{Typed: true}
	from := p.Mark()
	p.Object(func(key string) {
		switch key {
		case "completion":
			p.completion(&s)
		case "extra_info":
			p.info(&s, query)
		default:
			p.Skip()
		}
	})
	s.Raw = p.Since(from)
	return s
}

func (p parser) completion(s *arena.Step) {
	p.Object(func(key string) {
		switch key {
		case "content":
			s.Content = p.text()
		case "message":
			p.message(s)
		default:
			p.Skip()
		}
	})
}

func (p parser) message(s *arena.Step) {
	p.Object(func(key string) {
		switch key {
		case "think":
			s.Think = p.text()
		case "response":
			s.Response = p.text()
		case "tool_call":
			p.Array(func() { s.Calls = append(s.Calls, p.call()) })
		default:
			p.Skip()
		}
	})
}

func (p parser) call() (c arena.ToolCall) {
	p.Object(func(key string) {
		switch key {
		case "tool_call_id":
			c.ID = p.text()
		case "name":
			c.Name = p.text()
		case "parameters":
			c.Arguments = p.Raw()
		case "result":
			c.Result = p.Raw()
		default:
			p.Skip()
		}
	})
	return c
}

func (p parser) info(s *arena.Step, query *string) {
	p.Object(func(key string) {
		switch key {
		case "step":
			s.Number = p.whole()
		case "query":
			*query = p.text()
		case "timestamp":
			s.Timestamp = p.Raw()
		case "proxy_calls":
			p.Array(func() { s.Proxy = append(s.Proxy, p.proxy()) })
		default:
			p.Skip()
		}
	})
}

func (p parser) proxy() arena.ProxyCall {
	c := arena.ProxyCall{Length: -1}
	p.Object(func(key string) {
		switch key {
		case "method":
			c.Method = p.text()
		case "path":
			c.Path = p.text()
		case "timestamp":
			c.AtMS, _ = p.Int()
		case "status_code":
			c.Status = p.whole()
		case "params":
			c.Params = p.Raw()
		case "json_data":
			c.Body = p.Raw()
		case "response":
			c.Response = p.Raw()
		default:
			p.Skip()
		}
	})
	return c
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
