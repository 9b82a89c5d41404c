package gates_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// envelope is the sandbox's line, as far as the judge reads it.
type envelope struct {
	ProblemID string `json:"problem_id"`
	Dialogue  []struct {
		Completion struct {
			Reasoning string `json:"reasoning_content"`
			Content   string
			Message   struct {
				Think    string
				Response string
				ToolCall []struct {
					Name       string
					Parameters json.RawMessage
					Result     json.RawMessage
				} `json:"tool_call"`
			}
		}
		Extra struct {
			Step  int
			Query string
			Proxy []struct {
				Kind      string
				Path      string
				Status    *int `json:"status_code"`
				Response  json.RawMessage
				Truncated bool `json:"response_truncated"`
			} `json:"proxy_calls"`
		} `json:"extra_info"`
	}
}

// attempt builds the border types from a sandbox line without the packages
// that do so in a run, which this one may not know.
func attempt(t testing.TB, line []byte) (*arena.Trace, *arena.Dialogue) {
	t.Helper()
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatal(err)
	}
	trace := &arena.Trace{ProblemID: e.ProblemID, HasDialogue: true, Source: arena.Source{HasProxyLog: true}}
	var d arena.Dialogue
	for i := range e.Dialogue {
		s := &e.Dialogue[i]
		if i == 0 {
			trace.Query = s.Extra.Query
		}
		step := arena.Step{Number: s.Extra.Step, Content: s.Completion.Content}
		for _, p := range s.Extra.Proxy {
			call := arena.ProxyCall{Attempt: p.Kind == "attempt", Path: p.Path, Truncated: p.Truncated}
			if p.Status != nil {
				call.Status = *p.Status
			}
			if string(p.Response) != "null" {
				call.Response = arena.Raw(p.Response)
			}
			step.Proxy = append(step.Proxy, call)
		}
		trace.Steps = append(trace.Steps, step)
		turn := arena.Turn{Step: i, Think: s.Completion.Message.Think, Text: s.Completion.Message.Response}
		if turn.Think == "" {
			turn.Think = thinkOf(s.Completion.Content)
		}
		if turn.Think == "" {
			turn.Think = s.Completion.Reasoning
		}
		for _, c := range s.Completion.Message.ToolCall {
			turn.Calls = append(turn.Calls, arena.Call{Name: c.Name, Arguments: arena.Raw(c.Parameters), Result: arena.Raw(c.Result)})
		}
		d.Turns = append(d.Turns, turn)
	}
	return trace, &d
}

func thinkOf(content string) string {
	_, suffix, _ := strings.Cut(content, "<think>")
	think, _, _ := strings.Cut(suffix, "</think>")
	return strings.TrimSpace(think)
}

// lines reads a JSONL file, which is decompressed if its name ends in .gz.
func lines(t testing.TB, path string) [][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		scan = bufio.NewScanner(z)
	}
	scan.Buffer(nil, 64<<20)
	var texts [][]byte
	for scan.Scan() {
		if len(scan.Bytes()) > 0 {
			texts = append(texts, append([]byte(nil), scan.Bytes()...))
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}
