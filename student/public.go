package student

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/student/rollout"
)

// redactor takes out what nobody is to see. All of a run folder passes it but the
// journals, from which a run is played on: they hold what came as it came.
var redactor = sync.OnceValues(func() (*redact.Redactor, error) { return redact.New(redact.Options{}) })

// public is a text without secrets; JSON stays JSON. Numbers that it names as ids of
// goods stay.
func public[T string | []byte](text T) (T, error) {
	shown, err := publicBeside(redact.IDs{}, string(text))
	return T(shown), err
}

// publicBeside is public where the numbers in ids, which texts before it named, stay too.
// Those that it names join them.
func publicBeside(ids redact.IDs, text string) (string, error) {
	r, err := redactor()
	if err != nil {
		return "", err
	}
	ids.Add(text)
	return r.Sparing(ids).Text(text, redact.Counts{}), nil
}

// withoutSecrets is a rollout as all may see it, its trace as runID's.
func withoutSecrets(r *rollout.Result, runID string) (*rollout.Result, error) {
	head, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	ids, written := redact.IDs{}, string(r.Line)
	line, err := publicBeside(ids, written)
	if err != nil {
		return nil, err
	}
	shown, err := publicBeside(ids, string(head))
	if err != nil || line == written && shown == string(head) {
		return r, err
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
	text, err := public([]byte(p.Raw))
	if err != nil || p.ID == id {
		return text, err
	}
	var fields map[string]json.RawMessage
	if err = json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	fields["problem_id"], err = json.Marshal(id)
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}
