package finish

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/domain"
)

// WithSource prepares an attempt whose row gets the system prompt and the tools of its trace to be
// made a training row. It sets facts.Harness to them, and facts.Metadata to what is known of the
// source and of a verifier's decision. It returns rec or, if a verifier scored the attempt, a copy in
// which user messages are merged into tool results. If attempts are taken as they were recorded, it
// returns rec.
func WithSource(rec *arena.Record, facts *rows.Facts, d *domain.Domain, isRecorded bool) *arena.Record {
	r := rec.Trace.Ruling
	if r == nil || r.Declared || isRecorded {
		facts.Harness, facts.Metadata = sourceFacts(rec, d)
		return rec
	}
	out := *rec
	out.Dialogue.Turns = mergeUserTurns(rec.Dialogue.Turns)
	facts.Harness, facts.Metadata = sourceFacts(&out, d)
	maps.Copy(facts.Metadata, map[string]any{
		"contract":      rec.Trace.Source.Shape,
		"pack":          rec.Trace.Agent.Suite,
		"category":      r.Category,
		"ending":        r.Ending,
		"checks_passed": r.Passed,
		"checks_failed": r.Failed,
		"flags":         r.Flags,
	})
	return &out
}

// mergeUserTurns moves each user message that directly follows a call with a result into that
// result, where the original session had it. A training row cannot have a user message in this
// position, because no chat template does.
func mergeUserTurns(turns []arena.Turn) []arena.Turn {
	out := make([]arena.Turn, 0, len(turns))
	for _, t := range turns {
		merged := t.User != "" && len(out) > 0 && addToResult(&out[len(out)-1], t.User)
		if !merged {
			out = append(out, t)
		}
	}
	return out
}

// addToResult replaces the result of a turn's last call by a JSON object with the result and a
// user's message. It returns false and changes nothing if the turn has no call, if the last call
// has no result, or if the result is invalid JSON.
func addToResult(t *arena.Turn, message string) bool {
	n := len(t.Calls) - 1
	if n < 0 || t.Calls[n].Result.Kind() == arena.Absent {
		return false
	}
	result, err := chat.Marshal(map[string]any{
		"observation":  json.RawMessage(t.Calls[n].Result),
		"user_message": message,
	})
	if err != nil {
		return false
	}
	t.Calls = slices.Clone(t.Calls)
	t.Calls[n].Result = arena.Raw(result)
	return true
}

// sourceFacts returns what the row of an attempt of the domain d has of the attempt's source: the
// system prompt and the tools, and the metadata.
func sourceFacts(rec *arena.Record, d *domain.Domain) (arena.Harness, map[string]any) {
	t := rec.Trace
	harness, derived := chat.SourceHarness(t, &rec.Dialogue)
	metadata := map[string]any{
		"shape":           t.Source.Shape,
		"declared_reward": t.Declared,
		"derived_tools":   derived,
		"domain":          d.Name,
		keyLost:           losses(t, &rec.Dialogue),
	}
	return harness, metadata
}
