package traces

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// The schemas of trajectory documents that are read.
const (
	atifPrefix    = "ATIF-v"
	atifNewest    = "ATIF-v1.7"
	episodeSchema = "oro.environment_episode.v1"
)

// knownATIF tells whether a schema version is one of ATIF 1.0 to 1.7.
func knownATIF(schema string) bool {
	minor, ok := strings.CutPrefix(schema, atifPrefix+"1.")
	return ok && len(minor) == 1 && minor <= "7" && minor >= "0"
}

// atifDoc is what a document says beside its steps.
type atifDoc struct {
	conversation
	d             *decoder
	session       string
	name, version string
	root          extra
	steps         arena.Kind
}

// atif reads one trajectory document.
func (d *decoder) atif() (found, error) {
	doc := atifDoc{conversation: conversation{t: newTrace(arena.ShapeATIF)}, d: d}
	c := d.c
	c.Reset(c.Source())
	c.Object(func(key string) {
		switch key {
		case "session_id":
			doc.session, _ = c.ID()
		case "agent":
			doc.agentInfo()
		case "steps":
			doc.steps = c.Kind()
			doc.restart()
			doc.asked, doc.t.Query = false, ""
			c.Array(doc.readStep)
		case "final_metrics":
			doc.finalMetrics()
		case "extra":
			d.extras(&doc.root)
		default:
			c.Skip()
		}
	})
	if err := c.End(); err != nil {
		return found{}, err
	}
	if doc.steps != arena.Array {
		return found{}, wrongType("steps", "an array", doc.steps)
	}
	doc.root.apply(doc.t)
	if own := doc.root.status != ""; !own && doc.t.Agent.VersionID == "" {
		doc.t.Agent.VersionID = doc.agentName()
	}
	return found{trace: doc.t, session: doc.session}, nil
}

func (doc *atifDoc) agentInfo() {
	c := doc.d.c
	c.Object(func(key string) {
		switch key {
		case "name":
			doc.name, _ = c.String()
		case "version":
			doc.version, _ = c.ID()
		case "model_name":
			doc.t.Model, _ = c.String()
		case "tool_definitions":
			doc.t.Tools = doc.d.tools()
		default:
			c.Skip()
		}
	})
}

// agentName is name@version, without what is missing or said to be unknown.
func (doc *atifDoc) agentName() string {
	const unknown = "unknown"
	if doc.name == unknown {
		return ""
	}
	if doc.name == "" || doc.version == "" || doc.version == unknown {
		return doc.name
	}
	return doc.name + "@" + doc.version
}

func (doc *atifDoc) finalMetrics() {
	c := doc.d.c
	c.Object(func(key string) {
		if key == "extra" {
			doc.d.extras(&doc.root)
			return
		}
		c.Skip()
	})
}

// atifStep is one step before it is known whose it is.
type atifStep struct {
	step    arena.Step
	source  string
	text    string
	nonText bool
	results []result
	copied  bool
	own     stepExtra
}

func (doc *atifDoc) readStep() {
	s := atifStep{step: arena.Step{LLMCalls: -1}}
	c := doc.d.c
	c.Object(func(key string) {
		switch key {
		case "source":
			s.source, _ = c.String()
		case "timestamp":
			s.step.Timestamp = moment(c.Raw())
		case "message":
			s.text, s.nonText = doc.d.content()
		case "reasoning_content":
			s.step.Reasoning, _ = c.String()
		case "model_name":
			model, _ := c.String()
			doc.t.Model = cmp.Or(doc.t.Model, model)
		case "tool_calls":
			c.Array(func() { s.step.Calls = doc.d.atifCall(s.step.Calls) })
		case "observation":
			s.results, s.nonText = doc.d.observation(s.nonText)
		case "is_copied_context":
			s.copied = c.Kind() == arena.Bool && c.Bool()
		case "llm_call_count":
			s.step.LLMCalls = doc.d.count()
		case "extra":
			doc.d.stepExtra(&s.own)
		default:
			c.Skip()
		}
	})
	doc.add(&s)
}

// add gives a step to who took it.
func (doc *atifDoc) add(s *atifStep) {
	if s.nonText {
		addVeto(doc.t, vetoNonText)
	}
	if s.source != "agent" {
		s.tellResults()
	} else if s.copied {
		addVeto(doc.t, vetoCopied)
	}
	switch s.source {
	case "agent":
		s.step.Content = s.text
		s.own.apply(&s.step, s.results)
		doc.agent(s.step)
	case "user":
		doc.user(s.text)
	case "system":
		doc.system(s.text)
	default:
		addVeto(doc.t, vetoRole)
		doc.step(arena.Step{Role: arena.RoleSystem, Content: s.text})
	}
	for _, r := range s.results {
		doc.result(r.callID, "", r.value)
	}
	if s.source == "agent" {
		s.own.forgetIDs(doc.t.Steps[len(doc.t.Steps)-1].Calls)
	}
}

// tellResults makes words of what a step observed that has no call to answer.
func (s *atifStep) tellResults() {
	told := []string{s.text}
	for _, r := range s.results {
		told = append(told, resultText(r.value))
	}
	s.text, s.results = strings.TrimPrefix(strings.Join(told, "\n"), "\n"), nil
}

func (d *decoder) atifCall(calls []arena.ToolCall) []arena.ToolCall {
	c := d.c
	var call arena.ToolCall
	isObject := c.Object(func(key string) {
		switch key {
		case "tool_call_id":
			call.ID, _ = c.ID()
		case "function_name":
			call.Name, _ = c.String()
		case "arguments":
			call.Arguments = c.Raw()
		default:
			c.Skip()
		}
	})
	if !isObject {
		return calls
	}
	return append(calls, call)
}

// observation takes a step's results. Those without content are none.
func (d *decoder) observation(nonText bool) ([]result, bool) {
	c := d.c
	var all []result
	readOne := func() {
		var r result
		c.Object(func(key string) {
			switch key {
			case "source_call_id":
				r.callID, _ = c.ID()
			case "content":
				r.value = partsText(c.Raw())
			default:
				c.Skip()
			}
		})
		if r.value.Kind() == arena.Array {
			nonText = nonText || strings.Contains(string(r.value), `"image"`)
		}
		if r.value.Kind() > arena.Null {
			all = append(all, r)
		}
	}
	c.Object(func(key string) {
		if key == "results" {
			c.Array(readOne)
			return
		}
		c.Skip()
	})
	return all, nonText
}

// partsText joins a list of nothing but parts of text, as a message's are.
// Any other value stays what it is.
func partsText(raw arena.Raw) arena.Raw {
	if raw.Kind() != arena.Array {
		return raw
	}
	var texts []string
	only := true
	gjson.Parse(string(raw)).ForEach(func(_, part gjson.Result) bool {
		text := part.Get("text")
		if only = part.Get("type").Str == "text" && text.Type == gjson.String; only {
			texts = append(texts, text.Str)
		}
		return only
	})
	if !only || len(texts) == 0 {
		return raw
	}
	return quote(strings.Join(texts, "\n"))
}

// moment is a time as Unix milliseconds: ATIF writes ISO 8601, with or without
// a zone. Anything else stays what it is.
func moment(raw arena.Raw) arena.Raw {
	var text string
	if raw.Kind() != arena.String || json.Unmarshal([]byte(raw), &text) != nil {
		return raw
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return arena.Raw(strconv.FormatInt(at.UnixMilli(), 10))
		}
	}
	return raw
}

// quote is text as a JSON string.
func quote(text string) arena.Raw {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("quote a string: %v", err)) // json cannot refuse a string
	}
	return arena.Raw(quoted)
}
