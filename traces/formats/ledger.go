package formats

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/canonical"
)

// readLedgerOf reads the log (ledger) of an episode, as any version of the episode runtime writes
// it: the finish reason, the number of events and, if the episode has no call trace, also the
// steps.
func (r *reader) readLedgerOf(episode *value) {
	ledger := episode.get("ledger")
	switch {
	case ledger.isArray(): // runtimes 1 and 2
		needsSteps := r.beginLedger()
		r.each(ledger, func(v *value) {
			r.readLedgerEntry(v, needsSteps)
		})
	case ledger.isObject():
		r.readWorldLedger(ledger, episode.object("verdict"))
	}
}

// beginLedger prepares the attempt for steps from a ledger (an episode's log) and returns true. It
// returns false if the steps are already known from a call trace. If the document has no request,
// the first user message of the ledger will be the request.
func (r *reader) beginLedger() (needsSteps bool) {
	a := r.attempt()
	if a.hasDialogue != nil && *a.hasDialogue {
		return false
	}
	a.hasDialogue = new(true)
	a.hasRequest = a.request != ""
	return true
}

// readLedgerEntry reads an entry of an episode's log (ledger), as versions 1 and 2 of the episode
// runtime write it: the finish reason or an event and, if needsSteps is set, also messages, calls
// and results.
func (r *reader) readLedgerEntry(entry *value, needsSteps bool) {
	kind := entry.string("kind")
	payload := entry.object("payload")
	v := &r.attempt().verdict
	if reason := r.textOf(payload, "outcome"); reason != "" {
		v.finishReason = reason
	}
	if strings.Contains(kind, "event") {
		v.Events++
		return
	}
	if !needsSteps {
		return
	}
	switch kind {
	case "model_action":
		call := arena.ToolCall{
			Name:      r.textOf(payload, "name"),
			Arguments: payload.get("args").raw(),
		}
		r.addStep(arena.Step{Calls: []arena.ToolCall{call}})
	case "model_message":
		r.addStep(arena.Step{Response: r.textOf(payload, "content")})
	case "observation":
		r.addResult("", entry.get("payload").raw())
	case "user_message":
		r.addCustomerMessage(payload.get("content"))
	}
}

// readWorldLedger reads the log (ledger) of an episode, as version 4 of the episode runtime writes
// it. If the verdict has a checksum of the ledger, it sets a.ledgerMismatch: whether the task, the
// environment pack or a checksum in the verdict differs from that of the ledger.
func (r *reader) readWorldLedger(ledger, verdict *value) {
	w := worldLedger{r: r, needsSteps: r.beginLedger()}
	r.each(ledger.get("episode"), func(v *value) {
		w.readRecord(v)
	})

	a := r.attempt()
	a.ProblemID = cmp.Or(a.ProblemID, w.task)
	a.Agent.Suite = cmp.Or(a.Agent.Suite, w.pack)

	ledgerSum := r.textOf(verdict, "ledger_sha256")
	gradingSum := r.textOf(verdict, "grading_sha256")
	if ledgerSum == "" {
		return
	}
	a.ledgerMismatch = verdict.id("task_id") != w.task ||
		verdict.id("pack_id") != w.pack ||
		!hasDigest(ledger.get("episode"), ledgerSum) ||
		gradingSum != "" && !hasDigest(ledger.get("grading"), gradingSum)
}

// hasDigest reports whether the canonical form of the JSON value v has this SHA-256.
func hasDigest(v *value, sha256 string) bool {
	sum, err := canonical.Digest(v.json.Raw)
	return err == nil && sum == sha256
}

// worldLedger reads the records of an episode's log (its ledger) in the form that version 4 of the
// episode runtime writes.
type worldLedger struct {
	r *reader
	// needsSteps is set if the document has no other list of the attempt's steps, so that they are
	// read from the log of the episode. task and pack are the ids of the task and of the
	// environment pack.
	needsSteps bool
	task, pack string
	// replies are the messages of the simulated shopper since the last observation.
	replies []string
}

func (w *worldLedger) readRecord(record *value) {
	a := w.r.attempt()
	w.task = cmp.Or(record.id("task_id"), w.task)
	w.pack = cmp.Or(record.id("pack_id"), w.pack)
	a.Session = cmp.Or(record.id("episode_nonce"), a.Session)
	switch kind := record.string("kind"); kind {
	case "event":
		a.verdict.Events++
	case "finish":
		a.verdict.finishReason = w.r.textOf(record, "reason")
	default:
		if w.needsSteps {
			w.readMessage(kind, record)
		}
	}
}

func (w *worldLedger) readMessage(kind string, record *value) {
	observation := record.get("observation")
	switch kind {
	case "start": // the observation before the first action
		text := observation.raw().Text()
		if text != "" && observation.isPresent() {
			w.r.addText(userRole, text)
		}
	case "action":
		call := arena.ToolCall{
			ID:        record.id("step"),
			Name:      w.r.textOf(record, "tool"),
			Arguments: record.get("args").raw(),
		}
		w.r.addStep(arena.Step{Calls: []arena.ToolCall{call}})
	case "reply":
		w.replies = append(w.replies, w.r.textOf(record, "text"))
	case "observation":
		w.r.addResult(record.id("step"), observation.raw())
		w.addReplies(observation)
	}
}

// addReplies adds the simulated shopper's messages since the last observation as user messages, and
// empties w.replies. It leaves out a message whose text is part of this observation too, since the
// model would see it twice.
func (w *worldLedger) addReplies(observation *value) {
	for _, text := range w.replies {
		if text != "" && !containsText(observation.json, text) {
			w.r.addText(userRole, text)
		}
	}
	w.replies = nil
}

// containsText reports whether any string within a JSON value contains text.
func containsText(value gjson.Result, text string) bool {
	if !value.IsObject() && !value.IsArray() {
		return strings.Contains(value.Str, text)
	}
	contains := false
	value.ForEach(func(_, child gjson.Result) bool {
		contains = containsText(child, text)
		return !contains
	})
	return contains
}
