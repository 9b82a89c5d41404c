package student

import (
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/student/rollout"
)

// public is a text without secrets; JSON stays JSON. Numbers that it names as ids of
// goods stay. All of a run folder passes it but the journals, from which a run is played
// on: they hold what came as it came.
func public[T string | []byte](text T) T { return T(publicBeside(redact.IDs{}, string(text))) }

// publicBeside is public where the numbers in ids, which texts before it named, stay too.
// Those that it names join them.
func publicBeside(ids redact.IDs, text string) string {
	ids.Add(text)
	return redact.New(redact.Options{}).Sparing(ids).Text(text, redact.Counts{})
}

// withoutSecrets is a rollout as all may see it, its trace as runID's.
func withoutSecrets(r *rollout.Result, runID string) (*rollout.Result, error) {
	head, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	ids, written := redact.IDs{}, string(r.Line)
	line := publicBeside(ids, written)
	shown := publicBeside(ids, string(head))
	if line == written && shown == string(head) {
		return r, nil
	}
	out := &rollout.Result{Line: []byte(line)}
	if err = json.Unmarshal([]byte(shown), out); err != nil {
		return nil, fmt.Errorf("read result without secrets: %w", err)
	}
	out.SetScore(out.Score)
	if arena.Raw(line).Kind() != arena.Object { // made up so that no redactor comes to an end
		out.Line = fmt.Appendf(nil, `{"problem_id":%q,"dialogue":null}`, out.ProblemID)
	}
	return out, out.ReadTrace(runID)
}

// publicProblem is a line of problems without secrets, of a problem that a run
// calls id.
func publicProblem(p *arena.Problem, id string) ([]byte, error) {
	text := public([]byte(p.Raw))
	if p.ID == id {
		return text, nil
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(text, &fields)
	if err == nil {
		fields["problem_id"], err = json.Marshal(id)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}
