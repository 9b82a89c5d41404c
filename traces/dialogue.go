package traces

import (
	"cmp"
	"math"
	"strconv"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// parts collects the steps and calls of one dialogue. Its slices are reused for the next dialogue,
// so that a trace needs one allocation for each slice and not one for each step.
type parts struct {
	steps []arena.Step
	calls []arena.ToolCall
	proxy []arena.ProxyCall
	// offsets has for each step the index of its first call in calls and in proxy.
	offsets   []offsets
	problemID string
}

type offsets struct{ calls, proxy int }

// readDialogue reads the list of steps in a record of the sandbox, in which the subnet runs agents,
// into t. If the value is not a list, t has no dialogue, as in the subnet's reader; a value other
// than null is then recorded as a repair, which keeps the attempt out of corpora.
func (d *decoder) readDialogue(t *arena.Trace) {
	d.parts.reset()
	t.Query = ""
	if kind := d.c.Kind(); kind != arena.Array && kind != arena.Null {
		d.repairs = append(d.repairs, repairDialogue)
	}
	t.HasDialogue = d.c.Array(func() {
		d.step(t)
	})
	t.Steps = d.parts.copySteps()
}

func (p *parts) reset() {
	p.steps = p.steps[:0]
	p.calls = p.calls[:0]
	p.proxy = p.proxy[:0]
	p.offsets = p.offsets[:0]
	p.problemID = ""
}

// copySteps returns copies of the collected steps with their tool and proxy calls, so that the
// slices of p can be reused for the next dialogue. It returns nil if there are no steps.
func (p *parts) copySteps() []arena.Step {
	if len(p.steps) == 0 {
		return nil
	}
	steps := append([]arena.Step(nil), p.steps...)
	calls := append([]arena.ToolCall(nil), p.calls...)
	proxy := append([]arena.ProxyCall(nil), p.proxy...)
	for i := range steps {
		end := offsets{len(calls), len(proxy)}
		if i+1 < len(steps) {
			end = p.offsets[i+1]
		}
		start := p.offsets[i]
		steps[i].Calls = calls[start.calls:end.calls:end.calls]
		steps[i].Proxy = proxy[start.proxy:end.proxy:end.proxy]
	}
	return steps
}

// step reads one step of a dialogue and adds it to the collected steps. If t has no query yet, it
// gets that of the step. A field whose value has another type than the sandbox writes stays empty;
// Raw has the complete step.
func (d *decoder) step(t *arena.Trace) {
	c := d.c
	start := offsets{len(d.parts.calls), len(d.parts.proxy)}
	s := arena.Step{}
	extra := extraInfo{}
	mark := c.Mark()
	d.members("dialogue", func(key string) {
		switch key {
		case "completion":
			d.parts.calls = d.parts.calls[:start.calls]
			d.completion(&s)
		case "extra_info":
			d.parts.proxy = d.parts.proxy[:start.proxy]
			extra = d.extraInfo()
		default:
			d.skip("dialogue", key)
		}
	})
	s.Raw = c.Since(mark)
	s.Number = extra.number
	s.Timestamp = extra.timestamp
	if s.Number < 1 {
		s.Number = len(d.parts.steps) + 1
	}
	t.Query = cmp.Or(t.Query, extra.query)
	d.parts.problemID = cmp.Or(d.parts.problemID, extra.problemID)
	d.parts.steps = append(d.parts.steps, s)
	d.parts.offsets = append(d.parts.offsets, start)
}

func (d *decoder) completion(s *arena.Step) {
	c := d.c
	*s = arena.Step{}
	start := len(d.parts.calls)
	d.members("dialogue.completion", func(key string) {
		switch key {
		case "reasoning_content":
			s.Reasoning, _ = c.String()
		case "content":
			s.Content, _ = c.String()
		case "message":
			d.parts.calls = d.parts.calls[:start]
			d.message(s)
		default:
			d.skip("dialogue.completion", key)
		}
	})
}

func (d *decoder) message(s *arena.Step) {
	c := d.c
	s.Think = ""
	s.Response = ""
	s.Typed = true
	start := len(d.parts.calls)
	isObject := d.members("dialogue.completion.message", func(key string) {
		ok := false
		switch key {
		case "think":
			s.Think, ok = c.String()
		case "response":
			s.Response, ok = c.String()
		case "tool_call":
			d.parts.calls = d.parts.calls[:start]
			ok = c.Array(func() {
				s.Typed = d.toolCall() && s.Typed
			})
		default:
			d.skip("dialogue.completion.message", key)
		}
		s.Typed = s.Typed && ok
	})
	s.Typed = s.Typed && isObject
}

// toolCall reads one tool call and adds it to the collected calls. It skips an element that is not
// an object. typed reports whether the call has exactly the keys and types that the sandbox writes.
func (d *decoder) toolCall() (typed bool) {
	c := d.c
	var call arena.ToolCall
	hasName := false
	isUnusual := false
	isObject := d.members("dialogue.completion.message.tool_call", func(key string) {
		switch key {
		case "name":
			call.Name, hasName = c.String()
		case "parameters":
			call.Arguments = c.Raw()
		case "tool_call_id":
			isUnusual = isUnusual || c.Kind() != arena.String
			call.ID = c.ID()
		case "result":
			call.Result = c.Raw()
		default:
			isUnusual = true
			d.skip("dialogue.completion.message.tool_call", key)
		}
	})
	if isObject {
		d.parts.calls = append(d.parts.calls, call)
	}
	return isObject && hasName && !isUnusual && call.Arguments.Kind() == arena.Object
}

// extraInfo has the fields of a step under the key extra_info, without its proxy calls.
type extraInfo struct {
	number    int
	query     string
	problemID string
	timestamp arena.Raw
}

// extraInfo reads the value of a step's key extra_info and adds the proxy calls in it to the
// collected ones.
func (d *decoder) extraInfo() extraInfo {
	c := d.c
	var e extraInfo
	start := len(d.parts.proxy)
	d.members("dialogue.extra_info", func(key string) {
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
			d.parts.proxy = d.parts.proxy[:start]
			c.Array(d.proxyCall)
		default:
			d.skip("dialogue.extra_info", key)
		}
	})
	return e
}

// proxyCall reads one HTTP call in the log of the proxy between agent and servers, and adds it to
// the collected calls. It skips an element that is not an object.
func (d *decoder) proxyCall() {
	c := d.c
	call := arena.ProxyCall{Length: -1}
	isObject := d.members(d.logPath, func(key string) {
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
			call.ItemIDs = d.itemIDs()
		case "nonce_status":
			call.Nonce, _ = c.String()
		default:
			d.skip(d.logPath, key)
		}
	})
	if isObject {
		d.parts.proxy = append(d.parts.proxy, call)
	}
}

// itemIDs reads a list of ids and skips elements that are neither strings nor numbers.
// It returns nil if the value is not a list.
func (d *decoder) itemIDs() []string {
	ids := []string{}
	isArray := d.c.Array(func() {
		if id := d.c.ID(); id != "" {
			ids = append(ids, id)
		}
	})
	if !isArray {
		return nil
	}
	return ids
}

// milliseconds reads a JSON number of milliseconds and rounds it to an integer. It returns 0 for a
// value of another type and for a number out of range.
func milliseconds(c *cursor.Cursor) int64 {
	if c.Kind() != arena.Number {
		c.SkipMistyped()
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
