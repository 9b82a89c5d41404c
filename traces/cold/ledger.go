package cold

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/canonical"
)

// ledger takes the ledger of an episode: without a trace of its calls all that it tells,
// else how it finished and the changes of the world.
func (r *reader) ledger(e object) {
	switch {
	case e["ledger"].IsArray(): // runtimes 1 and 2
		told := r.told()
		r.each(e["ledger"], func(v gjson.Result) { r.entry(fields(v), told) })
	case e["ledger"].IsObject():
		r.worldLedger(fields(e["ledger"]), e.within("verdict"))
	}
}

// told reports whether the steps are there before the ledger is read. If not, they
// are the ledger's, and the request may be.
func (r *reader) told() bool {
	a := r.attempt()
	if a.dialogue != nil && *a.dialogue {
		return true
	}
	a.dialogue, a.asked = new(true), a.request != ""
	return false
}

func (r *reader) entry(entry object, told bool) {
	kind, payload, v := entry["kind"].Str, entry.within("payload"), &r.attempt().verdict
	if reason := r.text(payload["outcome"]); reason != "" {
		v.Reason = reason
	}
	switch {
	case strings.Contains(kind, "event"):
		v.Events++
	case told:
	case kind == "model_action":
		call := arena.ToolCall{Name: r.text(payload["name"]), Arguments: arena.Raw(payload["args"].Raw)}
		r.say(message{role: Agent, step: arena.Step{Calls: []arena.ToolCall{call}}})
	case kind == "model_message":
		r.say(message{role: Agent, step: arena.Step{Response: r.text(payload["content"])}})
	case kind == "observation":
		r.answer("", arena.Raw(entry["payload"].Raw))
	case kind == "user_message":
		r.shopper(payload["content"])
	}
}

// worldLedger reads the ledger of a world pack, of runtime 4, and holds it against the
// verdict.
func (r *reader) worldLedger(ledger, verdict object) {
	w := worldLedger{reader: r, told: r.told()}
	r.each(ledger["episode"], func(v gjson.Result) { w.record(fields(v)) })
	a := r.attempt()
	a.ProblemID, a.Agent.Suite = cmp.Or(a.ProblemID, w.task), cmp.Or(a.Agent.Suite, w.pack)
	sums := [2]string{r.text(verdict["ledger_sha256"]), r.text(verdict["grading_sha256"])}
	if sums[0] == "" {
		return
	}
	same := verdict.id("task_id") == w.task && verdict.id("pack_id") == w.pack && canonicalIs(ledger["episode"], sums[0])
	a.forged = !same || sums[1] != "" && !canonicalIs(ledger["grading"], sums[1])
}

func canonicalIs(v gjson.Result, sha256 string) bool {
	got, err := canonical.Digest(v.Raw)
	return err == nil && got == sha256
}

// worldLedger is a ledger of a world pack while it is read.
type worldLedger struct {
	*reader
	// told is set if the steps are there already.
	told       bool
	task, pack string
	// heard is what the shopper said since the last call.
	heard []string
}

func (w *worldLedger) record(record object) {
	a, seen := w.attempt(), record["observation"]
	w.task, w.pack = cmp.Or(record.id("task_id"), w.task), cmp.Or(record.id("pack_id"), w.pack)
	a.Session = cmp.Or(record.id("episode_nonce"), a.Session)
	switch kind := record["kind"].Str; {
	case kind == "event":
		a.verdict.Events++
	case kind == "finish":
		a.verdict.Reason = w.text(record["reason"])
	case w.told:
	case kind == "start": // what the agent saw before it acted
		if said := arena.Raw(seen.Raw).Text(); said != "" && seen.Type != gjson.Null {
			w.tell(User, said)
		}
	case kind == "action":
		call := arena.ToolCall{ID: record.id("step"), Name: w.text(record["tool"]), Arguments: arena.Raw(record["args"].Raw)}
		w.say(message{role: Agent, step: arena.Step{Calls: []arena.ToolCall{call}}})
	case kind == "reply":
		w.heard = append(w.heard, w.text(record["text"]))
	case kind == "observation":
		w.answer(record.id("step"), arena.Raw(seen.Raw))
		for _, text := range w.heard {
			if text != "" && !holds(seen, text) {
				w.tell(User, text)
			}
		}
		w.heard = nil
	}
}

// holds reports whether a text stands in a value: what the answer tells of the
// shopper's words is not told again.
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
