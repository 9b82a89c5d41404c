package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

func isEpisode(schema string) bool { return schema == "oro.environment_episode.v1" }

// episodeText is an episode of an environment pack while it is read, in any of
// its three shapes.
type episodeText struct {
	d *decoder
	conversation
	verdict verdict
	ledger  arena.Raw
	session string
	// told is set if the steps are there before the ledger is read, heard is what the
	// shopper said since the last call.
	told  bool
	heard []string
	// logged is set if the proxy's inference calls came along.
	logged bool
}

func (d *decoder) episodeText(shape arena.Shape) *episodeText {
	d.parts.proxy = d.parts.proxy[:0]
	d.c.Reset(d.c.Source())
	return &episodeText{d: d, conversation: conversation{t: newTrace(arena.Source{Shape: shape}), asked: true}}
}

// episode reads one oro.environment_episode.v1: the calls of its call_trace
// with what the environment answered, and who wrote them from the transcript. The
// simulated shopper's own prompts hold the answer and are never read; nor is the
// verdict's explanation.
func (d *decoder) episode() (found, error) {
	e := d.episodeText("episode")
	d.c.Fields(cursor.Fields{
		"episode": e.fields(),
		"inference_transcript": cursor.Fields{"calls": func() {
			d.parts.proxy = d.parts.proxy[:0]
			e.logged = d.c.Array(d.proxyCall)
		}},
	})
	return e.found()
}

func (e *episodeText) fields() cursor.Fields {
	c, t := e.d.c, e.t
	fields := cursor.Fields{
		"evaluation_run_id": cursor.AsID(&t.RunID),
		"agent_version_id":  cursor.AsID(&t.Agent.VersionID),
		"task_id":           cursor.AsID(&t.ProblemID),
		"pack_sha256":       cursor.AsID(&t.Agent.Suite),
		"family":            &t.Family,
		"session_id":        cursor.AsID(&e.session),
		"wall_seconds":      func() { e.d.seconds(&t.Seconds) },
		"bootstrap": cursor.Fields{"policy_view": cursor.Fields{
			"query": &t.Query,
			"tools": func() { t.Tools = e.d.tools() },
		}},
		"call_trace": func() {
			e.restart()
			t.HasDialogue = c.Array(e.turn)
		},
		"ledger":  &e.ledger,
		"verdict": func() { e.verdict.read(e.d) },
	}
	e.verdict.session(e.d, fields)
	return fields
}

// found ends the reading: the ledger fills in what the trace of calls lacks, the
// verdict becomes the ruling, the transcript tells who wrote the calls.
func (e *episodeText) found() (found, error) {
	if err := e.d.c.End(); err != nil {
		return found{}, err
	}
	if err := e.readLedger(); err != nil {
		return found{}, err
	}
	e.verdict.rule(e.t)
	if e.logged {
		e.attribute(append([]arena.ProxyCall(nil), e.d.parts.proxy...))
	}
	return found{trace: e.t, session: e.session}, nil
}

// turn takes one turn: its calls, their answers, and what the shopper said
// after it.
func (e *episodeText) turn() {
	d, step := e.d, arena.Step{}
	var said string
	var results []result
	c := d.c
	c.Fields(cursor.Fields{
		"request": cursor.Fields{
			"turn":  func() { step.Number = d.count() },
			"calls": func() { c.Array(func() { step.Calls = append(step.Calls, d.turnCall()) }) },
		},
		"response": cursor.Fields{
			"user_message": func() { said = d.shopperText() },
			"calls":        func() { c.Array(func() { results = append(results, d.result("call_id", "observation")) }) },
		},
	})
	e.agent(step)
	for _, r := range results {
		e.result(r.callID, "", r.value)
	}
	if said != "" {
		e.user(said)
	}
}

func (d *decoder) turnCall() (call arena.ToolCall) {
	d.c.Fields(cursor.Fields{
		"call_id": cursor.AsID(&call.ID),
		"action":  cursor.Fields{"name": &call.Name, "args": &call.Arguments},
	})
	return call
}

// shopperText takes a message of the shopper: its text, or an object around it.
func (d *decoder) shopperText() (said string) {
	if d.c.Kind() == arena.Object {
		d.c.Fields(cursor.Fields{"content": &said})
		return said
	}
	said, _ = d.c.String()
	return said
}

// result takes an answer and the id of its call by their names.
func (d *decoder) result(id, value string) (r result) {
	d.c.Fields(cursor.Fields{id: cursor.AsID(&r.callID), value: &r.value})
	return r
}

// attribute files the inferences under the turns and the turns' calls after them:
// the session saw each call, so it is a dispatch. Calls have no time, so a turn gets
// the inferences up to the next that names one of its tools, and what that one says.
func (e *episodeText) attribute(asked []arena.ProxyCall) {
	e.t.Source.HasProxyLog, e.t.InferenceTotal = true, len(asked)
	last := 0
	for i := range e.t.Steps {
		s := &e.t.Steps[i]
		if s.Role != arena.RoleAgent {
			continue
		}
		if n := naming(asked, s.Calls); n > 0 {
			s.Proxy, asked = asked[:n:n], asked[n:]
			quoteReply(s)
		}
		for _, call := range s.Calls {
			s.Proxy = append(s.Proxy, arena.ProxyCall{Method: "POST", Path: "/" + call.Name, Status: 200, Body: call.Arguments, Response: call.Result, Length: -1})
		}
		last = i
	}
	if len(e.t.Steps) > 0 {
		e.t.Steps[last].Proxy = append(e.t.Steps[last].Proxy, asked...)
	}
}

// naming is how many inferences there are up to the first that names one of the
// calls; 0 where none does.
func naming(asked []arena.ProxyCall, calls []arena.ToolCall) int {
	for i := range asked {
		for j := range calls {
			if calls[j].Name != "" && strings.Contains(string(asked[i].Response), calls[j].Name) {
				return i + 1
			}
		}
	}
	return 0
}

// quoteReply gives a turn what the last inference filed under it said.
func quoteReply(s *arena.Step) {
	body := s.Proxy[len(s.Proxy)-1].Response.Text()
	said := gjson.Get(body, "choices.0.message")
	s.Content = said.Get("content").Str
	s.Reasoning = cmp.Or(said.Get("reasoning_content").Str, said.Get("reasoning").Str)
}
