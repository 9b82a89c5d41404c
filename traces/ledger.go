package traces

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// ruledLedger reads a ledger with the verdict on it, or a ledger alone, as the
// runtimes give them out. What neither holds may stand beside them under the
// names that an episode has: query, tools, family, agent_version_id.
func (d *decoder) ruledLedger() (found, error) {
	e := d.episodeText("ledger")
	fields := e.fields()
	delete(fields, "call_trace")
	fields["query"], fields["tools"] = &e.t.Query, func() { e.t.Tools = d.tools() }
	fields["ledger_format"] = func() { d.c.Skip(); e.ledger = arena.Raw(d.c.Source()) }
	d.c.Fields(fields)
	return e.found()
}

// readLedger takes the ledger: of an episode without a trace of its calls all that
// it tells, of any other how it finished and the changes of the world; and holds it
// against the verdict.
func (e *episodeText) readLedger() error {
	outer := e.d
	e.d = outer.within(string(e.ledger))
	e.told, e.asked = e.t.HasDialogue, e.t.Query != ""
	switch e.ledger.Kind() {
	case arena.Array: // runtimes 1 and 2
		e.t.HasDialogue = true
		e.d.c.Array(e.entry)
	case arena.Object:
		e.t.HasDialogue = true
		e.worldLedger()
	default:
		e.d = outer
		return nil
	}
	inner := e.d
	e.d = outer
	return outer.leave(inner)
}

// worldLedger reads the ledger of a world pack, of runtime 4.
func (e *episodeText) worldLedger() {
	d := e.d
	var episode, grading arena.Raw
	var task, pack string
	d.c.Fields(cursor.Fields{
		"episode": func() {
			start := d.c.Mark()
			d.c.Array(func() { e.record(&task, &pack) })
			episode = d.c.Since(start)
		},
		"grading": &grading,
	})
	e.t.ProblemID = cmp.Or(e.t.ProblemID, task)
	e.t.Agent.Suite = cmp.Or(e.t.Agent.Suite, pack)
	v := &e.verdict
	if !v.given || v.ledgerSHA256 == "" {
		return
	}
	same := v.task == task && v.pack == pack && canonicalIs(episode, v.ledgerSHA256)
	if !same || v.gradingSHA256 != "" && !canonicalIs(grading, v.gradingSHA256) {
		addVeto(e.t, vetoLedger)
	}
}

func canonicalIs(text arena.Raw, sha256 string) bool {
	got, err := canonical.Digest(string(text))
	return err == nil && got == sha256
}

// record takes one record of a world ledger.
func (e *episodeText) record(task, pack *string) {
	d := e.d
	var kind, text, reason string
	var seen arena.Raw
	call := arena.ToolCall{}
	d.c.Fields(cursor.Fields{
		"kind": &kind, "text": &text, "reason": &reason, "observation": &seen,
		"task_id": cursor.AsID(task), "pack_id": cursor.AsID(pack), "episode_nonce": cursor.AsID(&e.session),
		"step": cursor.AsID(&call.ID), "tool": &call.Name, "args": &call.Arguments,
	})
	switch {
	case kind == "event":
		e.verdict.Events++
	case kind == "finish":
		e.verdict.reason = reason
	case e.told:
	case kind == "start": // what the agent saw before it acted
		if said := seen.Text(); said != "" && seen.Kind() != arena.Null {
			e.user(said)
		}
	case kind == "action":
		e.agent(arena.Step{Calls: []arena.ToolCall{call}})
	case kind == "reply":
		e.heard = append(e.heard, text)
	case kind == "observation":
		e.answer(call.ID, seen)
	}
}

// answer gives the open call its result, and then what the shopper said meanwhile, as
// far as the result does not hold it.
func (e *episodeText) answer(id string, seen arena.Raw) {
	e.result(id, "", seen)
	for _, text := range e.heard {
		if text != "" && !holds(gjson.Parse(string(seen)), text) {
			e.user(text)
		}
	}
	e.heard = nil
}

// holds reports whether a text stands in a value.
func holds(value gjson.Result, text string) (found bool) {
	if !value.IsObject() && !value.IsArray() {
		return strings.Contains(value.Str, text)
	}
	value.ForEach(func(_, within gjson.Result) bool {
		found = holds(within, text)
		return !found
	})
	return found
}

// entry takes one entry of a ledger of runtimes 1 and 2.
func (e *episodeText) entry() {
	d := e.d
	var kind, said string
	var payload arena.Raw
	call := arena.ToolCall{}
	d.c.Fields(cursor.Fields{"kind": &kind, "payload": func() {
		mark := d.c.Mark()
		d.c.Fields(cursor.Fields{"name": &call.Name, "args": &call.Arguments, "content": &said, "outcome": &e.verdict.reason})
		payload = d.c.Since(mark)
	}})
	switch {
	case strings.Contains(kind, "event"):
		e.verdict.Events++
	case e.told:
	case kind == "model_action":
		e.agent(arena.Step{Calls: []arena.ToolCall{call}})
	case kind == "model_message":
		e.agent(arena.Step{Response: said})
	case kind == "observation":
		e.result("", "", payload)
	case kind == "user_message" && said != "":
		e.user(said)
	}
}
