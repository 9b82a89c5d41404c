package foreign

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// harnessSource is the harness profile of rows whose system prompt and tools
// are those that the trace itself records.
const harnessSource = "source"

// sourceHarness is what the agent of a trace was given. Its SHA256 stays empty:
// system prompts may differ from trace to trace, and schemas are kept by hash.
// Tools that were called and that the source does not declare are declared from
// their calls, and named: without a definition no template renders them.
func sourceHarness(t *arena.Trace, d *arena.Dialogue) (h arena.Harness, derived []string) {
	h = arena.Harness{Name: harnessSource, System: t.System, Tools: definitions(t.Tools)}
	known := chat.ParseSchema(h.Tools)
	seen := map[string]map[string]json.RawMessage{}
	for _, turn := range d.Turns {
		for _, call := range turn.Calls {
			if _, declared := known[call.Name]; !declared {
				observe(seen, call)
			}
		}
	}
	derived = slices.Sorted(maps.Keys(seen))
	for _, name := range derived {
		h.Tools = append(h.Tools, observed(name, seen[name]))
	}
	return h, derived
}

// observe notes the arguments of a call to a tool. Any type may stand in them:
// a few calls do not tell which may not.
func observe(seen map[string]map[string]json.RawMessage, call arena.Call) {
	if seen[call.Name] == nil {
		seen[call.Name] = map[string]json.RawMessage{}
	}
	gjson.Parse(string(call.Arguments)).ForEach(func(key, _ gjson.Result) bool {
		seen[call.Name][key.Str] = json.RawMessage("{}")
		return true
	})
}

// observed is the definition of a tool of which calls alone are known.
func observed(name string, arguments map[string]json.RawMessage) arena.Raw {
	text, err := chat.Marshal(map[string]any{"type": "function", "function": map[string]any{
		"name": name, "parameters": map[string]any{"type": "object", "properties": arguments}}})
	if err != nil { // strings and empty objects always encode
		return ""
	}
	return arena.Raw(text)
}

// definitions are the items of a list of tools, each in OpenAI's nested form.
func definitions(list arena.Raw) []arena.Raw {
	var out []arena.Raw
	gjson.Parse(string(list)).ForEach(func(_, def gjson.Result) bool {
		out = append(out, compact(nested(def)))
		return true
	})
	return out
}

// nested puts a flat definition under "function", where templates look.
func nested(def gjson.Result) string {
	if !def.IsObject() || def.Get("function").Exists() || !def.Get("name").Exists() {
		return def.Raw
	}
	var members []string
	def.ForEach(func(key, value gjson.Result) bool {
		if key.Str != "type" {
			members = append(members, key.Raw+":"+value.Raw)
		}
		return true
	})
	return `{"type":"function","function":{` + strings.Join(members, ",") + `}}`
}

// compact is JSON without space between its values, as writers of JSON put it
// when it passes through them.
func compact(text string) arena.Raw {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return arena.Raw(text)
	}
	return arena.Raw(b.String())
}

// requestCluster names all requests that say the same but for case, width and
// white space.
func requestCluster(query string) string {
	folded := cases.Fold().String(norm.NFKC.String(query))
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(folded), " ")))
	return hex.EncodeToString(sum[:])
}

// What of a trace its row does not hold. docs/profiles.md says what each means.
const (
	lostSystemStep = "system_step"
	lostEnding     = "ending"
	lostTurnEnd    = "turn_end"
)

// losses names what of a trace a row cannot hold, although it is one.
func losses(t *arena.Trace, d *arena.Dialogue) []string {
	lost := []string{}
	if slices.ContainsFunc(t.Steps, func(s arena.Step) bool { return s.Role == arena.RoleSystem }) {
		lost = append(lost, lostSystemStep)
	}
	turns := d.Turns
	for len(turns) > 0 && turns[len(turns)-1].User != "" {
		turns = turns[:len(turns)-1]
	}
	answered := func(c arena.Call) bool { return c.Result.Kind() != arena.Absent }
	if len(turns) < len(d.Turns) || len(turns) > 0 && slices.ContainsFunc(turns[len(turns)-1].Calls, answered) {
		lost = append(lost, lostEnding)
	}
	before := arena.Turn{User: t.Query}
	for _, turn := range turns {
		if (turn.User == "") == (before.User == "") && len(before.Calls) == 0 {
			return append(lost, lostTurnEnd)
		}
		before = turn
	}
	return lost
}

// foreign makes the row of a trace as it is: in its own harness, ungraded. Its
// fate says why it can be none, and lost what the row lacks of the trace.
func (m *Import) foreign(t *arena.Trace, protect *finish.Protection) (row rows.SFT, lost []string, f choose.Fate, err error) {
	if len(t.Vetoes) > 0 {
		return row, nil, choose.Fate{Stage: stageRead, Reason: t.Vetoes[0]}, nil
	}
	rec := arena.Record{Trace: t, Dialogue: filters.Normalise(t)}
	if len(rec.Dialogue.Faults) > 0 {
		return row, nil, choose.Fate{Stage: stageRead, Reason: rec.Dialogue.Faults[0]}, nil
	}
	lost = losses(t, &rec.Dialogue)
	row, err = rows.NewSFT(&rec, m.facts(&rec, lost))
	var unfit *chat.Unfit
	if errors.As(err, &unfit) {
		return row, nil, choose.Fate{Stage: stageRow, Reason: unfit.Reason}, nil
	}
	if err != nil {
		return row, nil, f, err
	}
	said, err := finish.CandidateOfSFT(&row)
	if err != nil {
		return row, nil, f, err
	}
	if protect.Check(corpus.SplitTrain, said).Drop {
		return row, nil, choose.Fate{Stage: stageGuard, Reason: reasonHeldOut}, nil
	}
	if t.Declared != nil {
		row.Reward = *t.Declared
	}
	return row, lost, choose.Fate{Split: corpus.SplitTrain}, nil
}

func (m *Import) facts(rec *arena.Record, lost []string) *rows.Facts {
	t := rec.Trace
	cluster := requestCluster(t.Query)
	harness, derived := sourceHarness(t, &rec.Dialogue)
	f := &rows.Facts{
		Harness: harness, Split: corpus.SplitTrain, PipelineVersion: m.Version, Counter: rows.Bytes4{},
		Origin:   rows.Origin{ProblemID: cmp.Or(t.ProblemID, cluster[:16]), Cluster: cluster},
		Metadata: map[string]any{"shape": t.Source.Shape, "declared_reward": t.Declared, "derived_tools": derived, "lost": lost},
	}
	if m.Redact != nil {
		f.Secret = func(id string) bool { return len(m.Redact.Scan(id)) > 0 }
	}
	return f
}
