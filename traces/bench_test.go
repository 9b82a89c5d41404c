package traces

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces/formats"
)

// benchLines are the generated day where it is at hand, else made lines of
// the same kind and size.
func benchLines(b *testing.B) (lines [][]byte, size int64) {
	b.Helper()
	if longtest.SharedFolder() != "" {
		lines = sharedLines(b, "day")
	} else {
		lines = madeLines(200)
	}
	for _, l := range lines {
		size += int64(len(l))
	}
	return lines, size
}

// madeLines are envelopes of about 25 KB with results like a catalogue's.
func madeLines(n int) (lines [][]byte) {
	for i := range n {
		var products []string
		for p := range 40 {
			products = append(products, fmt.Sprintf(
				`{"product_id": "%d", "shop_id": "%d", "title": "Kettle of %d litres, steel \u2014 \"quiet\"", "price": %d.5, "service": ["official", "COD"], "sold_count": %d}`,
				7000000+i*100+p, 300+p, p, 10*p, p*i))
		}
		result := "[" + strings.Join(products, ", ") + "]"
		line := strings.ReplaceAll(sampleEnvelope, "\n", "")
		line = strings.Replace(line, `[{"product_id": "77", "price": 12.5}]`, result, 1)
		lines = append(lines, []byte(strings.Replace(line, `{"choices": [{"message": {"content": "look"}}]}`, result, 1)))
	}
	return lines
}

// typedEnvelope is the type that a user of encoding/json would declare.
type typedEnvelope struct {
	ProblemID string  `json:"problem_id"`
	Status    string  `json:"status"`
	Seconds   float64 `json:"execution_time"`
	Dialogue  []struct {
		Completion struct {
			Reasoning string `json:"reasoning_content"`
			Content   string `json:"content"`
			Message   struct {
				Think    string `json:"think"`
				Response string `json:"response"`
				ToolCall []struct {
					Name       string          `json:"name"`
					Parameters json.RawMessage `json:"parameters"`
					ID         string          `json:"tool_call_id"`
					Result     json.RawMessage `json:"result"`
				} `json:"tool_call"`
			} `json:"message"`
		} `json:"completion"`
		Extra struct {
			Step      int             `json:"step"`
			Query     string          `json:"query"`
			Timestamp json.RawMessage `json:"timestamp"`
			Proxy     []struct {
				Kind     string          `json:"kind"`
				Method   string          `json:"method"`
				Path     string          `json:"path"`
				At       int64           `json:"timestamp"`
				Duration float64         `json:"duration_ms"`
				Status   *int            `json:"status_code"`
				Params   json.RawMessage `json:"params"`
				Body     json.RawMessage `json:"json_data"`
				Response json.RawMessage `json:"response"`
			} `json:"proxy_calls"`
		} `json:"extra_info"`
	} `json:"dialogue"`
}

// BenchmarkEnvelope decodes a day's lines, every field typed, against what
// else there is.
func BenchmarkEnvelope(b *testing.B) {
	lines, size := benchLines(b)
	bench := func(name string, decode func(line []byte) bool) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					if !decode(line) {
						b.Fatal("not decoded")
					}
				}
			}
		})
	}
	d := newDecoder(DefaultLimits())
	bench("ours", func(line []byte) bool { _, err := d.record(line); return err == nil })
	bench("encoding/json", func(line []byte) bool { var e typedEnvelope; return json.Unmarshal(line, &e) == nil })
	bench("gjson", gjsonEnvelope)
	bench("gjson-valid", gjson.ValidBytes)
	bench("json-valid", json.Valid)
}

// gjsonEnvelope takes the same fields with gjson, checked first: it reads
// anything as something.
func gjsonEnvelope(line []byte) bool {
	if !gjson.ValidBytes(line) {
		return false
	}
	t := new(formats.NewTrace(sandboxLine))
	e := gjson.ParseBytes(line)
	t.ProblemID = e.Get("problem_id").String()
	t.Seconds = e.Get("execution_time").Float()
	e.Get("dialogue").ForEach(func(_, step gjson.Result) bool {
		c := step.Get("completion")
		info := step.Get("extra_info")
		s := arena.Step{
			Content: c.Get("content").String(), Reasoning: c.Get("reasoning_content").String(), Think: c.Get("message.think").String(),
			Number: int(info.Get("step").Int()), Timestamp: arena.Raw(info.Get("timestamp").Raw), Raw: arena.Raw(step.Raw),
		}
		c.Get("message.tool_call").ForEach(func(_, call gjson.Result) bool {
			s.Calls = append(s.Calls, arena.ToolCall{
				Name: call.Get("name").String(), ID: call.Get("tool_call_id").String(),
				Arguments: arena.Raw(call.Get("parameters").Raw), Result: arena.Raw(call.Get("result").Raw),
			})
			return true
		})
		info.Get("proxy_calls").ForEach(func(_, p gjson.Result) bool {
			s.Proxy = append(s.Proxy, arena.ProxyCall{
				Method: p.Get("method").String(), Path: p.Get("path").String(), AtMS: p.Get("timestamp").Int(),
				DurationMS: p.Get("duration_ms").Float(), Status: int(p.Get("status_code").Int()), Params: arena.Raw(p.Get("params").Raw),
				Body: arena.Raw(p.Get("json_data").Raw), Response: arena.Raw(p.Get("response").Raw),
			})
			return true
		})
		t.Steps = append(t.Steps, s)
		return true
	})
	return len(t.Steps) >= 0
}

// BenchmarkRead measures all steps of reading a file: inflate, frame, decode, hash.
func BenchmarkRead(b *testing.B) {
	lines, size := benchLines(b)
	text := bytes.Join(lines, []byte{'\n'})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	for name, stored := range map[string][]byte{"plain": text, "gzip": packed.Bytes()} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			write(b, dir+"/a.jsonl", string(stored))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				input := Input{Path: dir + "/a.jsonl"}
				sum, err := Read(b.Context(), input, Defaults(), func(Item) error { return nil })
				if err != nil || sum.Traces != len(lines) {
					b.Fatal(sum, err)
				}
			}
		})
	}
}
