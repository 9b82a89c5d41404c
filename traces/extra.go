package traces

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// extra takes what a document's extra fields say for which ATIF has no field:
// extra.oro as the subnet writes it, extra.arena as package convert does.
func (doc *atifDoc) extra() {
	t, d := doc.t, doc.d
	own := cursor.Fields{
		"eval_run_id":             cursor.AsID(&t.RunID),
		"problem_id":              cursor.AsID(&t.ProblemID),
		"task_id":                 cursor.AsID(&doc.taskID),
		"agent_version_id":        cursor.AsID(&t.Agent.VersionID),
		"miner_hotkey":            cursor.AsID(&t.Agent.Hotkey),
		"suite_version":           cursor.AsID(&t.Agent.Suite),
		"started_at":              cursor.AsID(&t.Agent.StartedAt),
		"reward":                  func() { t.Declared = d.reward() },
		"execution_time":          func() { d.seconds(&t.Seconds) },
		"inference_total":         func() { t.InferenceTotal = d.count() },
		"inference_failure_count": func() { t.InferenceFailures = d.count() },
		"status":                  &doc.status,
		"error":                   func() { t.Error = d.attemptError() },
		"query": func() {
			query, _ := d.c.String()
			doc.query = &query
		},
		"dialogue": func() { doc.noDialogue = d.c.Raw().Kind() == arena.Null },
		"vetoes":   func() { doc.vetoes = append(doc.vetoes, d.words()...) },
	}
	d.c.Fields(cursor.Fields{"oro": own, "arena": own})
}

// applyExtra gives the trace what the extra fields say against the steps.
func (doc *atifDoc) applyExtra() {
	t := doc.t
	t.ProblemID = cmp.Or(t.ProblemID, doc.taskID)
	if doc.query != nil {
		t.Query = *doc.query
	}
	switch s := arena.Status(doc.status); s {
	case arena.StatusSuccess, arena.StatusFailed, arena.StatusTimedOut:
		t.Status, t.HasDialogue = s, !doc.noDialogue
	}
	for _, word := range doc.vetoes {
		if !slices.Contains(vetoes, word) {
			word = vetoForeign
		}
		addVeto(t, word)
	}
}

// vetoForeign stands for a word that a file brings and no reader here gives.
const vetoForeign = "foreign_veto" // the file says that the attempt is not to be trained on, in a word of its own

// vetoes are the words that a reader may give a trace: no file makes up another.
var vetoes = []string{vetoNonText, vetoUnmatched, vetoRole, vetoOpenTurn, vetoCopied, vetoEnvironment, vetoVerifier, vetoWorld,
	vetoDefect, vetoLeakage, vetoExploit, vetoLedger, vetoContent, repairUTF8, repairSurrogate, repairNUL}

// stepExtra is extra.arena of a step: what this package's writer could not say
// in ATIF's own fields.
type stepExtra struct {
	number                              int
	think, response, content, reasoning *string
	timestamp                           arena.Raw
	arguments                           []keptArguments
	json, noID                          []int
}

func (d *decoder) stepExtra(x *stepExtra) {
	d.c.Fields(cursor.Fields{"arena": cursor.Fields{
		"number":    func() { x.number = d.count() },
		"think":     d.optional(&x.think),
		"response":  d.optional(&x.response),
		"content":   d.optional(&x.content),
		"reasoning": d.optional(&x.reasoning),
		"timestamp": &x.timestamp,
		"arguments": func() {
			x.arguments = nil
			d.c.Array(func() { x.arguments = append(x.arguments, d.keptArguments()) })
		},
		"json_results":     func() { x.json = d.indexes() },
		"calls_without_id": func() { x.noID = d.indexes() },
	}})
}

// keptArguments are arguments that are no object, with the index of their call.
type keptArguments struct {
	call  int
	value arena.Raw
}

func (d *decoder) keptArguments() keptArguments {
	k := keptArguments{call: -1}
	d.c.Fields(cursor.Fields{"call": func() { k.call = d.count() }, "value": &k.value})
	return k
}

// optional takes a string into to, or nil for anything else.
func (d *decoder) optional(to **string) func() {
	return func() {
		*to = nil
		if s, ok := d.c.String(); ok {
			*to = &s
		}
	}
}

func (d *decoder) indexes() (all []int) {
	d.c.Array(func() { all = append(all, d.count()) })
	return all
}

// apply restores a step that this package wrote. results are in the order of
// the calls they answer.
func (x *stepExtra) apply(s *arena.Step, results []result) {
	s.Number = x.number
	for _, field := range []struct {
		to   *string
		from *string
	}{{&s.Think, x.think}, {&s.Response, x.response}, {&s.Content, x.content}, {&s.Reasoning, x.reasoning}} {
		if field.from != nil {
			*field.to = *field.from
		}
	}
	if x.timestamp != "" {
		s.Timestamp = x.timestamp
	}
	for _, kept := range x.arguments {
		if i := kept.call; i >= 0 && i < len(s.Calls) {
			s.Calls[i].Arguments = kept.value
		}
	}
	for _, i := range x.json {
		if i >= 0 && i < len(results) {
			results[i].value = unquote(results[i].value)
		}
	}
}

// forgetIDs takes away the ids that the writer had to make up, once results
// have found their calls by them.
func (x *stepExtra) forgetIDs(calls []arena.ToolCall) {
	for _, i := range x.noID {
		if i >= 0 && i < len(calls) {
			calls[i].ID = ""
		}
	}
}

// unquote is the JSON that a string holds, or raw itself where it holds none.
func unquote(raw arena.Raw) arena.Raw {
	if text := raw.Text(); raw.Kind() == arena.String && json.Valid([]byte(text)) {
		return arena.Raw(text)
	}
	return raw
}
