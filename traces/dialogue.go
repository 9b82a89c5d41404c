package traces

import (
	"cmp"
	"math"
	"strconv"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// parts collect what a dialogue is made of while it is read, so that a trace
// needs one piece of memory for each kind and not one for each step.
type parts struct {
	steps []arena.Step
	calls []arena.ToolCall
	proxy []arena.ProxyCall
	// spans has for each step where its calls and its proxy calls start.
	spans     []span
	problemID string
}

type span struct{ calls, proxy int }

// readDialogue takes the sandbox's list of steps. Anything but an array leaves
// nothing to judge, as the subnet has it; only null is told so.
func (d *decoder) readDialogue(t *arena.Trace) {
	d.parts.steps, d.parts.calls = d.parts.steps[:0], d.parts.calls[:0]
	d.parts.proxy, d.parts.spans = d.parts.proxy[:0], d.parts.spans[:0]
	t.Query, d.parts.problemID = "", ""
	if kind := d.c.Kind(); kind != arena.Array && kind != arena.Null {
		d.mended = append(d.mended, repairDialogue)
	}
	t.HasDialogue = d.c.Array(func() { d.step(t) })
	t.Steps = d.parts.take()
}

// take copies the parts into memory of exactly their size.
func (p *parts) take() []arena.Step {
	if len(p.steps) == 0 {
		return nil
	}
	steps := append([]arena.Step(nil), p.steps...)
	calls := append([]arena.ToolCall(nil), p.calls...)
	proxy := append([]arena.ProxyCall(nil), p.proxy...)
	for i := range steps {
		end := span{len(calls), len(proxy)}
		if i+1 < len(steps) {
			end = p.spans[i+1]
		}
		from := p.spans[i]
		steps[i].Calls = calls[from.calls:end.calls:end.calls]
		steps[i].Proxy = proxy[from.proxy:end.proxy:end.proxy]
	}
	return steps
}

// step takes one step of a dialogue. What is not as the sandbox writes it
// leaves its field empty; Raw has it as it was.
func (d *decoder) step(t *arena.Trace) {
	c := d.c
	from := span{len(d.parts.calls), len(d.parts.proxy)}
	s := arena.Step{}
	extra := extraInfo{}
	start := c.Mark()
	c.Object(func(key string) {
		switch key {
		case "completion":
			d.parts.calls = d.parts.calls[:from.calls]
			d.completion(&s)
		case "extra_info":
			d.parts.proxy = d.parts.proxy[:from.proxy]
			extra = d.extraInfo()
		default:
			c.Skip()
		}
	})
	s.Raw = c.Since(start)
	s.Number, s.Timestamp = extra.number, extra.timestamp
	if s.Number < 1 {
		s.Number = len(d.parts.steps) + 1
	}
	t.Query = cmp.Or(t.Query, extra.query)
	d.parts.problemID = cmp.Or(d.parts.problemID, extra.problemID)
	d.parts.steps = append(d.parts.steps, s)
	d.parts.spans = append(d.parts.spans, from)
}

func (d *decoder) completion(s *arena.Step) {
	c := d.c
	*s = arena.Step{}
	from := len(d.parts.calls)
	c.Object(func(key string) {
		switch key {
		case "reasoning_content":
			s.Reasoning, _ = c.String()
		case "content":
			s.Content, _ = c.String()
		case "message":
			d.parts.calls = d.parts.calls[:from]
			d.message(s)
		default:
			c.Skip()
		}
	})
}

func (d *decoder) message(s *arena.Step) {
	c := d.c
	s.Think, s.Response, s.Typed = "", "", true
	from := len(d.parts.calls)
	isObject := c.Object(func(key string) {
		ok := false
		switch key {
		case "think":
			s.Think, ok = c.String()
		case "response":
			s.Response, ok = c.String()
		case "tool_call":
			d.parts.calls = d.parts.calls[:from]
			ok = c.Array(func() { s.Typed = d.toolCall() && s.Typed })
		default:
			c.Skip()
		}
		s.Typed = s.Typed && ok
	})
	s.Typed = s.Typed && isObject
}

// toolCall takes one call that a dialogue claims. An entry that is no object
// is no call. It is typed if it holds nothing but what the sandbox writes.
func (d *decoder) toolCall() (typed bool) {
	c := d.c
	var call arena.ToolCall
	named, strange := false, false
	isObject := c.Object(func(key string) {
		switch key {
		case "name":
			call.Name, named = c.String()
		case "parameters":
			call.Arguments = c.Raw()
		case "tool_call_id":
			strange = strange || c.Kind() != arena.String
			call.ID = c.ID()
		case "result":
			call.Result = c.Raw()
		default:
			strange = true
			c.Skip()
		}
	})
	if isObject {
		d.parts.calls = append(d.parts.calls, call)
	}
	return isObject && named && !strange && call.Arguments.Kind() == arena.Object
}

type extraInfo struct {
	number    int
	query     string
	problemID string
	timestamp arena.Raw
}

func (d *decoder) extraInfo() (e extraInfo) {
	c := d.c
	from := len(d.parts.proxy)
	c.Object(func(key string) {
		switch key {
		case "step":
			e.number = d.count()
		case "query":
			e.query, _ = c.String()
		case "timestamp":
			e.timestamp = c.Raw()
		case "problem_id":
			e.problemID = c.ID()
		case "proxy_calls":
			d.parts.proxy = d.parts.proxy[:from]
			c.Array(d.proxyCall)
		default:
			c.Skip()
		}
	})
	return e
}

// proxyCall takes one call that the proxy saw. An entry that is no object is
// no call.
func (d *decoder) proxyCall() {
	c := d.c
	call := arena.ProxyCall{Length: -1}
	isObject := c.Object(func(key string) {
		switch key {
		case "kind":
			kind, _ := c.String()
			call.Attempt = kind == "attempt"
		case "method":
			call.Method, _ = c.String()
		case "path":
			call.Path, _ = c.String()
		case "timestamp":
			call.AtMS = milliseconds(c)
		case "duration_ms":
			call.DurationMS, _ = c.Float()
		case "status_code":
			status, _ := c.Int()
			call.Status = int(status)
		case "params":
			call.Params = c.Raw()
		case "json_data":
			call.Body = c.Raw()
		case "response":
			call.Response = c.Raw()
		case "response_truncated":
			call.Truncated = c.Bool()
		case "response_length":
			call.Length = d.count()
		case "result_product_ids":
			call.ProductIDs = d.productIDs()
		case "nonce_status":
			call.Nonce, _ = c.String()
		default:
			c.Skip()
		}
	})
	if isObject {
		d.parts.proxy = append(d.parts.proxy, call)
	}
}

func (d *decoder) productIDs() []string {
	ids := []string{}
	if !d.c.Array(func() {
		if id := d.c.ID(); id != "" {
			ids = append(ids, id)
		}
	}) {
		return nil
	}
	return ids
}

// milliseconds takes a moment, to the nearest whole millisecond; 0 where it is
// none.
func milliseconds(c *cursor.Cursor) int64 {
	if c.Kind() != arena.Number {
		c.Skip()
		return 0
	}
	text := string(c.Raw())
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) >= 1<<53 {
		return 0
	}
	return int64(math.Round(f))
}
