package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

// listener answers with replies in turn, and stores its requests.
type listener struct {
	replies  []string
	finish   string
	requests []gjson.Result
}

func (s *listener) Chat(_ context.Context, request model.Body) (model.Reply, []byte, error) {
	s.requests = append(s.requests, gjson.ParseBytes(slices.Concat(request...)))
	content, _ := json.Marshal(s.replies[min(len(s.requests), len(s.replies))-1])
	body := fmt.Appendf(nil, `{"choices":[{"finish_reason":%q,"message":{"content":%s}}],"usage":{"prompt_tokens":90,"completion_tokens":10}}`, s.finish, content)
	reply, err := model.ReadTurn(body)
	return reply, body, err
}

func played(t *testing.T, e Environment, asker *listener) *Result {
	t.Helper()
	template := model.NewTemplate("m", "system", model.Sampling{}, nil)
	names, _ := shop.ToolNames("7-tool")
	e.Template = template
	e.Dialect = dialect.Oro
	e.MaxSteps = 5
	e.ToolNames = names
	e.Request = "{}"
	e.Has = func(string) bool { return true }
	task := Task{Problem: &arena.Problem{Query: "a lamp", Category: "Product"}, ID: "p", RunID: "r"}
	r, err := e.Play(t.Context(), task, asker, func(Turn) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const ending = `<think>Done.</think><tool_call>[{"name": "terminate", "parameters": {"status": "failure"}}]</tool_call>`

// TestReplyWithoutACallContinues checks that a rollout continues after a reply without a call, as in
// the public loops, and after a truncated one. The third empty reply in a row ends the rollout.
func TestReplyWithoutACallContinues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		replies []string
		finish  string
		noCall  NoCall
		stop    Stop
		turns   int
	}{
		{[]string{"Hm.", "Let me see.", ending}, "stop", Continue, StopTerminated, 3},
		{[]string{"Hm.", ending}, "stop", End, StopNoToolCall, 1},
		{[]string{"Hm, cut", ending}, "length", Continue, StopTerminated, 2},
		{[]string{"Hm, cut", ending}, "length", End, StopTruncated, 1},
		{[]string{"Hm."}, "stop", Continue, StopMaxSteps, 5},
		{[]string{"", "", "Hm.", ""}, "stop", Continue, StopMaxSteps, 5},
		{[]string{""}, "stop", Continue, StopNoToolCall, 3},
	} {
		asker := &listener{replies: c.replies, finish: c.finish}
		if r := played(t, Environment{NoCall: c.noCall}, asker); r.Stop != c.stop || r.Turns != c.turns {
			t.Errorf("%q %s: stop %s after %d turns, want %s after %d", c.replies, c.noCall, r.Stop, r.Turns, c.stop, c.turns)
		}
		if len(asker.requests) > 1 && asker.requests[1].Get("messages.3.content").String() != reminder {
			t.Errorf("%s", asker.requests[1])
		}
	}
}

// TestHistoryIsOneMessage checks that each request of that form has the system message and one
// more, with the text of the public loops.
func TestHistoryIsOneMessage(t *testing.T) {
	t.Parallel()
	asker := &listener{replies: []string{"<think>Hm.</think>", `<think>Off.</think><tool_call>[{"name": "buy", "parameters": {"q": "lamp"}}]</tool_call><response>Soon.</response>`, ending}, finish: "stop"}
	played(t, Environment{NoCall: Continue, Form: History}, asker)
	last := asker.requests[2].Get("messages")
	want := "# Dialogue Records History\n<user>a lamp</user>\n\n<think>Hm.</think>\n\n<think>Off.</think>\n\n" +
		`<tool_call>[{"name": "buy", "parameters": {"q": "lamp"}}]</tool_call>` + "\n\n" + `<obs>[{"tool_call_id": "`
	if text := last.Get("1.content").String(); last.Get("#").Int() != 2 || !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "</obs>\n\n<response>Soon.</response>") {
		t.Errorf("%s", text)
	}
}

// TestAReplyCutByTheContext holds that a reply cut at the context's length is an overflow, although
// the server reports the finish reason length.
func TestAReplyCutByTheContext(t *testing.T) {
	t.Parallel()
	for context, want := range map[int64]Stop{100: StopOverflow, 101: StopMaxSteps, 0: StopMaxSteps} {
		r := played(t, Environment{NoCall: Continue, Context: context}, &listener{replies: []string{"Hm, cut"}, finish: "length"})
		if r.Stop != want || want == StopOverflow && *r.Label != LabelOverflow {
			t.Errorf("context %d: %s, %v", context, r.Stop, r.Label)
		}
	}
}
