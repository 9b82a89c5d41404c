package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"math"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// ParseTrace reads an envelope that Play wrote, and no others: package traces
// reads what anybody may have written.
func ParseTrace(runID string, line []byte) *arena.Trace {
	sum := sha256.Sum256(line)
	doc := gjson.ParseBytes(line)
	t := &arena.Trace{
		RunID: runID, ProblemID: doc.Get("problem_id").String(), Status: arena.Status(doc.Get("status").String()),
		Source: arena.Source{Shape: arena.ShapeEnvelope}, Seconds: math.NaN(), RecordSHA256: hex.EncodeToString(sum[:]), Bytes: len(line),
		InferenceTotal: int(doc.Get("inference_total").Int()), InferenceFailures: int(doc.Get("inference_failure_count").Int()),
		HasDialogue: doc.Get("dialogue").IsArray(),
	}
	t.ID = runID + "/" + t.ProblemID
	if e := doc.Get("error"); e.IsObject() {
		t.Error = &arena.AttemptError{Type: e.Get("type").String(), Message: e.Get("message").String()}
	}
	for _, s := range doc.Get("dialogue").Array() {
		t.Query = s.Get("extra_info.query").String()
		t.Steps = append(t.Steps, parseStep(s))
	}
	return t
}

func parseStep(v gjson.Result) arena.Step {
	message, info := v.Get("completion.message"), v.Get("extra_info")
	s := arena.Step{
		Number: int(info.Get("step").Int()), Think: message.Get("think").String(), Response: message.Get("response").String(),
		Content: v.Get("completion.content").String(), Timestamp: arena.Raw(info.Get("timestamp").Raw), LLMCalls: -1, Raw: arena.Raw(v.Raw), Typed: true,
	}
	for _, c := range message.Get("tool_call").Array() {
		s.Calls = append(s.Calls, arena.ToolCall{
			ID: c.Get("tool_call_id").String(), Name: c.Get("name").String(),
			Arguments: arena.Raw(c.Get("parameters").Raw), Result: arena.Raw(c.Get("result").Raw),
		})
	}
	for _, c := range info.Get("proxy_calls").Array() {
		s.Proxy = append(s.Proxy, arena.ProxyCall{
			Method: c.Get("method").String(), Path: c.Get("path").String(), AtMS: c.Get("timestamp").Int(), Status: int(c.Get("status_code").Int()),
			Params: arena.Raw(c.Get("params").Raw), Body: arena.Raw(c.Get("json_data").Raw), Response: arena.Raw(c.Get("response").Raw), Length: -1,
		})
	}
	return s
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
